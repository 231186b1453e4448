"""The estimators of Azize & Basu: what stands behind the verdicts, against literal draws and other formulas; and the verdicts."""

import numpy as np
import pytest
from scipy import stats

from mipsim import referee as rf
from mipsim.theory import azize
from verify.azize.laws.cut_off_laws import law_of, partial_moments
from verify.azize.laws.estimated_moments import (
    candidates_of,
    effective,
    mean_share,
    random_share,
    score_matrix,
)
from verify.azize.laws.linear_problems import linear_problem, pair_powers, sampled_scores
from verify.azize.laws.reference_curves import scores_by_games
from verify.azize.laws.z_problems import GrowingCurve, by_literal_match, revealing_power
from verify.azize.statements import (
    reference_points,
)
from verify.register import REGISTER

D = 20


def test_the_median_is_the_target_with_probability_1_in_n():
    power, _ = revealing_power(2001, 1.0)
    assert power == pytest.approx(1 - np.exp(-1.0), abs=0.01)
    seen = by_literal_match(games=300, n=21)
    assert seen.out.max() == 0.0
    assert seen.inside.mean() > 0.5


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


def test_an_uncentred_matrix_shrinks_candidates_along_the_mean_gradient():
    """C = A A', mean (m, ..., m): the score of a candidate at x is |x|^2 - (x'v)^2/(1 + v'v), v = A^-1 mean."""
    roots, picks = candidates_of("Gaussian", 3, 50, None, 2.0, False, 0.0, 4, problems=5)
    centred, best = candidates_of("Gaussian", 3, 50, None, 2.0, True, 0.0, 4, problems=5)
    np.testing.assert_array_equal(roots, centred)
    np.testing.assert_array_equal(best, centred.argmax(axis=1))
    assert (picks != best).any()


def test_two_coins_by_draws():
    p, z, reference = np.array([0.05, 0.1]), np.ones(2), np.zeros(2)
    alpha, covariance, scalar = pair_powers(4, p, z, reference)
    worst = int(np.argmax(scalar - covariance))
    assert scalar[worst] - covariance[worst] == pytest.approx(0.0717, abs=1e-4)
    for scores, power in zip(
        sampled_scores(4, p, z, reference), (covariance[worst], scalar[worst]), strict=True
    ):
        seen = scores.power(float(alpha[worst]))  # fails with a probability of at most 1e-6
        assert seen.low <= power <= seen.high < seen.low + 0.05


def test_no_linear_score_has_more_than_the_covariance_score():
    for draw in range(50):
        problem = linear_problem("random", 3, 1.0, draw)
        best = problem.curve("covariance", 100, 2.0)
        assert best.mu == pytest.approx(np.sqrt(2.0 * problem.share @ problem.t**2))
        others = [problem.curve(name, 100, 2.0).mu for name in ("origin", "mean", "half", "ones", "random")]
        assert min(others) >= 0.0
        assert max(others) <= best.mu * (1 + 1e-12)


def test_the_score_with_few_reference_points_loses_in_literal_games():
    curve = reference_points.paper_curve("centred", 5, 0)
    exact = 1 - float(curve.beta(np.array([0.1]))[0])
    seen = scores_by_games("centred", 5, 0).power(0.1)
    assert seen.low <= exact <= seen.high < seen.low + 0.3
    assert exact < 0.6 < float(azize.power(0.1, reference_points.known_leakage()))


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("azize-alg-3", "exact moments, of random candidates and references (seed 1)"),
        ("azize-alg-3-corrected", "exact moments, mean of 100 random problems (seed 0)"),
        ("azize-alg-4-estimated-random", "mean of 200 random reference sets (seed 0)"),
    ],
)
def test_numbers_over_draws_say_of_how_many_they_are_the_mean(name, says):
    """Else "exact" beside them would be read as a statement about the expectation."""
    statement = REGISTER[name]
    at = dict(statement.points[0].at)
    result = rf.judge(statement, at=at, progress=False)
    assert result.worst is not None
    assert result.worst.route == says
    assert says in str(result)
