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


def coin_tosses(count: int, p: float) -> float:
    """How far tails of many coins are off, less what the bound says; at most 0 if it holds."""
    coin = Measure(np.array([0, 1]), np.array([1.0 - p, p]), 0.0, 1.0, 0.0, 0.0)
    spread = np.sqrt(count * p * (1.0 - p))
    size = 1024 * max(1, int(np.ceil(26.0 * spread / 1024)))
    low = round(count * p) - size // 2
    value, error = Power([(coin, count)], Circle(low, size, 1024), (8.0 / spread, 8.0 / spread)).up(0.0)
    power = low + size // 1024 * np.arange(1025)
    # SciPy's tails are right to 1e-11 of themselves.
    exact = binom.sf(power - 1.0, count, p)
    return float(
        (
            np.abs(value[:: (value.size - 1) // 1024] - exact)
            - error[:: (value.size - 1) // 1024]
            - 1e-11 * exact
        ).max()
    )


@pytest.mark.parametrize("count", [3, 1000, 100_000, 1_000_000])
@pytest.mark.parametrize("p", [0.25, 0.5])
def test_no_rounding_of_a_transform_exceeds_the_bound(count: int, p: float) -> None:
    assert coin_tosses(count, p) <= 0.0


def test_a_transform_that_is_taken_for_exact_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: no rounding is counted."""
    for name in ("LEVEL", "UNIT"):
        monkeypatch.setattr(f"mipsim.sums.lattice.{name}", 0.0)
    assert coin_tosses(1_000_000, 0.25) > 0.0
