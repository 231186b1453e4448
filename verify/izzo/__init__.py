"""The claims of Izzo, Yoon, Arik & Zou (2024), each judged over its domain."""

from verify.claim import Claim
from verify.izzo import corollary, definition, dp, example, inequalities, noise, rates, wrapper

CLAIMS: tuple[Claim, ...] = tuple(
    claim
    for module in (definition, dp, rates, noise, corollary, example, inequalities, wrapper)
    for claim in module.CLAIMS
)
"""In the order of the paper."""
