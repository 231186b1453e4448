"""The claims of Kaissis et al. (2023), each judged over its domain."""

from verify.claim import Claim
from verify.kaissis import composition, curves, sides

CLAIMS: tuple[Claim, ...] = tuple(claim for module in (sides, curves, composition) for claim in module.CLAIMS)
"""In the order of the paper."""
