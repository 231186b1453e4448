"""A single clipped noisy step on Gaussian gradients: the law of the score, against every sampled gradient."""

import numpy as np

import mipsim as mi
from sims.study import Study

_ROWS, _DIMENSION, _SEED = 1000, 5000, 20_230_612


def _step(isotropic: bool) -> tuple[mi.FixedTarget, mi.CovarianceScore]:
    """Half of the gradients are clipped; the noise multiplier is 1."""
    rng = np.random.default_rng(_SEED)
    variance = np.ones(_DIMENSION) if isotropic else rng.uniform(0.5, 1.5, _DIMENSION)
    data = mi.Gaussian(np.full(_DIMENSION, 0.02), variance)
    step = mi.SGDStep(clip=float(np.sqrt(variance.sum())), noise_multiplier=1.0)
    game = mi.FixedTarget(step, data, n=_ROWS, target=data.typical_target(_SEED))
    return game, mi.CovarianceScore(data, n=_ROWS)


CLIPPED = (
    Study(
        "clipped_step",
        "a clipped noisy step on isotropic Gaussian gradients, n = 1000, d = 5000",
        lambda: _step(isotropic=True),
        {"quick": 20_000, "standard": 200_000, "full": 2_000_000},
    ),
    Study(
        "clipped_step_rows",
        "the same on gradients of unequal variances, each of them sampled",
        lambda: _step(isotropic=False),
        {"quick": 64, "standard": 2_000, "full": 20_000},
    ),
)
"""Studies of `SGDStep`."""
