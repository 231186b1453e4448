"""The claims of Azize & Basu (2025), one module a theorem or a group of statements."""

from verify.azize import (
    canaries,
    defences,
    estimated_steps,
    gdp,
    lemmas,
    mean,
    misspecified,
    onion,
    optimality,
    random_target,
    reference_points,
    scalar_product,
    steps,
    z_estimators,
)
from verify.bridge import claims_in
from verify.claim import Claim

CLAIMS: tuple[Claim, ...] = claims_in(
    "azize",
    (
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
        z_estimators,
        canaries,
        steps,
        estimated_steps,
    ),
)
"""In the order of the paper, corrections last in each module."""
