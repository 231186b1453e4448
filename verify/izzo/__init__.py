"""The statements of Izzo, Yoon, Arik & Zou (2024), each judged over its domain."""

from verify.bridge import claims_in
from verify.izzo import definition, dp, example, inequalities, noise, rates, wrapper

_MODULES = (definition, dp, rates, noise, example, inequalities, wrapper)
STATEMENTS = {one.name: one for module in _MODULES for one in module.STATEMENTS}
CLAIMS = claims_in("izzo", _MODULES)
"""In the order of the paper."""
