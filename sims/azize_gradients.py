"""Literal games of Z-estimators."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

import mipsim as mi
from mipsim.attacks.influence import InfluenceScore
from mipsim.mechanisms.expansion import least_squares_expansion, logistic_expansion
from mipsim.mechanisms.z_estimator import LeastSquares, LogisticRegression
from sims.study import Study

GAMES = {"quick": 20_000, "standard": 60_000, "full": 2_000_000}
SEED = 20_250_904
ROWS = 150


@lru_cache(maxsize=2)
def population(logistic: bool) -> np.ndarray:
    """Rows (x_1, x_2, y) that play the data law: 4000 draws of a logistic or a linear model with normal inputs."""
    rng = np.random.default_rng([SEED, logistic])
    x = rng.normal(size=(4000, 2))
    line = x @ np.array([1.0, -0.5]) + 0.3
    y = rng.uniform(size=4000) < 1 / (1 + np.exp(-line)) if logistic else line + rng.normal(size=4000)
    return np.column_stack([x, y])


def _logistic() -> tuple[mi.FixedTarget, InfluenceScore]:
    rows = population(True)
    game = mi.FixedTarget(LogisticRegression(steps=6), mi.Empirical(rows), ROWS, target=[1.0, -1.5, 0.0])
    return game, InfluenceScore(logistic_expansion(rows), ROWS)


def _least_squares() -> tuple[mi.FixedTarget, InfluenceScore]:
    rows = population(False)
    game = mi.FixedTarget(LeastSquares(), mi.Empirical(rows), ROWS, target=[1.0, -1.0, -1.2])
    return game, InfluenceScore(least_squares_expansion(rows), ROWS)


GRADIENTS = (
    Study("azize_z_logistic", "logistic regression, intercept and 2 slopes, n = 150", _logistic, GAMES),
    Study("azize_z_least_squares", "least squares, intercept and 2 slopes, n = 150", _least_squares, GAMES),
)  # fmt: skip
"""Studies of Z-estimators."""
