"""Exact laws of scores against closed forms and each other: linear, quadratic, sub-sampled, in the relaxed threat model, compared."""

from functools import cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.exact import AbstractScoreLaw, exact_law
from tests.exact.test_laws_hold import Distance

stats: Any = scipy.stats
P, Z, MEAN = np.array([0.3, 0.6]), np.array([1.0, 0.0]), mi.EmpiricalMean()


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
        (mi.RelaxedThreat(lambda rows: rows.sum(axis=0), [[0.0], [1.0]], [2.0], mi.Laplace(0.0, 1.0)), mi.Magnitude()),
        (mi.RelaxedThreat(lambda rows: rows.sum(axis=0), [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0), shadows=2), mi.OfflineLiRA(lambda r: r[0])),
        (
            mi.RelaxedThreat(lambda rows: rows.sum(axis=0), [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0)),
            mi.FunctionAttack(lambda known, output: abs(output[0] - known[0])),
        ),
    ],
)  # fmt: skip
def test_scores_without_an_exact_law_are_refused(game: Any, attack: mi.AbstractAttack) -> None:
    with pytest.raises(ValueError, match="has no known exact distribution") as error:
        game.exact(attack)
    assert type(getattr(game, "data", game)).__name__ in str(error.value)


class Broken(mi.AbstractAdditiveAttack):
    def contributions(self, target: Any, output: Any) -> Any:
        return jnp.where(output > 1.0, jnp.nan, output)

    def link(self, target: Any, total: Any) -> Any:
        return total


def test_what_occurs_with_no_number_and_weights_of_nothing_are_refused() -> None:
    game = mi.FixedTarget(MEAN, mi.Discrete([0.0, 1.0, 2.0], [0.2, 0.5, 0.3], d=2), 4, Z)
    with pytest.raises(ValueError, match="attack Broken contributes NaN or inf at a sum that can occur"):
        game.exact(Broken())
    with pytest.raises(ValueError, match="weights 0 only"):
        mi.FixedTarget(MEAN, mi.Bernoulli(P), 4, Z).exact(mi.ScalarProduct(Z))


N, D = 10_000, 100
MU = (D / N) ** 0.5


@cache
def of_a_gaussian_score() -> Any:
    data = mi.Gaussian(0.0, 1.0, d=D)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=np.ones(D))
    return game.exact(mi.CovarianceScore(data, n=N))


def gap(mu: float, fpr: np.ndarray) -> np.ndarray:
    """Scores are N(0, s^2) and N(mu s, s^2 (1 - 1/n)): the gap to G_mu at an FPR."""
    z = -ndtri(fpr)
    return (z - mu) - (z - MU) / np.sqrt(1 - 1 / N)


@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
@pytest.mark.parametrize(
    ("share", "stands"), [(1.0, "equality"), (1.03, "upper_bound_on_power"), (0.97, "ordering")]
)
def test_a_verdict_has_the_gap_of_the_formula(kind, share, stands):
    result = of_a_gaussian_score().compare(mi.GaussianTradeOff(share * MU), kind=kind)
    assert result.verdict == ("CONFIRMED" if kind == stands else "REFUTED")
    # FPR and claimed FNR are both within the error rates that are judged.
    far = -ndtri(result.least_rate)
    seen = gap(share * MU, ndtr(-np.linspace(share * MU - far, far, 2001)))
    extreme = {"upper_bound_on_power": seen.max(), "ordering": seen.min()}.get(
        kind, seen[np.abs(seen).argmax()]
    )
    assert result.gap == pytest.approx(extreme, rel=0.01)
    low, high = result.interval
    assert low <= result.gap <= high
    if result.verdict == "REFUTED":
        assert low > 0 or high < 0


RECORDS = np.random.default_rng(0).normal(size=(20, 3)).round()  # sums are the same in float32
RECORD = np.array([1.0, -2.0, 0.5])
ALPHA = np.array([1e-12, 1e-4, 0.05, 0.5, 0.9])
LAMBDA = float(RECORD @ RECORD) / 4.0


def game(noise: mi.AbstractDistribution, **settings: Any) -> mi.RelaxedThreat:
    return mi.RelaxedThreat(lambda rows: rows.sum(axis=0), RECORDS, RECORD, noise, **settings)


WHITE = mi.Gaussian(np.zeros(3), 4.0 * np.ones(3))
FULL = mi.Gaussian(np.zeros(3), np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.3], [0.0, 0.3, 3.0]]))


@pytest.mark.parametrize("rate", [1.0, 0.3])
def test_the_magnitude_is_a_chi_square(rate: float) -> None:
    curve = game(WHITE, sampling_rate=rate).exact(mi.Magnitude())
    x = stats.chi2.isf(ALPHA, 3)
    truth = rate * stats.ncx2.sf(x, 3, LAMBDA) + (1 - rate) * ALPHA
    np.testing.assert_allclose(curve.law.sf(curve.law.threshold_at(ALPHA), inside=True), truth, rtol=1e-8)
    assert not np.allclose(truth, stats.ncx2.sf(x, 3, 1.001 * LAMBDA + (rate < 1.0)), rtol=1e-8)
    low, high = curve.tpr_bounds(ALPHA)
    assert ((low <= truth) & (truth <= high)).all()


@pytest.mark.parametrize("noise", [WHITE, FULL])
def test_the_side_of_a_normal_pair_is_normal(noise: mi.Gaussian) -> None:
    direction = np.array([1.0, -1.0, 2.0])
    covariance = np.diag(noise.cov) if noise.cov.ndim == 1 else noise.cov
    mu = direction @ RECORD / np.sqrt(direction @ covariance @ direction)
    curve = game(noise).exact(lambda known, output: direction @ (output - known))
    truth = stats.norm.sf(stats.norm.isf(ALPHA) - mu)
    low, high = curve.tpr_bounds(ALPHA)
    assert ((low <= truth) & (truth <= high)).all()
    np.testing.assert_allclose(high, truth, rtol=1e-9, atol=1e-9)


def test_the_magnitude_in_coloured_noise_is_that_of_numpy_draws() -> None:
    law = game(FULL).exact(mi.Magnitude()).law
    draws = np.random.default_rng(1).multivariate_normal(RECORD, FULL.cov, 100_000)
    for x in (2.0, 6.0, 15.0):
        inside = int((np.square(draws).sum(axis=1) <= x).sum())
        # A right law fails with probability 1e-9.
        assert stats.binomtest(inside, 100_000, float(law.cdf(x, inside=True))).pvalue > 1e-9
        assert stats.binomtest(inside, 100_000, float(law.cdf(x, inside=False))).pvalue < 1e-9
