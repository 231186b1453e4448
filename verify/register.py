"""Every claim that is judged, in the order of the papers."""

from verify.azize import (
    defences,
    gdp,
    lemmas,
    mean,
    misspecified,
    onion,
    optimality,
    random_target,
    reference_points,
    scalar_product,
)
from verify.claim import Claim

_MODULES = (
    optimality,
    mean,
    lemmas,
    random_target,
    defences,
    misspecified,
    gdp,
    scalar_product,
    reference_points,
    onion,
)
REGISTER: dict[str, Claim] = {claim.id: claim for module in _MODULES for claim in module.CLAIMS}
"""Id -> claim."""
