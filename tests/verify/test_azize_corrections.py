"""The proofs behind the corrections of theorem 3.1, step by step by number, and the problems that they are judged on."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from tests.fourier_terms import density_terms
from verify.azize.checks.sampled_means import by_difference
from verify.azize.checks.second_routes import by_digits, by_parity
from verify.azize.laws.mean_curves import probit_at_threshold
from verify.azize.laws.mean_families import MeanProblem, coordinates, leakage
from verify.azize.laws.moments import mean_error
from verify.azize.laws.pooled_scores import Aim, pooled
from verify.azize.laws.terms import binomial_terms


def test_a_bernoulli_ratio_is_linear_in_the_sum_without_error():
    rng = np.random.default_rng(0)
    for _ in range(200):
        n, p, z = int(rng.integers(2, 400)), float(10 ** rng.uniform(-4, -0.01)), int(rng.integers(2))
        terms = binomial_terms(n, p, z, 1)
        linear = 1 + terms.t * terms.deviation / np.sqrt(n)
        assert np.abs(np.exp(terms.ratio) - linear).max() < 1e-9 * max(1.0, terms.t**2)
        fourth = terms.out @ (terms.t * terms.deviation / np.sqrt(n)) ** 4
        assert fourth <= terms.t**4 / n**2 * (3 + (terms.t**2 + terms.t**-2) / n) * (1 + 1e-9)


@pytest.mark.parametrize("t", [0.0, 1.0, -2.0, 6.0])
def test_a_density_ratio_is_linear_up_to_what_the_lemma_allows(t):
    errors = []
    for n in (400, 6400, 102_400):
        terms = density_terms(n, lambda u: np.exp(-1j * u) / (1 - 1j * u), 1.0, 1.0, 1.0 + t, 1, points=2**14)
        h = t / np.sqrt(n)
        retained = np.abs(terms.deviation) <= np.sqrt(2.2 * np.log(n))
        error = terms.out[retained] @ (np.exp(terms.ratio) - 1 - h * terms.deviation)[retained] ** 2
        errors.append(error / (h**2 + 1 / n))
    assert errors[0] > 4 * errors[1] > 16 * errors[2]


def test_the_parity_and_the_digits_give_the_target_away():
    parity = by_parity(0.125)
    assert (parity.out.mean(), parity.inside.mean()) == pytest.approx((0.1106, 0.8894), abs=0.015)
    digits = by_digits()
    assert digits.out.max() < digits.inside.min()
    seen = by_difference(**vars(MeanProblem("Cantor")))
    assert seen.excludes
    assert seen.value == 1.0
    assert not replace(seen, value=0.5, low=0.4, high=0.6).excludes  # a test that guesses shows nothing


def test_without_lots_at_ties_the_ratio_has_no_test_of_level_alpha_where_m_is_0():
    n = 100  # records and coordinates; the values 1, which the target lacks, have probability n^-4
    terms = binomial_terms(n, n**-4.0, 0, 1)
    assert (np.diff(terms.ratio) < 0).all()  # no output has a larger ratio than that without any 1
    silent = [float(world[0]) ** n for world in (terms.out, terms.out * np.exp(terms.ratio))]
    assert min(silent) > 1 - 2 * n**-2
    # A threshold that rejects that output has a level near 1; any other has no level above 0, and so no power.


def test_a_reference_that_is_sampled_anew_may_help_the_scalar_product_at_few_rows():
    n, alpha = 2, 1e-3
    root, shift = np.sqrt(n / (n - 1)), 0.1 / np.sqrt(n)
    power = stats.norm.cdf(root * (stats.norm.ppf(np.array([alpha, 2 * alpha])) + shift))
    # Half of the references are near the target, and their scores below every threshold but for a negligible probability.
    assert power[1] / 2 > 1.8 * power[0]
    rng, games = np.random.default_rng(6), 4_000_000
    rates = []
    for target in (0.0, 0.1):  # out, in
        rows = rng.normal(size=games) / np.sqrt(2) if not target else (target + rng.normal(size=games)) / 2
        weight = np.where(rng.random(games) < 0.5, 1.0, 1e-6)
        rates.append((weight * rows > stats.norm.isf(2 * alpha) / np.sqrt(2)).mean())
    for seen, exact in zip(rates, (alpha, power[1] / 2), strict=True):
        assert seen == pytest.approx(exact, abs=6 * np.sqrt(exact / games))  # failure probability 1e-8


def test_the_average_after_outliers_are_removed_needs_the_divisor_n():
    points = np.array([-1.0, -1.0, 1.0, 1.001])
    for freedom, rises in ((0, True), (1, False)):
        before = ((points - points.mean()) ** 2 / points.var(ddof=freedom))[:3].mean()
        rest = points[:3]
        after = ((rest - rest.mean()) ** 2 / rest.var(ddof=freedom)).mean()
        assert bool(after > before) is rises


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
        {"data": "Gaussian", "t": 0.5, "u": 1.0, "extra": "rare value", "rate": 0.3},
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
