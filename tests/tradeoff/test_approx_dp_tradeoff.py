import numpy as np
import pytest

from mipsim.tradeoff import ApproxDPTradeOff, DeltaProfileTradeOff, GaussianTradeOff


def test_it_is_the_curve_of_randomised_response_that_sometimes_tells_all() -> None:
    # Four outcomes: (out, in) masses; the optimal test is Neyman and Pearson's.
    eps, delta = 1.2, 0.07
    keep = (1 - delta) / (1 + np.exp(eps))
    out = np.array([0.0, keep, keep * np.exp(eps), delta])
    inside = np.array([delta, keep * np.exp(eps), keep, 0.0])
    curve = ApproxDPTradeOff(eps, delta)
    assert np.allclose(curve.tpr_at(np.minimum(np.cumsum(out), 1.0)), np.cumsum(inside), atol=1e-14)
    assert curve.eta() == pytest.approx(delta + (1 - delta) / (1 + np.exp(-eps)) - 0.5, abs=1e-12)


def test_delta_and_epsilon_come_back() -> None:
    curve = ApproxDPTradeOff(1.2, 0.07)
    for eps in (1.2, 5.0):
        low, high = curve.delta_bounds(eps)
        assert low <= 0.07 <= high < low + 1e-14
    assert float(curve.epsilon(0.07)) == pytest.approx(1.2, abs=1e-9)
    assert float(curve.epsilon(0.069)) == np.inf


def test_a_profile_gives_back_its_curve_and_never_more() -> None:
    true, alpha = GaussianTradeOff(1.5), np.geomspace(1e-6, 0.999, 50)
    grid = np.linspace(0.0, 12.0, 3001)
    again = DeltaProfileTradeOff(grid, true.delta(grid)).beta(alpha)
    assert (again <= true.beta(alpha) + 1e-14).all()
    assert np.allclose(again, true.beta(alpha), atol=1e-6)  # cells of 0.004: second order
    coarse = DeltaProfileTradeOff([0.0, 1.0], true.delta([0.0, 1.0])).beta(alpha)
    assert (coarse < again).any()
