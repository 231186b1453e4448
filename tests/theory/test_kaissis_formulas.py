"""The formulas of Kaissis et al. against densities, SciPy's own laws and draws."""

import mpmath
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import chi2, laplace, ncx2, norm

from mipsim.theory import kaissis
from mipsim.tradeoff import FoldedLaplaceTradeOff
from verify.kaissis.laws.relaxed_attackers import averaged, weighted
from verify.kaissis.laws.relaxed_laws import norm_curves

ALPHA = np.array([1e-6, 1e-3, 0.05, 0.3, 0.7, 0.99])


@pytest.mark.parametrize("mu", [0.1, 1.0, 4.0])
@pytest.mark.parametrize(
    ("law", "curve"), [(laplace, FoldedLaplaceTradeOff), (norm, kaissis.gaussian_tradeoff)]
)
def test_the_magnitude_by_integrating_the_density(law, curve, mu):
    for alpha in ALPHA[1:]:
        cut = law.isf(alpha / 2)
        within, _ = quad(lambda x: law.pdf(x - mu), -cut, cut, points=[min(mu, cut)], epsabs=1e-12)
        assert float(curve(mu).beta(alpha)) == pytest.approx(within, abs=1e-9)
        assert float(curve(1.03 * mu).beta(alpha)) != pytest.approx(within, abs=1e-9)


@pytest.mark.parametrize("d", [1, 2, 7, 300])
@pytest.mark.parametrize("mu", [0.5, 3.0])
def test_theorem_2_is_scipys_law_and_the_quadrature(d, mu):
    expected = ncx2.cdf(chi2.isf(ALPHA, d), d, mu**2)
    np.testing.assert_allclose(kaissis.gaussian_tradeoff(mu, d).beta(ALPHA), expected, atol=1e-9)
    np.testing.assert_allclose(norm_curves(d, mu)[0].beta(ALPHA), expected, atol=1e-9)


def test_weights_by_drawing():
    """Power of the weighted and of the averaged statistic, 10^5 games: 6.2 standard errors fail once in 1e9."""
    rng, games, alpha = np.random.default_rng(0), 100_000, 0.1
    shift, sigma = np.array([1.0, 1.0]), np.array([1.0, 3.0])
    noise = rng.standard_normal((2, games, 2)) * sigma
    noise[1] += shift
    error = (
        6.2 * np.sqrt(2 * 0.25 / games) * 1.6
    )  # FPR and TPR both sampled; the curve's slope is below 2 here
    claimed = []
    for weights, law in ((shift / sigma**2, weighted), (np.ones(2), averaged)):
        score = np.abs(noise @ weights)
        power = np.mean(score[1] > np.quantile(score[0], 1 - alpha))
        claimed.append(float(law(*shift, *sigma, d=1).tpr_at(alpha)))
        assert abs(power - claimed[-1]) < error
    assert claimed[0] > 1.3 * claimed[1]


@pytest.mark.parametrize("mu", [0.3, 2.0, 8.0])
def test_a_curve_lies_above_what_bounds_it_between_its_samples(mu):
    """Which proves how near the chords of `symmetrised` are: the exact curve lies on or above the lines that touch it."""
    j = kaissis.FoldedGaussianTradeOff(mu)
    alpha, _, beta, _ = kaissis._samples(j)
    x, gap = kaissis._below_chords(alpha, beta)
    low = np.interp(x, alpha, beta) - gap
    assert 0.0 < gap.max() < 1e-6
    assert (j.beta(x) >= low - 1e-15).all()  # rounding
    assert (j.beta(x) < low + 0.8 * gap).any()  # of a parabola a quarter of the gap is its own
    at = ndtr(np.linspace(-6.0, 4.0, 997))
    assert (np.interp(at, alpha, beta) >= j.beta(at) - 1e-15).all()


@pytest.mark.parametrize("mu", [37.0, 38.0, 38.6, 39.0, 80.0])
def test_the_folded_curve_where_the_fnr_underflows(mu):
    with mpmath.workdps(400):
        for z in (-2.0, -0.5, -1e-3):
            log_fpr = float(mpmath.log(mpmath.erfc(-z / mpmath.sqrt(2))))
            at = mpmath.findroot(lambda x, y=log_fpr: mpmath.log(mpmath.erfc(-x / mpmath.sqrt(2))) - y, z)
            fnr = mpmath.ncdf(-at - mu) - mpmath.ncdf(at - mu)
            result = kaissis.FoldedGaussianTradeOff(mu).enclosure(np.array([log_fpr]))
            assert result.log_fnr_low[0] <= mpmath.log(fnr) <= result.log_fnr_high[0]
            assert result.log_tpr_low[0] <= mpmath.log1p(-fnr) <= result.log_tpr_high[0]


@pytest.mark.evidence
@pytest.mark.parametrize("mu", [0.5, 2.0])
def test_the_symmetrised_curve_is_the_exact_hull(mu):
    """The closed forms of Laplace noise have an exact hull."""
    j = FoldedLaplaceTradeOff(mu)
    exact, sampled = j.symmetrized(), kaissis.symmetrised(j)
    np.testing.assert_allclose(sampled.beta(ALPHA), exact.beta(ALPHA), atol=1e-6)
    np.testing.assert_allclose(sampled.tpr_at(ALPHA), exact.tpr_at(ALPHA), rtol=1e-5)
    assert np.all(sampled.beta(ALPHA) <= np.minimum(j.beta(ALPHA), j.inverse().beta(ALPHA)) + 1e-6)


def test_the_limit_by_the_normal_law():
    """Equation 7 is the normal law with the moments of chi2_d(L)."""
    d, total = 40.0, 7.0
    cut = norm.isf(ALPHA, d, np.sqrt(2 * d))
    np.testing.assert_allclose(
        kaissis.limit_beta(ALPHA, d, total), norm.cdf(cut, d + total, np.sqrt(2 * d + 4 * total)), rtol=1e-12
    )
