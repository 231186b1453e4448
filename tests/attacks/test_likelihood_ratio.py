"""The exact ratio against enumeration of every set of records, and against SciPy's densities; and what no target explains."""

import itertools
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from tests.enumeration import literal_sums, random_target_sums
from tests.scope import in_exact_scope  # noqa: F401

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
MEAN, P = mi.EmpiricalMean(), (0.3, 0.6)
FULL = mi.Gaussian([0.0, 1.0], [[1.0, 0.7], [0.7, 2.0]])
DIAGONAL, SCALE = mi.Gaussian([0.0, 1.0], [1.0, 2.0]), mi.Exponential([1.0, 2.0])
TARGET = np.array([2.0, -1.0])
HALF = mi.LikelihoodRatio(mi.Subsampled(MEAN, 0.5), mi.Bernoulli(P), n=4)


def score(attack: mi.AbstractAttack, target: Any, output: Any) -> float:
    return float(attack.score(jnp.asarray(target, float), jnp.asarray(output, float)))


def outcomes(name: str) -> tuple[mi.AbstractAttack, list[tuple[Any, Any, float, float]]]:
    """An attack, and (target, output, P in, P out) of every outcome."""
    plain = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3)
    if name == "random target":  # with the target of each game the same score is the ratio of this game
        laws = [random_target_sums(P, 3, member) for member in (True, False)]
        return plain, [(c[:2], np.array(c[2:]) / 3, laws[0].get(c, 0.0), out) for c, out in laws[1].items()]
    n, chosen, attack = (4, 2, HALF) if name == "sub-sample" else (3, 3, plain)
    target = tuple(map(int, name.split())) if chosen == 3 else (1, 0)
    if name == "0 1":
        attack = mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=target)
    laws = [literal_sums(P, n, point, chosen=chosen) for point in (target, None)]
    assert set(laws[0]) <= set(laws[1])
    return attack, [(target, np.array(c) / chosen, laws[0].get(c, 0.0), out) for c, out in laws[1].items()]


@pytest.mark.parametrize("name", [*(f"{a} {b}" for a, b in itertools.product((0, 1), repeat=2)), "sub-sample", "random target"])  # fmt: skip
def test_bernoulli_data_by_enumeration(name: str) -> None:
    attack, rows = outcomes(name)
    for target, output, inside, out in rows:
        expected = np.log(inside / out) if inside > 0 else -np.inf
        assert score(attack, target, output) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def test_a_sub_sample_mixes_joint_laws() -> None:
    """Mixing coordinate by coordinate is another number; an impossible output means that the target is not sampled."""
    differs = []
    for target, output, *_ in outcomes("sub-sample")[1]:
        terms = np.asarray(HALF.contributions(jnp.asarray(target, float), jnp.asarray(output)))
        differs.append(score(HALF, target, output) - float(np.log(0.5 + 0.5 * np.exp(terms)).sum()))
    assert np.abs(differs).max() > 0.1
    assert score(HALF, [1.0, 0.0], [0.0, 0.5]) == pytest.approx(np.log(0.5), rel=1e-12)


def test_an_aim_replaces_the_target_of_the_game() -> None:
    aimed, follows = (
        mi.LikelihoodRatio(MEAN, mi.Bernoulli(P), n=3, target=target) for target in ([0, 1], None)
    )
    output = [1 / 3, 2 / 3]
    assert (
        score(aimed, [1.0, 0.0], output)
        == score(follows, [0.0, 1.0], output)
        != score(follows, [1.0, 0.0], output)
    )


def of_normals(data: mi.Gaussian, rows: int, noise: Any = 0.0, rate: float = 1.0) -> Any:
    """Log ratio of the mean of normal rows with noise, from SciPy; a rate at which the target is among them."""
    cov = np.diag(data.covariance) if data.is_product else data.covariance
    spread = np.diag(np.broadcast_to(np.square(noise), 2))
    inside = stats.multivariate_normal(
        data.mean + (TARGET - data.mean) / rows, cov * (rows - 1) / rows**2 + spread
    )
    out = stats.multivariate_normal(data.mean, cov / rows + spread)

    def ratio(output: np.ndarray) -> float:
        joint = float(inside.logpdf(output) - out.logpdf(output))
        return joint if rate == 1.0 else float(np.logaddexp(np.log(rate) + joint, np.log(1 - rate)))

    return ratio


def of_exponentials(output: np.ndarray) -> float:
    total, scale, target = 5 * np.asarray(output), SCALE.mean, np.array([3.0, 0.5])
    return float((stats.gamma(4, target, scale).logpdf(total) - stats.gamma(5, 0, scale).logpdf(total)).sum())


GAMMA = np.array([0.5, 1.0])
DENSITIES: dict[str, tuple[mi.AbstractAttack, Any]] = {
    **{f"full, {n}": (mi.GaussianLikelihoodRatio(FULL, n, TARGET), of_normals(FULL, n)) for n in (2, 50)},
    **{f"diagonal, {n}": (mi.GaussianLikelihoodRatio(DIAGONAL, n, TARGET), of_normals(DIAGONAL, n)) for n in (2, 50)},
    **{f"mean, {n}": (mi.LikelihoodRatio(MEAN, DIAGONAL, n, TARGET), of_normals(DIAGONAL, n)) for n in (2, 50)},
    # gamma / sqrt(size of the data set that the noise mechanism sees)
    "sub-sample of noise": (mi.LikelihoodRatio(mi.Subsampled(mi.GaussianNoise(MEAN, GAMMA), 0.4), DIAGONAL, 10, TARGET), of_normals(DIAGONAL, 4, GAMMA / 2, 0.4)),
    "noise on sub-sample": (mi.LikelihoodRatio(mi.GaussianNoise(mi.Subsampled(MEAN, 0.4), GAMMA), DIAGONAL, 10, TARGET), of_normals(DIAGONAL, 4, GAMMA / np.sqrt(10), 0.4)),
    "noise": (mi.LikelihoodRatio(mi.GaussianNoise(MEAN, GAMMA), DIAGONAL, 10, TARGET), of_normals(DIAGONAL, 10, GAMMA / np.sqrt(10))),
    "exponential": (mi.LikelihoodRatio(MEAN, SCALE, 5, [3.0, 0.5]), of_exponentials),
}  # fmt: skip


@pytest.mark.parametrize("name", DENSITIES)
def test_data_with_densities(name: str) -> None:
    attack, expected = DENSITIES[name]
    for output in ([0.7, 4.0], [1.5, 1.0], [1.0, 1.0]):
        assert score(attack, TARGET, output) == pytest.approx(expected(output), rel=1e-10)


def sums(law: mi.AbstractDistribution, totals: Any, target: float) -> list[float]:
    """Ratios of four records of a single coordinate at totals."""
    own: Any = law.sum_ratio()
    return [float(own(jnp.array([t]), 4, jnp.array([target]), jnp.zeros(1))[0]) for t in totals]


def test_outputs_and_targets_that_cannot_be() -> None:
    """The game's target may be another than the attack's: any output must then get a score. A target outside the support gives NaN, which is an error."""
    assert score(DENSITIES["exponential"][0], [3.0, 0.5], [0.5, 1.0]) == -np.inf
    assert np.isneginf(sums(mi.Bernoulli(0.3), [-1.0], 1.0) + sums(mi.Bernoulli(0.3), [5.5], 0.0)).all()
    assert np.isneginf(sums(mi.Exponential(1.0), [-3.0, 0.0], 1.0)).all()
    for law, target in ((mi.Bernoulli(0.3), 0.5), (mi.Exponential(1.0), -1.0)):
        assert np.isnan(sums(law, [0.0, 2.0], target)).all()
        assert not law.in_support([target])
