"""Every formula against an independent route: quadrature, mpmath, simulation or enumeration."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import mipsim as mi
from mipsim.theory import azize
from verify.azize.laws import moment_formulas
from verify.azize.statements.gdp import delta_epsilon


@pytest.mark.parametrize("leakage", [0.01, 1.0, 9.2])
def test_advantage_and_delta_are_integrals(leakage):
    s = leakage**0.5
    for epsilon in (0.0, 0.5, 2.0):

        def above(x, e=epsilon):
            return max(
                stats.norm.pdf(x, leakage / 2, s) - np.exp(e) * stats.norm.pdf(x, -leakage / 2, s), 0.0
            )

        excess = integrate.quad(above, -40, 60, limit=2000, points=[0.0, epsilon])[0]
        assert delta_epsilon(leakage, epsilon) == pytest.approx(excess, abs=1e-7)
    assert azize.advantage(leakage) == pytest.approx(delta_epsilon(leakage, 0.0), abs=1e-14)


def test_power_is_reached_at_the_threshold():
    for leakage in (0.5, 4.0):
        for alpha in (1e-4, 0.1, 0.9):
            t = float(azize.threshold(alpha, leakage))
            assert stats.norm(-leakage / 2, leakage**0.5).sf(t) == pytest.approx(alpha, rel=1e-9)
            assert stats.norm(leakage / 2, leakage**0.5).sf(t) == pytest.approx(
                float(azize.power(alpha, leakage)), rel=1e-9
            )


def test_the_corrected_subsample_curve_is_the_best_of_the_mixture():
    """Minimise beta over all threshold tests of the mixture by direct optimisation of the threshold."""
    leakage, rho, alpha = 2.0, 0.3, 0.05
    m_k = leakage / rho
    out, sample = stats.norm(-m_k / 2, m_k**0.5), stats.norm(m_k / 2, m_k**0.5)
    t = optimize.brentq(lambda x: out.sf(x) - alpha, -60, 60)
    power = rho * sample.sf(t) + (1 - rho) * out.sf(t)
    corrected, printed = (
        azize.subsampled_tradeoff_corrected(leakage, rho),
        azize.subsampled_tradeoff_printed(leakage, rho),
    )
    assert 1 - float(corrected.beta(alpha)) == pytest.approx(power, rel=1e-9)
    assert float(printed.beta(alpha)) != pytest.approx(1 - power, abs=0.05)


def test_effective_mu_never_beats_the_leakage():
    rng = np.random.default_rng(3)
    data = mi.Bernoulli(rng.uniform(0.1, 0.9, 30))
    best = azize.leakage_score(data, data.easiest_target(), 50) ** 0.5
    result = [azize.effective_mu(rng.normal(size=30), data, data.easiest_target(), 50) for _ in range(200)]
    assert max(result) < best
    weights = (data.easiest_target() - data.mean) / data.variance
    assert azize.effective_mu(weights, data, data.easiest_target(), 50) == pytest.approx(best, rel=1e-12)


@pytest.mark.parametrize("rho", [None, 0.5])
def test_the_moment_lemmas_agree_with_summation_over_the_law(rho):
    """Moments of the polynomials by direct summation over Binomial laws."""
    p, n = 0.2, 40
    k = n if rho is None else round(rho * n)
    t, skew = (1 - p) / np.sqrt(p * (1 - p)), (1 - 2 * p) / np.sqrt(p * (1 - p))
    polynomial = (
        moment_formulas.mean_polynomial(t, skew, n)
        if rho is None
        else moment_formulas.subsampled_polynomial(t, skew, k, rho)
    )
    central = np.array([((1 - p) * (-p) ** r + p * (1 - p) ** r) for r in range(9)])
    s = np.arange(k + 1)
    x = (s - k * p) / np.sqrt(k * p * (1 - p))
    for law, table in (
        (stats.binom.pmf(s, k, p), moment_formulas.standardised_sum_moments(central, k)),
        (stats.binom.pmf(s - 1, k - 1, p), moment_formulas.inside_moments(central, t, k)),
    ):
        values = polynomial(x)
        mean, variance = moment_formulas.mean_and_variance(polynomial, table)
        assert mean == pytest.approx(law @ values, rel=1e-9, abs=1e-12)
        assert variance == pytest.approx(law @ (values - law @ values) ** 2, rel=1e-9, abs=1e-12)


def test_leakage_with_a_full_covariance_is_the_quadratic_form():
    covariance = np.array([[2.0, 0.5], [0.5, 1.0]])
    data = mi.Gaussian(np.zeros(2), covariance)
    z = np.array([1.0, -1.0])
    expected = z @ np.linalg.inv(covariance + 0.25 * np.eye(2)) @ z / 10
    assert azize.leakage_score(data, z, 10, record_deviation=0.5) == pytest.approx(expected)


def test_infinite_moments_stay_infinite():
    law = mi.StudentT(4.5, np.zeros(1), np.ones(1))
    central = np.array([law.central_moment(r)[0] for r in range(9)])
    table = moment_formulas.standardised_sum_moments(central, 10)
    assert np.isfinite(table[:5]).all()
    assert np.isinf(table[8])
