"""Azize & Basu: proofs behind corrections, step by step by number; estimators and sums against draws and other formulas."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from mipsim import GaussianTradeOff
from mipsim import referee as rf
from mipsim.referee import Verdict
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.gap import gap_between
from mipsim.referee.kinds import Equality
from mipsim.theory import azize
from verify.azize.checks.sampled_means import by_difference
from verify.azize.checks.second_routes import by_digits, by_parity
from verify.azize.laws.cut_off_laws import law_of, partial_moments
from verify.azize.laws.enumeration import (
    bernoulli_data_sets,
    best_deterministic_power,
    best_randomised_power,
    mean_game,
    roc_vertices,
)
from verify.azize.laws.estimated_moments import (
    effective,
    mean_share,
    random_share,
    score_matrix,
)
from verify.azize.laws.linear_problems import jumping_curve, pair_powers, sampled_jumps
from verify.azize.laws.mean_curves import probit_at_threshold
from verify.azize.laws.mean_families import MeanProblem, coordinates, leakage
from verify.azize.laws.moments import mean_error
from verify.azize.laws.normal_sums import THIRD, NormalCurve, linear_curve, sum_curve, sum_law
from verify.azize.laws.pooled_scores import Aim, pooled
from verify.azize.laws.z_moments import World
from verify.azize.laws.z_problems import GrowingCurve
from verify.azize.statements import optimality
from verify.berry_esseen import OTHER_LAWS

# A threshold that rejects that output has a level near 1; any other has no level above 0, and so no power.


def test_the_pooled_score_has_the_law_of_sampled_sums():
    aim = Aim("exponential", -1.5, 0.7, 1.0)
    law, n = pooled(aim, 50), 50
    rng, games = np.random.default_rng(3), 200_000
    total = rng.gamma((n - 1) * n, 1.0, games) + n * (1 + aim.truth)
    score = aim.aimed * (total - n * n) / n - n * aim.aimed**2 / (2 * n)
    at = law.score[np.searchsorted(law.inside, [0.1, 0.5, 0.9])]
    exact = np.interp(at, law.score, law.inside)
    # Failure probability 1e-9 for each of the three frequencies.
    assert (np.abs((score[:, None] <= at).mean(axis=0) - exact) < 6.2 * np.sqrt(0.25 / games)).all()


def test_the_error_of_lemma_c9_is_the_closed_form():
    n = 4000
    for t in (0.5, -2.0, 5.0):
        a = np.sqrt(n / (n - 1))
        out = abs(-(1 + t**2) * n / (2 * (n - 1)) - 2 * t * (a + a**2 - 2 + t**2 / (n - 1)) + (1 + t**2) / 2)
        assert mean_error(n, "exponential", 0.3, 9.0, t, 0.0)[0] >= out - 1e-9
    assert mean_error(n, "normal", 0.3, 9.0, np.sqrt(2.0), 0.5)[0] > 0.9


@pytest.mark.parametrize("t", [2.0, -0.5])
def test_a_target_of_bernoulli_data_is_0_or_1_without_rounding(t: float):
    # .2 + 2 sd is 1 but for rounding, and 1.0000000000000002 is a number that no other data set has.
    problem = MeanProblem("Bernoulli", "off the support", p=0.2, t=t, u=t)
    assert np.isfinite(coordinates(problem, 20, 20)[0].weaker.ratio).sum() > 2
    off = MeanProblem("Bernoulli", "off the support", p=0.2, t=1.0, u=1.0)
    assert not np.isfinite(coordinates(off, 20, 20)[0].weaker.ratio).any()


@pytest.mark.evidence
def test_the_leakage_of_a_problem_is_its_limit():
    for at in (
        {"data": "Bernoulli", "target": "easiest", "p": 0.375, "width": 0.125, "tau": 5.0},
        {"data": "Bernoulli", "target": "typical", "p": 0.7},
        {"data": "Bernoulli", "target": "hardest", "p": 0.8, "tau": 20.0},
        {"data": "Bernoulli", "target": "off the support", "p": 0.4, "t": 0.3, "u": -2.0, "gamma": 0.5},
        {"data": "gamma", "shape": 0.5, "t": 2.0, "u": -0.3},
        {"data": "mixed", "p": 0.2, "t": 1.5},
        {"data": "three atoms"},
        {"data": "Gaussian", "t": 0.5, "u": 1.0, "tau": 0.01, "extra": "spike", "rate": 2.0},
    ):
        problem = MeanProblem.of(at)
        assert leakage(problem, 20_000, 20_000) == pytest.approx(problem.leakage, rel=2e-3)


def test_the_threshold_of_gaussian_data_has_the_level_of_sampled_ratios():
    n, t, tau, alpha = 50, 1.0, 0.2, 0.1
    rng, d, m = np.random.default_rng(4), 10, 0.2
    cut = -m / 2 - np.sqrt(m) * stats.norm.ppf(alpha)
    for world, rows in (("level", n), ("power", n - 1)):
        # Column sums of N(0, 1): N(0, n) out, and t + N(0, n - 1) in.
        sums = rng.normal(0.0, np.sqrt(rows), (100_000, d)) + (t if rows < n else 0.0)
        ratio = stats.norm.logpdf(sums, t, np.sqrt(n - 1)) - stats.norm.logpdf(sums, 0.0, np.sqrt(n))
        seen = float((ratio.sum(axis=1) > cut).mean())
        # 6 standard errors: failure probability 1e-8.
        assert stats.norm.cdf(probit_at_threshold(n, t, t, tau, alpha, world)) == pytest.approx(
            seen, abs=6 * 0.5 / np.sqrt(100_000)
        )


D = 20


def test_a_wide_regression_is_far_from_the_first_order():
    low, high = GrowingCurve(800, 400, 1.5).power_at(0.1)
    # out N(0, 2.25 tau/(1 - tau)), in N(2.25 tau, 2.25 tau (1 - tau)) for tau = 1/2
    limit = stats.norm.sf((1.2816 * np.sqrt(2.25) - 1.125) / np.sqrt(0.5625))
    assert low - 0.01 < limit < high + 0.01
    assert high - low < 1e-3
    assert high < float(azize.power(0.1, 1.125)) - 0.1


def test_estimated_moments_lose_what_the_formula_says():
    """200 sampled sets of 2 d Gaussian references; the spread of a share is below 0.15."""
    assert random_share("Gaussian", D, 2 * D, float(D), 1).value == pytest.approx(
        mean_share(2 * D, D, float(D)), abs=7 * 0.15 / np.sqrt(200)
    )
    # Known mean, Reed, Mallett & Brennan: (mu/sqrt m)^2 is Beta((n_r - d + 2)/2, (d - 1)/2).
    references = np.random.default_rng(1).normal(size=(2000, 2 * D, D))
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
        law, low = law_of(family), 0.2 if family[0] == "beta" else -high
        for r, result in zip((1, 2), partial_moments(family, low, high), strict=True):
            wanted = integrate.quad(lambda x, r=r, law=law: x**r * law.pdf(x), low, high, points=[0.0])[0]
            assert result == pytest.approx(wanted, abs=1e-9)


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

    def broken(normal: NormalCurve) -> bool:
        low, high = normal.beta_bounds(np.clip(alpha, 0, 1))
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
    assert law.error == pytest.approx(OTHER_LAWS * (12 / np.e - 2) / 10)


def test_the_gap_of_normal_curves_is_their_difference_in_mu():
    law = sum_law([(1.0, 50.0, World(0.0, 1.0, 0.0))])
    moved = sum_law([(1.0, 50.0, World(0.2, 1.0, 0.0))])
    result = gap_between(Claim(Equality(1.0, floor=1e-3), GaussianTradeOff(1.0)), sum_curve(law, moved))
    assert result.over.value == pytest.approx(0.2 * 50**0.5 - 1.0)
    assert result.over.value == pytest.approx(-result.under.value)
    assert np.ptp(result.over[1:]) < 0.0201 * result.over.value  # what refinement leaves of a gap


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("df", [3.01, 4.5, 9.0, 400.0, 1e6])
def test_the_third_moment_of_student_is_that_of_its_density(df):
    edges = np.concatenate([[0.0], np.geomspace(1e-3, 1e3, 40)])
    result = sum(integrate.quad(lambda x: 2 * x**3 * stats.t.pdf(x, df), a, b)[0] for a, b in pairwise(edges))
    # Beyond 1000 the density is c x^-(df + 1), but for a factor 1 + O(df^2 / 1e6).
    far = 2 * stats.t.pdf(1e3, df) * 1e12 / (df - 3)
    assert THIRD["student"](df) * (df / (df - 2)) ** 1.5 == pytest.approx(result + far, rel=1e-4)


@pytest.mark.parametrize("df", [1.5, 2.5, 3.0])
def test_student_without_a_third_moment_has_no_bound(df):
    curve = linear_curve(np.ones(1), np.ones(1), np.array([THIRD["student"](df)]), np.ones(1), 100)
    assert curve.error_out == curve.error_in == np.inf
    assert [float(end[0]) for end in curve.beta_bounds(np.array([0.3]))] == [0.0, 1.0]


def test_a_coin_that_tells_nothing_refutes_thresholds_without_ties():
    """Computed by a search: all outputs are tied, so that thresholds have power 0 at alpha = 1/2, where half of the outputs have 1/2."""
    at = dict(optimality.POWER.points[5].at) | {"epsilon": 0.0, "alpha": 0.5}
    assert at["mechanism"] == "randomised response"
    result = rf.judge(optimality.POWER, at=[at]).judged[0]
    assert (result.verdict, result.gap) == (Verdict.REFUTED, pytest.approx(0.5))


@pytest.mark.evidence
def test_the_scalar_product_is_ahead_of_the_covariance_attack():
    """By the normal law at 100,000 rows, where its bracket is narrow, and by column sums."""
    at = 0.05
    both = sampled_jumps(100_000, 1.0)
    for scores, score in zip(both, ("covariance", "origin"), strict=True):
        high, low = 1.0 - np.array(jumping_curve(score, 100_000, 1.0).beta_bounds(at))
        seen = scores.power(at)  # fails with a probability of at most 1e-6
        assert seen.low <= high
        assert low <= seen.high
        assert high - low < 0.1
    assert both[1].power(at).low > 0.22 > 1.0 - jumping_curve("covariance", 10**7, 1.0).beta(at)


def test_two_coins():
    p, z, reference = np.array([0.05, 0.1]), np.ones(2), np.zeros(2)
    _, covariance, scalar, _ = pair_powers(4, p, z, reference)
    worst = int(np.argmax(scalar - covariance))
    assert scalar[worst] - covariance[worst] == pytest.approx(0.0717, abs=1e-4)


def test_the_parity_and_the_digits_give_the_target_away():
    parity = by_parity(0.125)
    assert (parity.out.mean(), parity.inside.mean()) == pytest.approx(
        (0.1106, 0.8894), abs=0.015
    )  # (1 -+ e^-1/4)/2
    digits = by_digits()
    assert digits.out.max() < digits.inside.min()
    seen = by_difference(**vars(MeanProblem("Cantor")))
    assert seen.excludes
    assert seen.value == 1.0
    assert not replace(seen, value=0.5, low=0.4, high=0.6).excludes  # a test that guesses shows nothing


# Enumeration of all data sets, and the tables of a density's terms by Fourier transforms, against closed forms.

P, Z = np.array([0.3, 0.6]), np.array([1.0, 0.0])


def test_enumeration_agrees_with_itself():
    sets, probability = bernoulli_data_sets(P, 3)
    assert sets.shape == (64, 3, 2)
    outputs, out, inside = mean_game(P, 3, Z, kept=2)
    assert outputs.shape[1] == 2
    for law in (out, inside, probability):
        assert law.sum() == pytest.approx(1)
    # The sampled rows hold the target with probability 2/3.
    shift = (outputs * inside[:, None]).sum(axis=0) - P
    np.testing.assert_allclose(shift, (Z - P) * (2 / 3) / 2, atol=1e-12)


def test_the_best_of_all_tests_is_that_of_neyman_and_pearson():
    rng = np.random.default_rng(2)
    for m in (2, 7, 12):
        out, inside = rng.dirichlet(np.full(m, 0.7)), rng.dirichlet(np.full(m, 0.7))
        fpr, tpr = roc_vertices(np.log(inside / out), out, inside)
        for alpha in (0.0, 0.03, 0.5, 1.0):
            best = best_randomised_power(out, inside, alpha)
            assert best == pytest.approx(np.interp(alpha, fpr, tpr), abs=1e-12)
            assert best >= best_deterministic_power(out, inside, np.array([alpha]))[0][0] - 1e-12
