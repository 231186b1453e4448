"""The claims of Kaissis et al. (2023), each judged over its domain."""

from verify.bridge import claims_in
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

CLAIMS: tuple[Claim, ...] = claims_in(
    "kaissis", (lemmas, generalised, curves, composition, many_dimensions, guarantees, audits, practice)
)
"""In the order of the paper."""
