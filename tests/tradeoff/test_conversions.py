"""Numbers of a curve against closed forms and quadrature."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ndtr, ndtri

from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    PiecewiseLinearTradeOff,
)

CURVES = [
    GaussianTradeOff(1.0),
    LaplaceTradeOff(1.5),
    FoldedLaplaceTradeOff(2.0),
    ApproxDPTradeOff(1.0, 0.05),
    MixtureTradeOff(GaussianTradeOff(2.0), 0.3),
    PiecewiseLinearTradeOff([0, 0.2, 0.5, 1], [0.9, 0.5, 0.2, 0]),
]
curves = pytest.mark.parametrize("curve", CURVES, ids=lambda c: type(c).__name__)


@pytest.mark.parametrize("mu", [0.05, 1.0, 6.0])
def test_delta_and_epsilon_of_a_gaussian(mu: float) -> None:
    eps = np.linspace(0.0, 8.0, 41)
    # Dong, Roth and Su, corollary 2.13.
    expected = ndtr(-eps / mu + mu / 2) - np.exp(eps) * ndtr(-eps / mu - mu / 2)
    got = GaussianTradeOff(mu).delta(eps)
    assert np.allclose(got, expected, rtol=1e-9, atol=1e-14)
    some = got > 1e-200
    assert np.allclose(GaussianTradeOff(mu).epsilon(got[some]), eps[some], atol=1e-9)
    assert float(GaussianTradeOff(mu).epsilon(0.0)) == np.inf
    assert float(GaussianTradeOff(mu).epsilon(1.0)) == 0.0


def test_epsilon_zero_and_infinite() -> None:
    curve = ApproxDPTradeOff(1.0, 0.05)
    assert curve.epsilon([0.0, 0.04, 0.05, 1.0]).tolist() == pytest.approx(
        [np.inf, np.inf, 1.0, 0.0], abs=1e-9
    )
    assert float(LaplaceTradeOff(1.5).epsilon(0.0)) == pytest.approx(1.5, abs=1e-12)
    # A mixture with blind guessing has its largest loss at log(1 - rho + rho e^mu).
    assert float(MixtureTradeOff(LaplaceTradeOff(1.5), 0.2).epsilon(0.0)) == pytest.approx(
        np.log(0.8 + 0.2 * np.exp(1.5)), abs=1e-12
    )


@curves
def test_bayes_risk_is_the_least_over_a_fine_grid(curve: AbstractTradeOff) -> None:
    alpha = np.unique(np.concatenate([np.linspace(0, 1, 200_001), np.geomspace(1e-9, 1, 20_001)]))
    beta = curve.beta(alpha)
    for prior in (0.0, 0.01, 0.3, 0.5, 0.8, 0.99, 1.0):
        grid = float((prior * beta + (1 - prior) * alpha).min())
        result = float(curve.bayes_risk(prior))
        assert result <= grid + 1e-14
        assert result == pytest.approx(grid, abs=5e-6)  # the spacing: the grid may miss a corner
    assert float(curve.bayes_risk(0.5)) == pytest.approx(0.5 - curve.eta(), abs=1e-12)


@pytest.mark.evidence
@curves
def test_auc(curve: AbstractTradeOff) -> None:
    knots = [0.0, 1e-6, 1e-3, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0]
    area = sum(
        quad(lambda a: float(curve.beta(a)), s, t, epsabs=1e-12, limit=400)[0] for s, t in pairwise(knots)
    )
    assert curve.auc() == pytest.approx(1 - area, abs=2e-9)
    assert curve.inverse().auc() == pytest.approx(curve.auc(), abs=2e-9)


def test_the_auc_of_many_corners() -> None:
    """Forty thousand random steps."""
    rng = np.random.default_rng(0)
    slopes = -np.sort(-rng.exponential(size=40_000))
    alpha = np.r_[0.0, np.sort(rng.uniform(size=39_999)), 1.0]
    beta = 1.0 - np.r_[0.0, np.cumsum(slopes * np.diff(alpha))] / (slopes * np.diff(alpha)).sum()
    low, high = PiecewiseLinearTradeOff(alpha, np.maximum(beta, 0.0)).auc_bounds()
    assert low <= 1.0 - np.trapezoid(beta, alpha) <= high < low + 1e-9


def test_auc_in_closed_form() -> None:
    assert GaussianTradeOff(2.0).auc() == pytest.approx(ndtr(2**0.5), abs=1e-10)
    corners = PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0])
    assert corners.auc() == pytest.approx(1 - (0.25 * 0.625 + 0.75 * 0.125), abs=1e-10)


def test_mu_of_pure_dp() -> None:
    # The corner (1 / (1 + e^eps), same) is where G_mu touches.
    eps = 1.7
    assert ApproxDPTradeOff(eps).least_mu() == pytest.approx(-2 * ndtri(1 / (1 + np.exp(eps))), abs=1e-9)
    assert ApproxDPTradeOff(eps, 0.01).least_mu() == np.inf
    assert ApproxDPTradeOff(0.0).least_mu() == pytest.approx(0.0, abs=1e-9)
    assert GaussianTradeOff(40.0).least_mu() == 40.0


@pytest.mark.evidence
@pytest.mark.parametrize(
    "curve", [LaplaceTradeOff(1.0), FoldedLaplaceTradeOff(3.0), MixtureTradeOff(LaplaceTradeOff(2.0), 0.4)]
)
def test_mu_is_the_least_and_the_regret_is_as_defined(curve: AbstractTradeOff) -> None:
    mu, regret = curve.mu_and_regret()
    alpha = ndtr(np.linspace(-8, 8, 20_001))
    assert (GaussianTradeOff(mu).beta(alpha) <= curve.beta(alpha) + 1e-12).all()
    assert (GaussianTradeOff(mu - 1e-4).beta(alpha) > curve.beta(alpha)).any()
    # inf{k : f(a + k) - k <= G(a)} by bisection, where f is 0 beyond 1.
    low, high = 0.0, 1.0
    claimed = GaussianTradeOff(mu).beta(alpha)
    for _ in range(50):
        k = 0.5 * (low + high)
        met = (curve.beta(np.minimum(alpha + k, 1.0)) - k <= claimed + 1e-15).all()
        low, high = (low, k) if met else (k, high)
    assert regret == pytest.approx(high, abs=1e-6)
    assert GaussianTradeOff(1.3).mu_and_regret()[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("last", [1.0 - 2e-16, 1.0 + 2e-16, 1.0 - 1e-13])
def test_a_last_corner_moved_by_rounding_is_1(last: float) -> None:
    """The sum of ten tenths is 1 - 1e-16."""
    curve = PiecewiseLinearTradeOff([0.0, 0.5, last], [1.0, 0.25, 0.0])
    assert curve.alpha[-1] == 1.0
    assert curve.beta(0.75) == PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0]).beta(0.75)
    with pytest.raises(ValueError, match="it must run from 0 to 1"):
        PiecewiseLinearTradeOff([0.0, 0.5, 1.0 - 1e-9], [1.0, 0.25, 0.0])
