"""The statements of Leemann, Pawelczyk & Kasneci (2023), each judged over its domain."""

from verify.leemann.statements import (
    composition,
    finite_run,
    guarantee,
    mip,
    noise,
    real_gradients,
    step,
    stochastic,
    susceptibility,
)

MODULES = (stochastic, mip, step, guarantee, susceptibility, real_gradients, composition, finite_run, noise)
"""In the order of the paper."""
