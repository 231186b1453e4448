"""The claims of Kaissis et al. (2023), each judged over its domain."""

from verify.claim import Claim
from verify.kaissis import composition, curves, generalised, guarantees, many_dimensions, practice, sides

CLAIMS: tuple[Claim, ...] = tuple(
    claim
    for module in (sides, generalised, curves, composition, many_dimensions, guarantees, practice)
    for claim in module.CLAIMS
)
"""In the order of the paper."""
