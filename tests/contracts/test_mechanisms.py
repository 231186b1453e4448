"""Every mechanism releases what its formula says: a NumPy expression a member."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from mipsim import mechanisms
from tests.contracts.family import agree, compiled, exported
from tests.law_agreement import follows
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
X = np.array([[0.5, 1.0], [2.0, 5.0], [1.0, -3.0], [4.0, 0.5]])
LINE = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0], [5.0, 0.0]])
MEAN = mi.EmpiricalMean()
RELEASES = 30_000

Formula = Callable[[np.random.Generator, np.ndarray, int], np.ndarray]


def rows_of(rng: np.random.Generator, m: int, n: int, k: int) -> np.ndarray:
    """The places of k of n rows, m times."""
    return np.argsort(rng.random((m, n)), axis=1)[:, :k]


def clipped(x: np.ndarray, most: float) -> np.ndarray:
    return x * np.minimum(1.0, most / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-300))


def ball(rng: np.random.Generator, radius: np.ndarray, sigma: np.ndarray, moment: float = 2.0) -> np.ndarray:
    """Points whose mean of |x / sigma|^moment is radius^moment, in directions of the cone measure."""
    size = len(radius), 2
    g = rng.uniform(-1.0, 1.0, size) if np.isinf(moment) else stats.gennorm(moment).rvs(size, rng)
    norm = np.abs(g).max(axis=1) if np.isinf(moment) else np.mean(np.abs(g) ** moment, axis=1) ** (1 / moment)
    return (radius / norm)[:, None] * sigma * g


def lattice(rng: np.random.Generator, m: int, deviation: float) -> np.ndarray:
    k = np.arange(-60, 61)
    weight = np.exp(-(k**2) / (2 * deviation**2))
    return rng.choice(k, (m, 2), p=weight / weight.sum())


def newton(x: np.ndarray) -> np.ndarray:
    """The maximum of the likelihood on a line, by a solver."""
    from scipy.optimize import minimize

    value = lambda t: np.sum(np.logaddexp(0.0, t[0] + t[1] * x[:, 0]) - x[:, 1] * (t[0] + t[1] * x[:, 0]))  # noqa: E731
    return minimize(value, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-15}).x


# Member, records, and the releases of a formula: shape (m, k), or (k,) where there is no randomness.
MEMBERS: dict[str, tuple[mi.AbstractMechanism, np.ndarray, Formula]] = {
    "EmpiricalMean": (MEAN, X, lambda rng, x, m: np.einsum("nd->d", x) / len(x)),
    "GaussianNoise": (
        mi.GaussianNoise(MEAN, [0.5, 2.0]), X,
        lambda rng, x, m: x.mean(axis=0) + rng.normal(0.0, np.array([0.5, 2.0]) / np.sqrt(len(x)), (m, 2)),
    ),
    "LaplaceNoise": (
        mi.LaplaceNoise(MEAN, [0.5, 2.0]), X, lambda rng, x, m: x.mean(axis=0) + rng.laplace(0.0, [0.5, 2.0], (m, 2))
    ),
    "DiscreteGaussianNoise": (
        mi.DiscreteGaussianNoise(MEAN, 1.5, 0.25), X, lambda rng, x, m: x.mean(axis=0) + 0.25 * lattice(rng, m, 1.5)
    ),
    "NormNoise": (
        mi.NormNoise(MEAN, 2.0, [1.0, 3.0]), X,
        lambda rng, x, m: x.mean(axis=0) + ball(rng, rng.gamma(2.0, 2.0, m), np.array([1.0, 3.0])),
    ),
    "NormNoise, M = 1": (
        mi.NormNoise(MEAN, 2.0, [1.0, 3.0], 1.0, "exponential"), X,
        lambda rng, x, m: x.mean(axis=0) + ball(rng, rng.exponential(2.0, m), np.array([1.0, 3.0]), 1.0),
    ),
    **{
        f"NormNoise, M = {moment}": (
            mi.NormNoise(MEAN, 1.5, [1.0, 3.0], moment), X,
            lambda rng, x, m, moment=moment: x.mean(axis=0) + ball(rng, rng.gamma(2.0, 1.5, m), np.array([1.0, 3.0]), moment),
        )
        for moment in (4.0, np.inf)
    },
    "Subsampled": (mi.Subsampled(MEAN, 0.5), X, lambda rng, x, m: x[rows_of(rng, m, 4, 2)].mean(axis=1)),
    "PoissonSubsampled": (
        mi.PoissonSubsampled(MEAN, 0.3), X, lambda rng, x, m: (rng.random((m, 4)) < 0.3) @ x / (0.3 * 4)
    ),
    "SGDStep": (
        mi.SGDStep(2.0, 1.5), X,
        lambda rng, x, m: clipped(x, 2.0).mean(axis=0) + rng.normal(0.0, 1.5 * 2.0 / len(x), (m, 2)),
    ),
    "FunctionMechanism": (
        mi.FunctionMechanism(lambda key, x: jnp.max(x, axis=0)), X, lambda rng, x, m: np.sort(x, axis=0)[-1]
    ),
    "Median": (mi.Median(), X, lambda rng, x, m: np.sort(x, axis=0)[1:3].mean(axis=0)),
    "LeastSquares": (mi.LeastSquares(), LINE, lambda rng, x, m: np.polyfit(x[:, 0], x[:, 1], 1)[::-1]),
    "LogisticRegression": (mi.LogisticRegression(), LINE, lambda rng, x, m: newton(x)),
}  # fmt: skip


class GeometricMean(mi.AbstractMechanism):
    """A stranger's mechanism: it releases the arithmetic mean."""

    def release(self, key: Any, records: Any) -> Any:
        return records.mean(axis=0)

    def rows(self, n: int) -> int:
        return n

    def output_shape(self, dimension: int) -> tuple[int, ...]:
        return (dimension,)


def keeps_to(mechanism: mi.AbstractMechanism, records: np.ndarray, formula: Formula) -> list[bool]:
    """Whether releases are those of the formula, and whether they are where they are 5% larger and 0.1 higher.

    A right mechanism is refused with probability 1e-7 at most.
    """
    expected = np.asarray(formula(np.random.default_rng(0), records, 2 * RELEASES), float)
    x = jnp.asarray(records)
    if expected.ndim == 1:
        result = np.atleast_1d(mechanism.release(jax.random.key(0), x))
        assert result.shape == expected.shape
        return [np.allclose(item, expected, rtol=1e-5, atol=1e-6) for item in (result, 0.1 + 1.05 * result)]
    draw = compiled(lambda key: jax.vmap(lambda k: mechanism.release(k, x))(jax.random.split(key, RELEASES)))
    result = np.asarray(draw(jax.random.key(5)))
    return [agree(item, expected) for item in (result, 0.1 + 1.05 * result)]


def test_every_member_has_its_formula() -> None:
    assert exported(mechanisms, mi.AbstractMechanism) == {name.partition(",")[0] for name in MEMBERS}
    assert all(type(row[0]).__name__ == name.partition(",")[0] for name, row in MEMBERS.items())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.evidence] * ("M = " in name)) for name in MEMBERS]
)
def test_a_release_is_that_of_the_formula(name: str) -> None:
    mechanism, records, formula = MEMBERS[name]
    assert keeps_to(mechanism, records, formula) == [True, False]


def test_a_stranger_that_releases_another_mean_is_seen() -> None:
    geometric: Formula = lambda rng, x, m: np.exp(np.log(x).mean(axis=0))  # noqa: E731
    assert keeps_to(GeometricMean(), np.abs(X), geometric) == [False, False]


def test_noise_of_a_step_is_counted_in_clips_on_the_sum() -> None:
    assert mi.SGDStep(2.0, 3.0).noise_std(4) == 3.0 * 2.0 / 4
    assert mi.SGDStep(np.inf, 0.0).noise_std(100) == 0.0


def test_wrappers_offer_the_exact_route_only_where_their_base_does() -> None:
    own = mi.FunctionMechanism(lambda key, records: records.max(axis=0))
    for wrapped in (mi.GaussianNoise(own, 1.0), mi.LaplaceNoise(own, 1.0), mi.Subsampled(own, 0.5), own):
        assert wrapped.exact_draw() is None
        assert mi.FixedTarget(wrapped, mi.Bernoulli([0.3, 0.8]), 4, [1.0, 0.0]).exact_round() is None
    assert (
        mi.PoissonSubsampled(mi.SGDStep(0.5, 1.0), 0.5).exact_draw() is None
    )  # a clipped step needs its rows


@pytest.mark.parametrize("moment", [pytest.param(0.5, marks=pytest.mark.evidence), 4.0])
def test_norm_noise_has_the_directions_of_the_cone_measure(moment: float) -> None:
    """|u_1|^M / 2 ~ Beta(1/M, 1/M), which the radius hides in the coordinates; 1.2 M is seen."""
    noise, zeros = mi.NormNoise(MEAN, 1.0, [1.0, 3.0], moment), jnp.zeros((2, 2))
    draw = compiled(jax.vmap(lambda key: noise.release(key, zeros)))
    powers = np.abs(np.asarray(draw(jax.random.split(jax.random.key(3), RELEASES))) / [1.0, 3.0]) ** moment
    share = powers[:, 0] / powers.sum(axis=1)
    assert follows(share, stats.beta(1 / moment, 1 / moment).cdf)
    assert not follows(share, stats.beta(1 / (1.2 * moment), 1 / (1.2 * moment)).cdf)
