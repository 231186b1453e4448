from math import fsum

import numpy as np
import pytest

from mipsim.tradeoff import GaussianTradeOff, PiecewiseLinearTradeOff
from mipsim.tradeoff.points import hull_corners


def test_it_walks_the_edges() -> None:
    curve = PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0])
    low, high = curve.beta_bounds(np.array([0, 0.125, 0.25, 0.625, 1]))
    truth = np.array([1, 0.625, 0.25, 0.125, 0])
    assert (low <= truth).all()
    assert (truth <= high).all()
    assert (high - low < 1e-13).all()
    least, most = curve.tpr_bounds(0.125)
    assert least <= 0.375 <= most < least + 1e-13


def test_randomised_response_is_epsilon_dp() -> None:
    """Flip a bit with probability 1 / (1 + e^eps): delta(epsilon) is 0 and delta below it is not."""
    for epsilon in (0.1, 1.0, 5.0):
        flip = 1 / (1 + np.exp(epsilon))
        curve = PiecewiseLinearTradeOff([0, flip, 1], [1, flip, 0])
        assert float(curve.delta(epsilon)) == pytest.approx(0.0, abs=1e-13)
        assert float(curve.delta(0.9 * epsilon)) > 1e-3
        assert curve.advantage() == pytest.approx(1 - 2 * flip)


def test_approximate_dp_has_its_delta() -> None:
    curve = PiecewiseLinearTradeOff([0, 0.99, 1], [0.99, 0, 0])
    assert curve.delta([0.0, 3.0, 500.0, 1e6]) == pytest.approx([0.01] * 4)


def test_a_fine_polygon_is_its_curve() -> None:
    alpha = np.unique(np.concatenate([[0, 1], np.geomspace(1e-9, 1, 3000), np.linspace(0, 1, 3000)]))
    curve = PiecewiseLinearTradeOff(alpha, GaussianTradeOff(1.0).beta(alpha))
    between = (alpha[1:] + alpha[:-1]) / 2
    assert np.allclose(curve.beta(between), GaussianTradeOff(1.0).beta(between), atol=1e-5)
    assert curve.advantage() == pytest.approx(GaussianTradeOff(1.0).advantage(), abs=1e-6)


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
