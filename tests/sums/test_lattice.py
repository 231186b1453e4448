"""Powers of measures on a lattice against binomial laws."""

import numpy as np
import pytest
from scipy.stats import binom

from mipsim.sums.lattice import Circle, Measure, Power


@pytest.mark.parametrize("stride", [1, 2, 3, 5, 6, 8])
@pytest.mark.parametrize("count", [1, 2, 40])
def test_a_sum_of_coins_is_binomial_on_every_circle(stride: int, count: int) -> None:
    """The fewer the coins, the more frequencies are heard, and the more blocks the circle is cut into."""
    coin = Measure(np.array([0, 7]), np.array([0.75, 0.25]), 0.0, 1.0, 0.0, 0.0)
    circle = Circle(-40, 1024 * stride, 1024)
    power = Power([(coin, count)], circle, (2.0, 2.0))
    assert power.stride * power.blocks == circle.size
    assert np.array_equal(power.starts, circle.low + power.stride * np.arange(power.blocks + 1))
    for tails, exact in (
        (power.up(0.0), binom.sf(np.ceil(power.starts / 7) - 1, count, 0.25)),
        (power.down(0.0), binom.cdf(np.ceil(power.starts / 7) - 1, count, 0.25)),
    ):
        value, error = tails
        assert error.max() < 1e-7
        assert (np.abs(value - exact) <= error + 1e-12).all()
