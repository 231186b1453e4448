"""Every attack scores by its formula: a NumPy expression a member."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim import attacks
from mipsim.mechanisms.expansion import median_expansion
from tests.contracts.family import exported
from tests.scope import in_exact_scope  # noqa: F401

RNG = np.random.default_rng(0)
N, MEAN = 10, np.array([0.5, -1.0])
COV: Any = np.array([[2.0, 0.6], [0.6, 1.0]])
FULL, INVERSE = mi.Gaussian(MEAN, COV), np.linalg.inv(COV)
PAIRS = [(RNG.normal(size=2), RNG.normal(size=2)) for _ in range(8)]
SHADOWS = RNG.normal(size=(5, 2))
WIDE = mi.Gaussian(0.0, 1.0, d=100)


def normal_ratio(target: np.ndarray, output: np.ndarray) -> float:
    inside = stats.multivariate_normal(MEAN + (target - MEAN) / N, COV * (N - 1) / N**2)
    return float(inside.logpdf(output) - stats.multivariate_normal(MEAN, COV / N).logpdf(output))


def median_score(target: np.ndarray, output: np.ndarray) -> float:
    """I(z) = sign(z - m) / (2 f(m)), of variance 1 / (4 f(m)^2), at the median m = (0.5, -1) of densities 1/2 and 1/4."""
    influence = np.sign(target - MEAN) / (2.0 * np.array([0.5, 0.25]))
    precision = 4.0 * np.array([0.5, 0.25]) ** 2
    return float(np.sum(influence * precision * (output - MEAN)) - np.sum(influence**2 * precision) / (2 * N))


def p_value(target: np.ndarray, output: np.ndarray) -> float:
    square = N * np.sum((output - target) ** 2)
    return float(-stats.norm.ppf(stats.ncx2.cdf(square, 100, N * np.sum(target**2))))


def covariance(target: np.ndarray, output: np.ndarray) -> float:
    direction = np.linalg.solve(COV, target - MEAN)
    return float(direction @ (output - MEAN) - direction @ (target - MEAN) / (2 * N))


Formula = Callable[[Any, Any], Any]
# Member, formula, and (target, output) to score; rtol where the member is an approximation or the formula a grid.
MEMBERS: dict[str, tuple[mi.AbstractAttack, Formula, list[tuple[np.ndarray, np.ndarray]], float]] = {
    "CovarianceScore": (mi.CovarianceScore(FULL, N), covariance, PAIRS, 1e-9),
    "ScalarProduct": (mi.ScalarProduct([0.1, 0.2]), lambda t, o: (t[0] - 0.1) * o[0] + (t[1] - 0.2) * o[1], PAIRS, 1e-9),
    "FunctionAttack": (mi.FunctionAttack(lambda t, o: jnp.vdot(t, o**2)), lambda t, o: sum(t * o**2), PAIRS, 1e-5),
    "GaussianLikelihoodRatio": (mi.GaussianLikelihoodRatio(FULL, N), normal_ratio, PAIRS, 1e-9),
    "LikelihoodRatio": (
        mi.LikelihoodRatio(mi.EmpiricalMean(), mi.Bernoulli(0.3), N),
        lambda t, o: stats.binom.logpmf(round(N * o[0] - t[0]), N - 1, 0.3) - stats.binom.logpmf(round(N * o[0]), N, 0.3),
        [(np.ones(1), np.array([k / N])) for k in range(2, N)] + [(np.zeros(1), np.array([0.4]))], 1e-9,
    ),
    "GLiR": (mi.GLiR(FULL, N), lambda t, o: -N * (o - t) @ INVERSE @ (o - t), PAIRS, 1e-9),
    "GLiRPValue": (
        mi.GLiRPValue(WIDE, N), p_value, [(RNG.normal(size=100), 0.3 * RNG.normal(size=100)) for _ in range(5)], 1e-2
    ),
    "InfluenceScore": (
        mi.InfluenceScore(median_expansion(MEAN.tolist(), [0.5, 0.25]), N), median_score, PAIRS, 1e-9
    ),
    "Magnitude": (mi.Magnitude(), lambda t, o: np.linalg.norm(o - t) ** 2, PAIRS, 1e-9),
    "OfflineLiRA": (
        mi.OfflineLiRA(lambda release: release[0]),
        lambda t, o: (o[0, 0] - np.mean(o[1:, 0])) / np.std(o[1:, 0]),
        [(t, np.vstack([o, SHADOWS])) for t, o in PAIRS], 1e-9,
    ),
    "TrainedClassifier": (
        mi.attacks.TrainedClassifier(
            ((np.array([[1.0, -0.5], [0.3, 2.0]]), np.array([0.1, 0.2])), (np.array([[1.0], [2.0]]), np.array([0.5]))),
            np.array([0.5, -0.5]), np.array([2.0, 4.0]),
        ),
        lambda t, o: (
            np.tanh((o[0] - 0.5) / 2 + 0.3 * (o[1] + 0.5) / 4 + 0.1)
            + 2 * np.tanh(-0.5 * (o[0] - 0.5) / 2 + 2 * (o[1] + 0.5) / 4 + 0.2) + 0.5
        ),
        PAIRS, 1e-9,
    ),
}  # fmt: skip


def keeps_to(
    score: Formula, formula: Formula, pairs: list[tuple[np.ndarray, np.ndarray]], rtol: float
) -> bool:
    values = np.array([[float(score(t, o)), float(formula(t, o))] for t, o in pairs])
    return np.allclose(values[:, 0], values[:, 1], rtol=rtol, atol=rtol)


def test_every_member_has_its_formula() -> None:
    assert exported(attacks, mi.AbstractAttack) == set(MEMBERS)


@pytest.mark.parametrize("name", MEMBERS)
def test_a_score_is_that_of_the_formula(name: str) -> None:
    attack, formula, pairs, rtol = MEMBERS[name]
    score = lambda t, o: attack.score(jnp.asarray(t), jnp.asarray(o))  # noqa: E731
    assert type(attack).__name__ == name
    assert keeps_to(score, formula, pairs, rtol)
    assert not keeps_to(lambda t, o: 1.03 * score(t, o), formula, pairs, rtol)
    assert not keeps_to(
        lambda t, o: score(t + 0.03, o + 0.06 * np.cos(np.arange(o.size)).reshape(o.shape)),
        formula,
        pairs,
        rtol,
    )
