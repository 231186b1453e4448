"""The statements of Kaissis et al. (2023), each judged over its domain."""

from verify.kaissis.statements import (
    audits,
    composition,
    curves,
    generalised,
    guarantees,
    lemmas,
    many_dimensions,
    practice,
)

MODULES = (lemmas, generalised, curves, composition, many_dimensions, guarantees, audits, practice)
"""In the order of the paper."""
