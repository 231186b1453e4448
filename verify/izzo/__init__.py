"""The claims of Izzo, Yoon, Arik & Zou (2024), each judged over its domain."""

from verify.bridge import claims_in
from verify.claim import Claim
from verify.izzo import corollary, definition, dp, example, inequalities, noise, rates, wrapper

CLAIMS: tuple[Claim, ...] = claims_in(
    "izzo", (definition, dp, rates, noise, corollary, example, inequalities, wrapper)
)
"""In the order of the paper."""
