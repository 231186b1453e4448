"""The claims of Kaissis et al. (2023), each judged over its domain."""

from verify.claim import Claim
from verify.kaissis import (
    audits,
    composition,
    curves,
    generalised,
    guarantees,
    lemmas,
    many_dimensions,
    practice,
)

CLAIMS: tuple[Claim, ...] = tuple(
    claim
    for module in (lemmas, generalised, curves, composition, many_dimensions, guarantees, audits, practice)
    for claim in module.CLAIMS
)
"""In the order of the paper."""
