"""The formulas of Leemann et al., each against a route that does not use it."""

import math

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.theory import leemann
from mipsim.tradeoff import GaussianTradeOff, compose


@pytest.mark.parametrize(("d", "n", "k"), [(1, 2, 0.0), (650, 500, 650.0), (7, 30, 100.0)])
def test_mu_of_one_step_is_the_difference_of_means_in_standard_deviations(d, n, k):
    out = stats.ncx2(d, n * k) if k else stats.chi2(d)
    inside = stats.ncx2(d, (n - 1) * k) if k else stats.chi2(d)
    # n |m - theta|^2 under H0, and under H1 times (n - 1)/n.
    by_moments = (out.mean() - inside.mean() * (n - 1) / n) / out.std()
    assert leemann.step_mu(d, n, k) == pytest.approx(by_moments, rel=1e-9)


def test_the_paper_s_settings_have_the_paper_s_mu():
    for d, n in ((650, 500), (2580, 1970), (1026, 790)):
        assert round(leemann.step_mu(d, n, d), 2) == 1.14
        assert leemann.step_mu(d, n, d) == pytest.approx(math.sqrt(2 * d / (2 * n + 1)), rel=1e-12)


def test_long_run_mu_is_the_limit_of_compositions():
    # The symmetrised curve composes to equation 10, the game's own curve to the smaller mu. At 4,096 steps both are
    # within some per cent, and 10 per cent away from each other's mu.
    step, c, steps = 0.7, 0.6, 4096
    alpha = np.array([0.05, 0.3, 0.7])
    way = mi.MixtureTradeOff(GaussianTradeOff(step), c / steps**0.5)
    both_ways = compose(mi.convex_hull(way, way.inverse()), copies=steps).beta(alpha)
    direct = compose(way, copies=steps).beta(alpha)
    large, small = leemann.long_run_mu(step, c), c * math.sqrt(math.expm1(step**2))
    assert large > 1.1 * small
    np.testing.assert_allclose(both_ways, GaussianTradeOff(large).beta(alpha), atol=0.01)
    np.testing.assert_allclose(direct, GaussianTradeOff(small).beta(alpha), atol=0.01)
    assert np.abs(direct - GaussianTradeOff(large).beta(alpha)).max() > 0.012


def test_long_run_mu_of_small_steps_has_no_cancellation():
    # For small s the bracket is s^2/2 x 2 + ... : mu = c s to first order, by Taylor expansion of each term.
    for s in (1e-3, 1e-6):
        first = 2 * (s**2 / 2 + s * 1.5 / math.sqrt(2 * math.pi) - 1.5 * s / math.sqrt(2 * math.pi))
        assert leemann.long_run_mu(s, 1.0) == pytest.approx(math.sqrt(first), rel=1e-2)


def test_the_step_of_a_run_is_the_inverse_of_equation_10():
    for step, c in ((0.05, 3.0), (1.0, 0.2), (4.0, 0.1)):
        assert leemann.step_for_long_run_mu(leemann.long_run_mu(step, c), c) == pytest.approx(step, rel=1e-9)


def test_noise_reaches_the_wanted_mu():
    for mu in (0.2, 0.5, 1.0):
        tau = leemann.noise_for_step_mu(mu, 650, 500, 650.0, 2.0)
        rows = 500 + (tau * 500 / 2.0) ** 2  # n_eff of theorem 5.1
        assert leemann.step_mu(650, rows, 650.0) == pytest.approx(mu, rel=1e-8)
    assert leemann.noise_for_dp(0.5, 10, 3.0) == pytest.approx(2 * 3.0 / 10 / 0.5)
