"""Powers of measures on a lattice against plain convolution, on circles of many lengths."""

import numpy as np
import pytest

from mipsim.sums.lattice import Circle, Measure, Power


@pytest.mark.parametrize("stride", [1, 2, 3, 5, 6, 12])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_tails_of_a_power(stride: int, count: int) -> None:
    """One place only is common, so that no frequency is negligible, and blocks are shorter than a circle needs."""
    rng = np.random.default_rng(stride * 100 + count)
    weights = np.concatenate([[0.9], 0.1 * rng.dirichlet(np.ones(6))])
    term = Measure(np.array([0, 1, 2, 3, 5, 8, 9]), weights, 0.0, 0.01, 0.0, 0.0)
    truth = np.ones(1)
    for _ in range(count):
        truth = np.convolve(truth, np.bincount(term.index, weights))
    blocks = 64
    law = Power([(term, count)], Circle(-4, blocks * stride, blocks), (3000.0, 3000.0))
    assert law.losses.size == blocks + 1
    assert law.losses[-1] - law.losses[0] == pytest.approx(0.01 * blocks * stride)
    places = np.arange(truth.size)
    for slope in (0.0, 3.0, -3.0):
        tilted = truth * np.exp(slope * (places * 0.01 - law.centre))
        for value, error, above in ((*law.up(slope), True), (*law.down(slope), False)):
            for start, low, wrong in zip(law.starts, value, error, strict=True):
                exact = tilted[places >= start].sum() if above else tilted[places < start].sum()
                assert abs(low - exact) <= wrong + 1e-300
            if blocks * stride > 2 * truth.size:
                assert error.max() < 1e-6
