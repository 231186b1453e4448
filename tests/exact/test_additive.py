"""The exact laws against enumeration, closed forms and each other."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from mipsim.exact import additive_law, binomial_terms, covariance_score, density_terms
from mipsim.exact.enumeration import bernoulli_data_sets, best_deterministic_power, mean_game, roc_vertices

P, Z, N = np.array([0.3, 0.6]), np.array([1.0, 0.0]), 5


def groups():
    return [binomial_terms(N, 0.3, 1, 1), binomial_terms(N, 0.6, 0, 1)]


def test_the_likelihood_ratio_curve_is_the_enumerated_one():
    _, out, inside = mean_game(P, N, Z)
    with np.errstate(divide="ignore"):
        score = np.where(inside > 0, np.log(inside / out), -1e3)
    fpr, tpr = roc_vertices(score, out, inside)
    law = additive_law(groups())
    # The grid moves mass by one cell at most, so compare the curves between the enumerated vertices.
    alpha = np.linspace(0.01, 0.99, 99)
    np.testing.assert_allclose(law.beta(alpha), 1 - np.interp(alpha, fpr, tpr), atol=1e-4)


def test_infinite_ratios_keep_their_mass():
    law = additive_law(groups())
    impossible = 1 - (1 - 0.7**5) * (1 - 0.6**5)  # a coordinate whose count rules the target out
    assert law.law.below == pytest.approx([impossible, 0.0], abs=1e-12)
    assert law.law.above == pytest.approx([0.0, 0.0], abs=1e-12)


def test_the_linear_score_is_a_binomial():
    n, d = 50, 40
    law = additive_law([binomial_terms(n, 0.3, 1, d)], covariance_score)
    count = np.arange(500, 700, 7)
    step = 1.0 / (0.3 * n)  # the score is (sum - n d p) / (n p) - m / 2
    x = (count + 0.5 - n * d * 0.3) * step - d * (0.7**2 / 0.21) / n / 2
    np.testing.assert_allclose(law.below(x, inside=False), stats.binom.cdf(count, n * d, 0.3), atol=1e-9)
    np.testing.assert_allclose(
        law.below(x, inside=True), stats.binom.cdf(count - d, (n - 1) * d, 0.3), atol=1e-9
    )
    assert law.error_bound < 1e-9


def test_gaussian_data_have_the_closed_form():
    n, z = 50, 3.0
    terms = density_terms(n, lambda u: np.exp(-(u**2) / 2), 0.0, 1.0, z, 1)
    x = terms.total
    exact = stats.norm.logpdf(x, z, np.sqrt(n - 1)) - stats.norm.logpdf(x, 0, np.sqrt(n))
    middle = np.abs(x) < 6 * np.sqrt(n)
    # Densities of the grid carry rounding of 1e-16 of their maximum, which is 1e-8 of them at 6 deviations.
    np.testing.assert_allclose(terms.ratio[middle], exact[middle], atol=1e-6)


def test_exponential_data_have_the_gamma_ratio():
    n, z = 30, 2.0
    terms = density_terms(n, lambda u: np.exp(-1j * u) / (1 - 1j * u), 1.0, 1.0, z, 1)
    x = terms.total
    middle = np.abs(x - n) < 4 * np.sqrt(n)
    exact = stats.gamma.logpdf(x[middle] - z, n - 1) - stats.gamma.logpdf(x[middle], n)
    np.testing.assert_allclose(terms.ratio[middle], exact, atol=1e-6)


def test_a_wrong_probability_shows():
    right = additive_law([binomial_terms(400, 0.3, 1, 400)])
    wrong = additive_law([binomial_terms(400, 0.31, 1, 400)])
    alpha = np.array([0.01, 0.1, 0.5])
    assert np.abs(ndtri(right.beta(alpha)) - ndtri(wrong.beta(alpha))).max() > 0.01


def test_the_hockey_stick_is_the_formula_for_gaussian_data():
    n, d = 4000, 4000
    law = additive_law([density_terms(n, lambda u: np.exp(-(u**2) / 2), 0.0, 1.0, 1.0, d)])
    for epsilon in (0.0, 1.0, 3.0):
        closed = ndtr(-epsilon + 0.5) - np.exp(epsilon) * ndtr(-epsilon - 0.5)
        # H1 has (n - 1)/n of the variance, which moves delta by less than 1/n.
        assert law.delta(epsilon) == pytest.approx((closed, closed), abs=1e-3)


def test_enumeration_agrees_with_itself():
    sets, probability = bernoulli_data_sets(P, 3)
    assert sets.shape == (64, 3, 2)
    outputs, out, inside = mean_game(P, 3, Z, kept=2)
    assert outputs.shape[1] == 2
    for law in (out, inside, probability):
        assert law.sum() == pytest.approx(1)
    # The drawn rows hold the target with probability 2/3.
    shift = (outputs * inside[:, None]).sum(axis=0) - P
    np.testing.assert_allclose(shift, (Z - P) * (2 / 3) / 2, atol=1e-12)


def test_sizes_beyond_enumeration_are_refused():
    with pytest.raises(ValueError, match="n d = 40"):
        bernoulli_data_sets(np.full(4, 0.5), 10)
    with pytest.raises(ValueError, match="30 outputs"):
        best_deterministic_power(np.full(30, 1 / 30), np.full(30, 1 / 30), np.array([0.1]))
