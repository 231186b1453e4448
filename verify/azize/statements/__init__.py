"""The statements of Azize & Basu (2025), a module for each theorem or a group of statements."""

from verify.azize.statements import (
    canaries,
    defences,
    estimated_steps,
    expansions,
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

MODULES = (
    optimality,
    mean,
    expansions,
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
)
"""In the order of the paper."""
