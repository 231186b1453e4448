from math import fsum

import numpy as np
import pytest

from mipsim.tradeoff import PiecewiseLinearTradeOff, compose
from mipsim.tradeoff.points import hull_corners


def test_rounding_is_forgiven() -> None:
    PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0.5 + 5e-13, 0])


@pytest.mark.parametrize("share", [-1e-14, -2e-15, 2e-15, 1e-14])
def test_a_corner_of_a_hull_does_not_depend_on_how_many_points_lie_within(share: float) -> None:
    """200,000 rises make a single edge; the next is as steep but for a few roundings, which the rounding of a plain sum hides."""
    rng = np.random.default_rng(0)
    out = rng.random(200_000) * 1e-6
    inside = out * np.linspace(1.0, 1.5, out.size) * (1.0 + 0.01 * rng.random(out.size))
    steep = 0.1 * fsum(inside) / fsum(out) * (1.0 + share)
    retained = hull_corners(np.append(out, 0.1), np.append(inside, steep))
    assert retained == ([0, out.size + 1] if share > 0.0 else [0, out.size, out.size + 1])


def test_the_auc_of_many_corners() -> None:
    """Forty thousand random steps."""
    rng = np.random.default_rng(0)
    slopes = -np.sort(-rng.exponential(size=40_000))
    alpha = np.r_[0.0, np.sort(rng.uniform(size=39_999)), 1.0]
    beta = 1.0 - np.r_[0.0, np.cumsum(slopes * np.diff(alpha))] / (slopes * np.diff(alpha)).sum()
    low, high = PiecewiseLinearTradeOff(alpha, np.maximum(beta, 0.0)).auc_bounds()
    assert low <= 1.0 - np.trapezoid(beta, alpha) <= high < low + 1e-9


@pytest.mark.parametrize("last", [1.0 - 2e-16, 1.0 + 2e-16, 1.0 - 1e-13])
def test_a_last_corner_moved_by_rounding_is_1(last: float) -> None:
    """The sum of ten tenths is 1 - 1e-16."""
    curve = PiecewiseLinearTradeOff([0.0, 0.5, last], [1.0, 0.25, 0.0])
    assert curve.alpha[-1] == 1.0
    assert curve.beta(0.75) == PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0]).beta(0.75)
    with pytest.raises(ValueError, match="it must run from 0 to 1"):
        PiecewiseLinearTradeOff([0.0, 0.5, 1.0 - 1e-9], [1.0, 0.25, 0.0])


def test_a_last_fnr_moved_by_rounding_is_0() -> None:
    """As 1 less a sum of powers is; operations look for the corner at 0."""
    moved, curve = (PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, last]) for last in (2e-16, 0.0))
    assert moved.corners[-1] == 0.0
    assert compose(moved, copies=2).delta_bounds(0.1) == compose(curve, copies=2).delta_bounds(0.1)
    assert moved.inverse().beta(0.25) == curve.inverse().beta(0.25)
