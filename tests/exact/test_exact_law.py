"""Exact laws of scores against enumeration, closed forms, and each other."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.exact import AbstractScoreLaw, exact_law
from mipsim.exact.contours import Contour
from tests.exact.test_laws_hold import Distance
from verify.azize.laws.enumeration import mean_game, roc_vertices

stats: Any = scipy.stats
P, Z, N = np.array([0.3, 0.6]), np.array([1.0, 0.0]), 4
MEAN = mi.EmpiricalMean()


def scores(attack: mi.AbstractAttack, target: np.ndarray, outputs: np.ndarray) -> np.ndarray:
    with exact_scope():
        return np.asarray(jax.vmap(lambda o: attack.score(jnp.asarray(target), o))(outputs))


ATTACKS: dict[str, Callable[[mi.AbstractMechanism], mi.AbstractAttack]] = {
    "covariance": lambda mechanism: mi.CovarianceScore(mi.Bernoulli(P), n=mechanism.rows(N)),
    "elsewhere": lambda mechanism: mi.CovarianceScore(mi.Bernoulli(P), N, target=[0.2, 0.9]),
    "scalar product": lambda mechanism: mi.ScalarProduct([0.5, 0.4]),
    "ratio": lambda mechanism: mi.LikelihoodRatio(mechanism, mi.Bernoulli(P), N),
}


@pytest.mark.evidence
@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize(("mechanism", "batch_size"), [(MEAN, None), (mi.Subsampled(MEAN, 0.5), 2)])
@pytest.mark.parametrize("target", [(1.0, 0.0), (0.35, 0.5)])
def test_small_games_are_the_enumerated_ones(
    attack: str, mechanism: mi.AbstractMechanism, batch_size: int | None, target: tuple[float, float]
) -> None:
    if attack == "ratio" and target != (1.0, 0.0):
        pytest.skip("the ratio needs a target in the support")
    z = np.array(target)
    outputs, out, inside = mean_game(P, N, z, batch_size)
    aimed = ATTACKS[attack](mechanism)
    score = scores(aimed, z, outputs)
    game = mi.FixedTarget(mechanism, mi.Bernoulli(P), N, z)
    curve = game.exact(aimed)
    finite = np.unique(np.round(score[np.isfinite(score)], 9))
    for threshold in [*(finite[:-1] + np.diff(finite) / 2), -50.0, 50.0]:
        below = score <= threshold
        assert curve.law.cdf(threshold, inside=False) == pytest.approx(out[below].sum(), abs=1e-14)
        assert curve.law.cdf(threshold, inside=True) == pytest.approx(inside[below].sum(), abs=1e-14)
    fpr, tpr = np.minimum(roc_vertices(np.where(np.isfinite(score), score, -1e3), out, inside), 1.0)
    # At an FPR with several tests the curve takes the best; between vertices it is randomised.
    alpha = np.concatenate([np.linspace(0.001, 0.999, 37), [0.0, 1.0]])
    jumps = np.concatenate([np.diff(fpr) > 1e-14, [True]])
    np.testing.assert_allclose(curve.beta(alpha), 1 - np.interp(alpha, fpr[jumps], tpr[jumps]), atol=1e-12)
    np.testing.assert_allclose(curve.tpr_at(alpha), np.interp(alpha, fpr[jumps], tpr[jumps]), atol=1e-12)
    wrong = mi.FixedTarget(mechanism, mi.Bernoulli(np.array([0.301, 0.6])), N, z).exact(aimed)
    assert np.abs(wrong.beta(alpha) - curve.beta(alpha)).max() > 1e-5  # the planted error


def equal_coordinates(n: int, d: int, p: float) -> tuple[AbstractScoreLaw, float, float]:
    data = mi.Bernoulli(p, d=d)
    attack = mi.CovarianceScore(data, n)
    with exact_scope():
        weight, offset = float(attack.weights(jnp.ones(d))[0]), float(attack.offset(jnp.ones(d)))
    return exact_law(mi.FixedTarget(MEAN, data, n, np.ones(d)), attack), weight / n, offset


@pytest.mark.parametrize(("n", "d", "p"), [(1000, 500, 0.3), (1000, 5000, 0.5), (20, 40, 0.1)])
def test_equal_coordinates_are_a_single_binomial(n: int, d: int, p: float) -> None:
    law, step, offset = equal_coordinates(n, d, p)
    sd = np.sqrt(n * d * p * (1 - p))
    count = np.unique(
        np.clip(np.round(n * d * p + sd * np.array([-12, -5, -1, 0, 0.1, 2, 8, 20])), 0, n * d - 1)
    )
    score = offset + step * count
    # SciPy's binomial is itself right to some 1e-12 of the logarithm's argument only.
    for inside, trials, ones in ((False, n * d, 0), (True, (n - 1) * d, d)):
        for mine, exact in (
            (law.logsf, stats.binom.logsf(count - ones, trials, p)),
            (law.logcdf, stats.binom.logcdf(count - ones, trials, p)),
        ):
            np.testing.assert_allclose(mine(score, inside=inside), exact, rtol=2e-13, atol=2e-11)
    assert law.error_bound < 1e-12


def test_lattice_vertices_are_randomised_between() -> None:
    law, step, offset = equal_coordinates(1000, 500, 0.3)
    curve = mi.FixedTarget(MEAN, mi.Bernoulli(0.3, d=500), 1000, np.ones(500)).exact(
        mi.CovarianceScore(mi.Bernoulli(0.3, d=500), 1000)
    )
    count = 150_400.0
    low, high = stats.binom.sf([count, count - 1], 500_000, 0.3)
    beta = stats.binom.cdf(np.array([count, count - 1]) - 500, 499_500, 0.3)
    share = np.array([0.25, 0.75])
    truth = beta[0] + share * (beta[1] - beta[0])
    bounds = curve.beta_bounds(low + share * (high - low))
    np.testing.assert_allclose(bounds, np.stack([truth, truth]), rtol=1e-8)
    assert (bounds[0] <= truth).all()
    assert (truth <= bounds[1]).all()
    assert curve.score_at(low * (1 + 1e-9)) == pytest.approx(offset + step * count, abs=step / 10)
    assert curve.beta_bounds(0.0)[1] == 1.0
    assert curve.beta(1.0) == 0.0
    assert law.error_bound < 1e-12


def test_two_proportional_weights_are_a_lattice() -> None:
    """Weights 1/p and -1/(1 - p) with p = .3 are as 7 to -3; the convolution of two binomials is the other route."""
    n, ones, zeros, p = 100, 40, 60, 0.3
    data = mi.Bernoulli(p, d=ones + zeros)
    z = np.repeat([1.0, 0.0], [ones, zeros])
    attack = mi.CovarianceScore(data, n)
    law = exact_law(mi.FixedTarget(MEAN, data, n, z), attack)
    with exact_scope():
        offset = float(attack.offset(jnp.asarray(z)))
    k, m = np.arange(n * ones + 1), np.arange(n * zeros + 1)
    first, second = stats.binom.pmf(k, n * ones, p), stats.binom.pmf(m, n * zeros, p)
    for total in (-6000, -800, 0, 500, 1200, 3000):  # 7 k - 3 m
        tail = float(first @ stats.binom.cdf(np.ceil((7 * k - total) / 3) - 1, n * zeros, p))
        exact = law.sf(offset + total / 2.1 / n, inside=False)
        assert exact == pytest.approx(tail, rel=1e-10)
    assert second.sum() == pytest.approx(1.0)
    assert law.error_bound < 1e-10


def test_gaussian_data_give_a_single_normal() -> None:
    n, d, z = 50, 7, np.arange(7.0) / 3
    factor = np.random.default_rng(0).normal(size=(d, d)) + 2 * np.eye(d)
    for data in (mi.Gaussian(0.5, np.arange(1.0, 8.0)), mi.Gaussian(np.zeros(d), factor @ factor.T)):
        attack = mi.CovarianceScore(data, n)
        covariance = np.diag(data.covariance) if data.is_product else data.covariance
        square = (z - data.mean) @ np.linalg.solve(covariance, z - data.mean)
        law = exact_law(mi.FixedTarget(MEAN, data, n, z), attack)
        out, inside = (
            stats.norm(-square / (2 * n), np.sqrt(square / n)),
            stats.norm(square / (2 * n), np.sqrt(square * (n - 1)) / n),
        )
        x = np.linspace(-3, 3, 7)
        np.testing.assert_allclose(law.cdf(x, inside=False), out.cdf(x), rtol=1e-10)
        np.testing.assert_allclose(law.cdf(x, inside=True), inside.cdf(x), rtol=1e-10)


@pytest.mark.evidence
def test_ratios_of_gaussian_data_agree_over_three_routes() -> None:
    """Terms per coordinate, the declared quadratic form and automatic differentiation give the same law; so does the closed form."""
    n, d = 12, 9
    data, z = mi.Gaussian(0.0, 1.0, d=d), np.full(9, 0.7)
    game = mi.FixedTarget(MEAN, data, n, z)
    additive, full = mi.LikelihoodRatio(MEAN, data, n), mi.GaussianLikelihoodRatio(data, n)
    plain = mi.FunctionAttack(lambda target, output: additive.score(target, output))
    x = np.linspace(-6.0, 3.0, 19)
    # ratio = (|z|^2 - s |o - z|^2 / ... completed square: c - n^2 |o - z|^2 / (2 n (n - 1)), o - z ~ N(-z, 1/n) out.
    constant = 0.5 * (z @ z) - 0.5 * d * np.log1p(-1 / n)
    square = 2 * (constant - x) * (n - 1) / n
    out = stats.ncx2.sf(square * n, d, n * (z @ z))
    noncentral = (1 - 1 / n) ** 2 * (z @ z) * n**2 / (n - 1)
    inside = stats.ncx2.sf(square * n**2 / (n - 1), d, noncentral)
    for attack in (additive, full, plain):
        law = exact_law(game, attack)
        np.testing.assert_allclose(law.cdf(x, inside=False), out, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(law.cdf(x, inside=True), inside, rtol=1e-8, atol=1e-12)


def test_sub_sampling_is_the_mixture() -> None:
    data = mi.Gaussian(0.0, 1.0, d=3)
    z = np.array([3.0, 0.0, 1.0])
    whole = mi.FixedTarget(MEAN, data, 20, z).exact(mi.CovarianceScore(data, 20))
    part = mi.FixedTarget(mi.Subsampled(MEAN, 0.2), data, 100, z).exact(mi.CovarianceScore(data, 20))
    alpha = np.array([1e-3, 0.3, 0.9])
    np.testing.assert_allclose(part.tpr_at(alpha), 0.2 * whole.tpr_at(alpha) + 0.8 * alpha, rtol=1e-10)
    ratio = mi.LikelihoodRatio(mi.Subsampled(MEAN, 0.2), data, 100)
    linked = mi.FixedTarget(mi.Subsampled(MEAN, 0.2), data, 100, z).exact(ratio)
    inner = mi.FixedTarget(MEAN, data, 20, z).exact(mi.LikelihoodRatio(MEAN, data, 20))
    (low, high), (least, most) = linked.tpr_bounds(alpha), inner.tpr_bounds(alpha)
    assert ((low <= 0.2 * most + 0.8 * alpha) & (0.2 * least + 0.8 * alpha <= high)).all()
    assert linked.law.cdf(np.log(0.8) - 1e-9, inside=True) == 0.0  # the ratio is at least log(1 - rho)


@pytest.mark.parametrize(
    ("game", "attack"),
    [
        (mi.FixedTarget(MEAN, mi.StudentT(5.0, d=3), 10, np.ones(3)), mi.ScalarProduct(np.zeros(3))),
        (mi.FixedTarget(lambda key, x: x.max(axis=0), mi.Bernoulli(P), 4, Z), mi.ScalarProduct(np.zeros(2))),
        (mi.RandomTarget(MEAN, mi.Bernoulli(P), 4), mi.ScalarProduct(np.zeros(2))),
        (mi.FixedTarget(MEAN, mi.Bernoulli(P), 4, Z), mi.FunctionAttack(lambda z, o: o.max())),
        (mi.FixedTarget(MEAN, mi.Gaussian(0.0, 1.0, d=2), 4, Z), mi.FunctionAttack(lambda z, o: abs(o).max())),
        (mi.FixedTarget(MEAN, mi.Discrete([0.0, 1.0, 2**0.5], [0.2, 0.5, 0.3], d=2), 4, Z), Distance()),  # on no lattice
    ],
)  # fmt: skip
def test_scores_without_an_exact_law_are_refused(
    game: mi.AbstractMembershipGame, attack: mi.AbstractAttack
) -> None:
    with pytest.raises(ValueError, match="has no known exact distribution") as error:
        game.exact(attack)
    assert type(game.data).__name__ in str(error.value)
    assert "allowed are" in str(error.value)


class Broken(mi.AbstractAdditiveAttack):
    def contributions(self, target: Any, output: Any) -> Any:
        return jnp.where(output > 1.0, jnp.nan, output)

    def link(self, target: Any, total: Any) -> Any:
        return total


def test_other_bad_input_is_refused() -> None:
    data = mi.Exponential(1.0, d=1)
    with pytest.raises(ValueError, match="n d = 2 terms are too few"):
        mi.FixedTarget(MEAN, data, 2, [1.0]).exact(mi.ScalarProduct([0.0]))
    game = mi.FixedTarget(MEAN, mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=2), 4, Z)
    with pytest.raises(ValueError, match="attack Broken contributes NaN or inf at a sum that can occur"):
        game.exact(Broken())
    with pytest.raises(ValueError, match="weights 0 only"):
        mi.FixedTarget(MEAN, mi.Bernoulli(P), 4, Z).exact(mi.ScalarProduct(Z))
    curve = mi.FixedTarget(MEAN, mi.Bernoulli(P), 4, Z).exact(mi.ScalarProduct([0.0, 0.5]))
    with pytest.raises(ValueError, match=r"alpha is 1\.5"):
        curve.beta(1.5)


def test_many_thresholds_are_looked_at_in_batches(monkeypatch) -> None:
    """The numbers are the same; all at once they would need as many waves as thresholds times nodes."""
    data = mi.Laplace(0.0, [1.0, 2.0, 3.0])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=5, target=[1.0, -2.0, 5.0])
    law = game.exact(mi.CovarianceScore(data, n=5)).law
    x = np.linspace(-3.0, 3.0, 501)
    whole = law.logsf(x, inside=True)
    sizes: list[int] = []
    waves = Contour._waves
    monkeypatch.setattr("mipsim.exact.inversion._BLOCK", 2**10)
    monkeypatch.setattr(
        Contour, "_waves", lambda self, y, world: (sizes.append(y.size), waves(self, y, world))[1]
    )
    np.testing.assert_array_equal(law.logsf(x, inside=True), whole)
    assert max(sizes) <= 2**10
    assert sum(sizes) == x.size
