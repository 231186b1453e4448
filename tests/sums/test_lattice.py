"""Powers of measures on a lattice against plain convolution, on circles of many lengths, and against binomial laws."""

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import binom

from mipsim.sums.lattice import _CUTOFF, Circle, Measure, Power, _candidates, _waves


@pytest.mark.parametrize("stride", [1, 2, 3, 5, 6, 12])
@pytest.mark.parametrize("count", [1, 2, 7])
def test_tails_of_a_power(stride: int, count: int) -> None:
    """A single place is common, so that no frequency is negligible, and blocks are shorter than a circle needs."""
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
    middle = 0.5 * (law.losses[0] + law.losses[-1])
    for slope in (0.0, 3.0, -3.0):
        tilted = truth * np.exp(slope * (places * 0.01 - law.centre))
        for (value, error), above in zip(law.tails(slope), (True, False), strict=True):
            for start, low, wrong in zip(law.starts, value, error, strict=True):
                exact = tilted[places >= start].sum() if above else tilted[places < start].sum()
                assert abs(low - exact) <= wrong + 1e-300
            if blocks * stride > 2 * truth.size:
                assert error.max() * np.exp(slope * (law.centre - middle)) < 1e-6


def coin_tosses(count: int, p: float) -> float:
    """How far tails of many coins are off, less what the bound says; at most 0 if it holds."""
    coin = Measure(np.array([0, 1]), np.array([1.0 - p, p]), 0.0, 1.0, 0.0, 0.0)
    spread = np.sqrt(count * p * (1.0 - p))
    size = 1024 * max(1, int(np.ceil(26.0 * spread / 1024)))
    low = round(count * p) - size // 2
    value, error = Power([(coin, count)], Circle(low, size, 1024), (8.0 / spread, 8.0 / spread)).tails(0.0)[0]
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


@pytest.mark.parametrize("count", [2, 50, 3000, 400_000])
@pytest.mark.parametrize("seed", range(6))
def test_no_frequency_that_contributes_is_left_out(seed: int, count: int) -> None:
    rng = np.random.default_rng([seed, count])
    size = int(rng.choice([1 << 14, 3 << 13, 5 << 12]))
    span = int(rng.integers(1, size // 64))
    # Lattices in lattices, whose transforms come back to 1, smooth laws, and heavy places.
    places = (
        np.unique(
            np.append(rng.integers(0, span // rng.integers(1, 4) + 1, 30) * rng.integers(1, 3), [0, span])
        )
        - span // 2
    )
    weights = rng.dirichlet(np.full(places.size, rng.choice([0.05, 1.0]))) + 1e-12
    weights /= weights.sum()
    whole = np.abs(np.fft.rfft(np.bincount(places % size, weights, size)))
    contributing = np.flatnonzero(whole > np.exp(-_CUTOFF / count) + 1e-12)
    some = _candidates(places, weights, count, size)
    assert np.isin(contributing, some).all()
    assert np.abs(_waves(places, weights, some, size)) == pytest.approx(whole[some], abs=1e-13)


def test_candidates_of_a_larger_power_leave_some_out() -> None:
    """The control: a power of 100 times the count hears less."""
    places = np.arange(-8, 9)
    weights = np.exp(-0.5 * (places / 2.0) ** 2)
    few, many = (_candidates(places, weights / weights.sum(), count, 1 << 14) for count in (10_000, 100))
    assert few.size < many.size < 1 << 12


@pytest.mark.parametrize("up", [True, False])
def test_errors_hold_where_squares_of_tilts_underflow(up):
    # Tilts reach e^-460 here: their squares are 0 in float64, and what rounding makes of the sums is not.
    copies, slope = 10_000, -0.9 if up else 0.9
    coin = Measure(np.array([0, 1]), np.array([0.5, 0.5]), 0.0, 1.0, 0.0, 0.0)
    power = Power([(coin, copies)], Circle(copies // 2 - 512, 1024, 1024), (0.2, 0.2))
    value, error = power.tails(slope)[0 if up else 1]
    k = np.arange(copies + 1.0)
    logs = gammaln(copies + 1.0) - gammaln(k + 1.0) - gammaln(copies - k + 1.0) - copies * np.log(2.0)
    logs += slope * (k - power.centre)
    for place in (0, 20, 500, 1003, 1023):
        part = logs[k >= power.losses[place]] if up else logs[k < power.losses[place + 1]]
        true = float(np.exp(float(logsumexp(part))))  # pyright: ignore[reportArgumentType]
        at = place if up else place + 1
        assert abs(value[at] - true) <= error[at]
        assert error[at] > 1e-18 * np.exp(
            slope * (power.losses[at] - power.centre)
        )  # the floor of a transform
