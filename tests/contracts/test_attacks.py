"""Every attack scores by its formula: a NumPy expression a member, also in its other forms; under jit and vmap, by terms, and aimed."""

from collections.abc import Callable
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from mipsim import attacks
from mipsim.mechanisms.expansion import Expansion
from tests.contracts.family import compiled, exported
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
RNG = np.random.default_rng(0)
N, MEAN = 10, np.array([0.5, -1.0])
COV: Any = np.array([[2.0, 0.6], [0.6, 1.0]])
FULL, INVERSE = mi.Gaussian(MEAN, COV), np.linalg.inv(COV)
COINS, ROWS = mi.Bernoulli([0.3, 0.6]), mi.EmpiricalMean()
PAIRS = [(RNG.normal(size=2), RNG.normal(size=2)) for _ in range(8)]
SHADOWS, REFERENCE = RNG.normal(size=(5, 2)), RNG.normal([0.0, 3.0], size=(20, 2))
WIDE, AIM = mi.Gaussian(0.0, 1.0, d=100), np.array([2.0, -1.0])
DIAGONAL, SCALE = mi.Gaussian([0.0, 1.0], [1.0, 2.0]), mi.Exponential([1.0, 2.0])
V, B, THETA = np.array([[-2.0, 0.3], [0.1, -1.0]]), np.array([[1.5, 0.2], [0.2, 0.7]]), np.array([0.4, -1.2])
GAMMA = np.array([0.5, 1.0])
Formula = Callable[[Any, Any], Any]
Row = tuple[mi.AbstractAttack, Formula, list[tuple[np.ndarray, np.ndarray]], float]


def p_value(target: np.ndarray, output: np.ndarray) -> float:
    square = N * np.sum((output - target) ** 2)
    return float(-stats.norm.ppf(stats.ncx2.cdf(square, 100, N * np.sum(target**2))))


def covariance(mean: np.ndarray, cov: np.ndarray, aim: np.ndarray | None = None) -> Formula:
    """With a linear solve in place of an inverse."""

    def score(target: np.ndarray, output: np.ndarray) -> float:
        away = (target if aim is None else aim) - mean
        direction = np.linalg.solve(np.diag(cov) if cov.ndim == 1 else cov, away)
        return float(direction @ (output - mean) - direction @ away / (2 * N))

    return score


def with_noise(law: mi.AbstractDistribution, aim: np.ndarray | None, gamma: Any) -> Row:
    noise = np.broadcast_to(np.square(gamma), 2)
    cov = law.covariance + (noise if law.covariance.ndim == 1 else np.diag(noise))
    attack = mi.CovarianceScore(law, N, target=aim, record_deviation=gamma)
    return attack, covariance(law.mean, cov, aim), PAIRS, 1e-9


def estimated(ridge: float) -> Row:
    moments = mi.EstimatedMoments(REFERENCE, regularisation=ridge)
    formula = covariance(REFERENCE.mean(axis=0), np.var(REFERENCE, axis=0) + ridge)
    return mi.CovarianceScore(moments, N), formula, PAIRS, 1e-9


def influence() -> Row:
    """Of psi(z) = 2 z, with the derivative V and the covariance B of psi."""

    def score(target: np.ndarray, output: np.ndarray) -> float:
        point = -np.linalg.solve(V, 2.0 * target)
        inverse = np.linalg.inv(np.linalg.solve(V, B) @ np.linalg.inv(V).T)
        return float(point @ inverse @ (output - THETA) - point @ inverse @ point / (2 * N))

    return mi.InfluenceScore(Expansion(THETA, V, B, lambda record: 2.0 * record), N), score, PAIRS, 1e-9


def ratio_of_normals(attack: mi.AbstractAttack, data: mi.Gaussian, rows: int, noise: Any = 0.0, rate: float = 1.0) -> Row:  # fmt: skip
    """Log ratio of the mean of normal rows with noise, from SciPy; a rate at which the target is among them."""
    cov = np.diag(data.covariance) if data.is_product else data.covariance
    spread = np.diag(np.broadcast_to(np.square(noise), 2))
    inside = stats.multivariate_normal(
        data.mean + (AIM - data.mean) / rows, cov * (rows - 1) / rows**2 + spread
    )
    out = stats.multivariate_normal(data.mean, cov / rows + spread)

    def ratio(_: np.ndarray, output: np.ndarray) -> float:
        joint = float(inside.logpdf(output) - out.logpdf(output))
        return joint if rate == 1.0 else float(np.logaddexp(np.log(rate) + joint, np.log(1 - rate)))

    return attack, ratio, [(AIM, np.array(o)) for o in ([0.7, 4.0], [1.5, 1.0], [1.0, 1.0])], 1e-9


def ratio_of_exponentials(_: np.ndarray, output: np.ndarray) -> float:
    total, scale, target = 5 * output, SCALE.mean, np.array([3.0, 0.5])
    return float((stats.gamma(4, target, scale).logpdf(total) - stats.gamma(5, 0, scale).logpdf(total)).sum())


# Member, formula, and (target, output) to score; rtol where the member is an approximation or the formula a grid.
MEMBERS: list[Row] = [
    (mi.CovarianceScore(FULL, N), covariance(MEAN, COV), PAIRS, 1e-9),
    *(with_noise(*row) for row in product((COINS, FULL), (None, AIM), (0.0, 0.4, [0.1, 2.0]))),
    *map(estimated, (0.0, 0.5)),
    (mi.ScalarProduct([0.1, 0.2]), lambda t, o: (t[0] - 0.1) * o[0] + (t[1] - 0.2) * o[1], PAIRS, 1e-9),
    (mi.FunctionAttack(lambda t, o: jnp.vdot(t, o**2)), lambda t, o: sum(t * o**2), PAIRS, 1e-5),
    *(
        ratio_of_normals(attack(n), data, n)
        for n in (2, 50)
        for data, attack in (
            (FULL, lambda n: mi.GaussianLikelihoodRatio(FULL, n, AIM)), (DIAGONAL, lambda n: mi.GaussianLikelihoodRatio(DIAGONAL, n)),
            (DIAGONAL, lambda n: mi.LikelihoodRatio(ROWS, DIAGONAL, n, AIM)),
        )
    ),
    # gamma / sqrt(size of the data set that the noise mechanism sees)
    ratio_of_normals(mi.LikelihoodRatio(mi.Subsampled(mi.GaussianNoise(ROWS, GAMMA), 0.4), DIAGONAL, N), DIAGONAL, 4, GAMMA / 2, 0.4),
    ratio_of_normals(mi.LikelihoodRatio(mi.GaussianNoise(mi.Subsampled(ROWS, 0.4), GAMMA), DIAGONAL, N), DIAGONAL, 4, GAMMA / N**0.5, 0.4),
    ratio_of_normals(mi.LikelihoodRatio(mi.GaussianNoise(ROWS, GAMMA), DIAGONAL, N, AIM), DIAGONAL, N, GAMMA / N**0.5),
    (mi.LikelihoodRatio(ROWS, SCALE, 5, [3.0, 0.5]), ratio_of_exponentials, [(AIM, np.array(o)) for o in ([0.7, 4.0], [1.5, 1.0], [1.0, 1.0])], 1e-9),
    (
        mi.LikelihoodRatio(ROWS, mi.Bernoulli(0.3), N),
        lambda t, o: stats.binom.logpmf(round(N * o[0] - t[0]), N - 1, 0.3) - stats.binom.logpmf(round(N * o[0]), N, 0.3),
        [(np.ones(1), np.array([k / N])) for k in range(2, N)] + [(np.zeros(1), np.array([0.4]))], 1e-9,
    ),
    (mi.GLiR(FULL, N), lambda t, o: -N * (o - t) @ INVERSE @ (o - t), PAIRS, 1e-9),
    (mi.GLiRPValue(WIDE, N), p_value, [(RNG.normal(size=100), 0.3 * RNG.normal(size=100)) for _ in range(5)], 1e-2),
    (mi.InfluenceScore(Expansion(MEAN, -np.eye(2), COV, lambda x: x - MEAN), N), covariance(MEAN, COV), PAIRS, 1e-9),
    influence(),
    (mi.Magnitude(), lambda t, o: np.linalg.norm(o - t) ** 2, PAIRS, 1e-9),
    (
        mi.OfflineLiRA(lambda release: release[0]),
        lambda t, o: (o[0, 0] - np.mean(o[1:, 0])) / np.std(o[1:, 0]),
        [(t, np.vstack([o, SHADOWS])) for t, o in PAIRS], 1e-9,
    ),
    (
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
]  # fmt: skip
every = pytest.mark.parametrize("row", MEMBERS, ids=[f"{k}-{type(row[0]).__name__}" for k, row in enumerate(MEMBERS)])  # fmt: skip


def test_every_member_has_its_formula() -> None:
    assert exported(attacks, mi.AbstractAttack) == {type(row[0]).__name__ for row in MEMBERS}


@every
def test_a_score_is_that_of_the_formula(row: Row) -> None:
    """Also under jit and vmap, traced once; a score 3% off and one of other places are seen."""
    attack, formula, pairs, rtol = row
    traces = []

    @compiled
    def together(attack: mi.AbstractAttack, targets: Any, outputs: Any) -> jax.Array:
        traces.append(1)
        return jax.vmap(attack.score)(targets, outputs)

    def scores(*moved: float) -> np.ndarray:
        step, away = moved or (0.0, 0.0)
        stacked = np.array([t + step for t, _ in pairs]), np.array([o + away * np.cos(np.arange(o.size)).reshape(o.shape) for _, o in pairs])  # fmt: skip
        return np.asarray(together(attack, *map(jnp.asarray, stacked)))

    expected = np.array([float(formula(t, o)) for t, o in pairs])
    for values, right in ((scores(), True), (1.03 * scores(), False), (scores(0.03, 0.06), False)):
        assert np.allclose(values, expected, rtol=rtol, atol=rtol) is right
    alone = attack.score(*map(jnp.asarray, pairs[0]))
    assert (alone.shape, alone.dtype, len(traces)) == ((), jnp.float64, 1)
    np.testing.assert_allclose(float(alone), scores()[0], rtol=1e-9)


@pytest.mark.parametrize("attack", [row[0] for row in MEMBERS if isinstance(row[0], mi.AbstractAdditiveAttack)] + [mi.LikelihoodRatio(mi.Subsampled(ROWS, 0.5), COINS, N)])  # fmt: skip
def test_every_additive_attack(attack: Any) -> None:
    """Its score is a strictly increasing function of a sum, term j of which sees coordinate j only."""
    d = 1 if isinstance(attack, mi.LikelihoodRatio) and attack.data.dimension == 1 else 2
    target, output = jnp.ones(d), jnp.array([0.4, 0.6])[:d]
    terms = np.asarray(attack.contributions(target, output))
    assert terms.shape == (d,)
    assert float(attack.score(target, output)) == pytest.approx(float(attack.link(target, jnp.sum(terms))))
    totals = jnp.linspace(-3.0, 3.0, 50)
    assert (np.diff(jax.vmap(lambda total: attack.link(target, total))(totals)) > 0).all()
    for j in range(d):
        moved = np.asarray(attack.contributions(target, output.at[j].set(0.3)))
        assert (np.delete(moved == terms, j)).all()


def test_any_object_with_moments_will_do() -> None:
    class Mine:
        mean = np.array([0.5, 0.5])
        covariance = np.array([0.25, 0.25])

    own, same = (mi.CovarianceScore(moments, N) for moments in (Mine(), mi.Bernoulli([0.5, 0.5])))
    assert own.score(jnp.ones(2), jnp.array([0.6, 0.3])) == same.score(jnp.ones(2), jnp.array([0.6, 0.3]))
