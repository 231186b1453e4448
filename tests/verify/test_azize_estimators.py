"""The moments and brackets behind the verdicts on Z-estimators and on algorithms 3 and 4, against literal draws and other formulas."""

import numpy as np
import pytest
from scipy import stats

from mipsim.exact.enumeration import roc_vertices
from mipsim.exact.z_estimators import World
from mipsim.theory import azize
from verify.azize import canaries, estimated_steps, onion, scalar_product, steps, z_estimators
from verify.azize.gradients import D, effective, mean_share, quantile_interval, score_matrix
from verify.azize.linear import ESSEEN, NormalCurve, linear_curve, normal_gap, sum_curve, sum_law
from verify.azize.z_problems import GrowingCurve, by_literal_match, revealing_power
from verify.claim import Budget, Verdict


@pytest.mark.parametrize("seed", range(8))
def test_the_bracket_of_a_linear_score_holds_by_enumeration(seed):
    """And the bracket is not so wide as to hold whatever mu is: with mu off by 1 it is broken at n = 60, d = 2."""
    rng = np.random.default_rng(seed)
    n, p, w = 60, rng.uniform(0.2, 0.8, 2), rng.normal(size=2)
    z, sums, sd = np.array([1.0, 0.0]), np.arange(61), np.sqrt(p * (1 - p))
    score = np.add.outer(w[0] * sums, w[1] * sums).ravel().round(10)
    out = np.outer(*(stats.binom.pmf(sums, n, q) for q in p)).ravel()
    inside = np.outer(*(stats.binom.pmf(sums - v, n - 1, q) for q, v in zip(p, z, strict=True))).ravel()
    alpha, power = roc_vertices(score, out, inside)
    curve = linear_curve(w * sd, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, np.ones(2), n)

    def broken(one: NormalCurve) -> bool:
        low, high = one.beta_bracket(np.clip(alpha, 0, 1))
        return bool((low - (1 - power) > 1e-9).any() or ((1 - power) - high > 1e-9).any())

    assert not broken(curve)
    assert broken(NormalCurve(curve.mu + 1.0, curve.scale, curve.error_out, curve.error_in))


def test_a_sum_is_as_near_to_normal_as_its_bracket_says():
    """100 exponential numbers: the exact distance, skewness / (6 sqrt(2 pi)) to first order, is below the bound."""
    law = sum_law([(1.0, 100.0, World(1.0, 1.0, 12 / np.e - 2))])
    x = np.linspace(70, 140, 2001)
    distance = np.abs(stats.gamma(100).cdf(x) - stats.norm(law.mean, law.variance**0.5).cdf(x)).max()
    assert distance == pytest.approx(0.2 / (6 * np.sqrt(2 * np.pi)), rel=0.05)
    assert distance < law.error
    assert law.error == pytest.approx(ESSEEN * (12 / np.e - 2) / 10)


def test_the_gap_of_normal_curves_is_their_difference_in_mu():
    law = sum_law([(1.0, 50.0, World(0.0, 1.0, 0.0))])
    moved = sum_law([(1.0, 50.0, World(0.2, 1.0, 0.0))])
    found = normal_gap(sum_curve(law, moved), 1.0, 1e-3)
    assert found.low == pytest.approx(0.2 * 50**0.5 - 1.0)
    assert found.high == pytest.approx(found.low)
    with pytest.raises(ValueError, match="mu is 9"):
        normal_gap(sum_curve(law, moved), 9.0, 1e-3)


def test_the_median_is_the_target_as_often_as_one_record_in_n_is_it():
    power, _ = revealing_power(2001, 1.0)
    assert power == pytest.approx(1 - np.exp(-1.0), abs=0.01)
    assert "0.000 of the games out" in by_literal_match(games=300, n=21)


def test_one_wide_regression_is_far_from_the_first_order():
    low, high = GrowingCurve(800, 400, 1.5).power_at(0.1)
    # out N(0, 2.25 tau/(1 - tau)), in N(2.25 tau, 2.25 tau (1 - tau)) for tau = 1/2
    limit = stats.norm.sf((1.2816 * np.sqrt(2.25) - 1.125) / np.sqrt(0.5625))
    assert low - 0.01 < limit < high + 0.01
    assert high - low < 1e-3
    assert high < float(azize.power(0.1, 1.125)) - 0.1


def test_estimated_moments_lose_what_the_formula_says():
    """2000 drawn sets of 2 d Gaussian references; Hoeffding for numbers in [-1, 1] at 1e-9 gives 0.146, seen as 0.02 by the spread."""
    rng = np.random.default_rng(1)
    share = estimated_steps._shares("Gaussian", 2 * D, True, 2000, rng)
    assert share.mean() == pytest.approx(mean_share(2 * D, D, float(D)), abs=7 * share.std() / np.sqrt(2000))
    # Known mean, Reed, Mallett & Brennan: (mu/sqrt m)^2 is Beta((n_r - d + 2)/2, (d - 1)/2).
    references = rng.normal(size=(2000, 2 * D, D))
    _, inverse = score_matrix(references, False, 0.0)
    direction = np.full(D, 1.0)
    rho = effective(inverse @ direction, direction, np.eye(D), D) ** 2
    assert stats.kstest(rho, stats.beta((D + 2) / 2, (D - 1) / 2).cdf).statistic < 0.074


def test_the_mean_share_agrees_with_high_precision():
    mpmath = pytest.importorskip("mpmath")
    d, n_r, distance = 500, 512_000, 2000.0
    a, b = (n_r - d + 1) / mpmath.mpf(2), (d - 1) / mpmath.mpf(2)
    length = mpmath.sqrt(n_r * distance)
    root = mpmath.gammaprod([a + 0.5, a + b], [a, a + b + 0.5])
    # The mean cosine by its own integral, E x/sqrt(x^2 + y) over x ~ N(length, 1), y ~ chi-square, to second order.
    cosine = 1 - (d - 1) / (2 * length**2) + 3 * (d - 1) * (d + 1) / (8 * length**4)
    assert mean_share(n_r, d, distance) == pytest.approx(float(root * cosine), rel=1e-9)


def test_order_statistics_cover_a_quantile():
    """2000 samples of 200: at failure probability 0.1 the interval misses at most as often as promised (binomial, 1e-9)."""
    rng = np.random.default_rng(3)
    missed = 0
    for sample in rng.exponential(size=(2000, 200)):
        _, low, high = quantile_interval(sample, 0.9, 0.1)
        missed += not low <= np.log(10.0) <= high
    assert missed <= stats.binom.isf(1e-9, 2000, 0.1)
    assert quantile_interval(np.arange(5.0), 0.5, 1e-6)[1:] == (-np.inf, np.inf)


def test_centred_and_uncentred_moments_are_numpys():
    references = np.random.default_rng(2).normal(1.0, 1.0, (2, 30, 3))
    for centred in (True, False):
        mean, inverse = score_matrix(references, centred, 0.1)
        second = np.cov(references[1].T, bias=True) if centred else references[1].T @ references[1] / 30
        np.testing.assert_allclose(np.linalg.inv(inverse[1]), second + 0.1 * np.eye(3), rtol=1e-9)
        np.testing.assert_allclose(mean[1], references[1].mean(axis=0))


def test_partial_moments_are_those_of_numerical_integration():
    from scipy import integrate

    for family, high in (
        (("student", 4.5, 0.0), 3.0),
        (("beta", 2.0, 3.0), 0.7),
        (("normal", 0.0, 0.0), 1.5),
        (("laplace", 0.0, 0.0), 2.0),
    ):
        law, low = onion._law(family), 0.2 if family[0] == "beta" else -high
        for r, found in zip((1, 2), onion.partial_moments(family, low, high), strict=True):
            wanted = integrate.quad(lambda x, r=r, law=law: x**r * law.pdf(x), low, high, points=[0.0])[0]
            assert found == pytest.approx(wanted, abs=1e-9)


BUDGET = Budget("quick", 1e-12, seed=1)


@pytest.mark.parametrize(
    ("module", "name", "verdict"),
    [
        (z_estimators, "mean, mean not 0: printed", Verdict.REFUTED),
        (z_estimators, "median, not at 0: printed", Verdict.REFUTED),
        (z_estimators, "least squares, unequal designs: printed", Verdict.REFUTED),
        (z_estimators, "logistic, slopes not 0: printed", Verdict.REFUTED),
        (canaries, "uncentred C0, known exactly", Verdict.REFUTED),
        (canaries, "lattice gradients, known moments", Verdict.REFUTED),
        (canaries, "Gaussian, d/4 references", Verdict.REFUTED),
        (steps, "sign as printed", Verdict.REFUTED),
        (scalar_product, "rare coordinates", Verdict.REFUTED),
        (scalar_product, "gaussian, half", Verdict.CONFIRMED),
        (onion, "Gamma(2), keep 0.9, each point that remains", Verdict.REFUTED),
    ],
)
def test_the_decisive_verdicts(module, name, verdict):
    regime = next(r for r in module.CLAIMS[0].regimes if r.name == name)
    result = regime.judge(BUDGET)
    assert result.verdict is verdict
    assert bool(result.second_route) == (verdict is Verdict.REFUTED)


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("known moments", Verdict.CONFIRMED),
        ("d/4 references, ridge 1e-3", Verdict.REFUTED),
        ("an epoch of two batches", Verdict.REFUTED),
        ("uncentred C0, known exactly", Verdict.REFUTED),
    ],
)
def test_algorithm_4_by_reading(name, verdict):
    regime = next(r for r in estimated_steps.CLAIMS[0].regimes if r.name == name)
    assert regime.judge(BUDGET).verdict is verdict
