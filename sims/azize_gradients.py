"""Literal games of Z-estimators, and of one step of gradient descent on simulated gradients."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim.attacks.influence import InfluenceScore
from mipsim.mechanisms.expansion import least_squares_expansion, logistic_expansion
from mipsim.mechanisms.z_estimator import LeastSquares, LogisticRegression
from sims.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Array

GAMES = {"quick": 20_000, "standard": 60_000, "full": 2_000_000}
STEP_GAMES = {"quick": 20_000, "standard": 200_000, "full": 2_000_000}
SEED = 20_250_904
ROWS = 150
RATE = 0.1


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


def correlated_gradients(dimension: int = 10, mean: float = 1.0) -> mi.Gaussian:
    """Gaussian gradients with unequal and correlated coordinates and a mean that is not zero."""
    rng = np.random.default_rng([SEED, 7])
    root = rng.normal(size=(dimension, dimension)) / np.sqrt(dimension) + np.diag(
        np.geomspace(0.3, 3.0, dimension)
    )
    return mi.Gaussian(np.full(dimension, mean), root @ root.T)


def _step(descent: bool, rows: int = 20) -> tuple[mi.FixedTarget, mi.FunctionAttack]:
    """theta_1 = theta_0 - eta (mean gradient); the attacker's batch gradient is +-(theta_1 - theta_0)/eta."""
    data = correlated_gradients()
    start = np.linspace(-1.0, 1.0, data.dimension)
    sign = -1.0 if descent else 1.0

    def release(_: Array, gradients: Array) -> Array:
        return jnp.asarray(start) - RATE * jnp.mean(gradients, axis=0)

    score_of = mi.CovarianceScore(data, rows)

    def score(target: Array, output: Array) -> Array:
        return score_of.score(target, sign * (output - jnp.asarray(start)) / RATE)

    direction = np.random.default_rng(SEED).normal(size=data.dimension)
    direction *= np.sqrt(rows) / np.linalg.norm(direction)  # m* = 1
    target = data.mean + np.linalg.cholesky(data.covariance) @ direction
    return mi.FixedTarget(release, data, rows, target=target), mi.FunctionAttack(score)


def _bind(build: Callable, *arguments: object) -> Callable:
    return partial(build, *arguments)


GRADIENTS = (
    Study("azize_z_logistic", "logistic regression, intercept and 2 slopes, n = 150", _logistic, GAMES),
    Study("azize_z_least_squares", "least squares, intercept and 2 slopes, n = 150", _least_squares, GAMES),
    *(
        Study(
            f"azize_alg4_{'descent' if descent else 'printed'}_covariance",
            f"one SGD step of 20 correlated Gaussian gradients, d = 10, g_batch = {'-' if descent else ''}(theta_1 - theta_0)/eta, "
            "covariance attack",
            _bind(_step, descent),
            STEP_GAMES,
        )
        for descent in (False, True)
    ),
)  # fmt: skip
"""Studies of Z-estimators and of algorithm 4."""
