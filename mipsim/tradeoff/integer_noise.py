"""The curve of noise on the whole numbers from its masses."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import whole
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

LEAST = math.log(1e-290)
"""Of a mass that is used, over the largest."""
_DEVIATIONS = 10.0  # of a largest shift: with more no output is likely in both worlds


def most_shifted(masses: np.ndarray, sensitivity: int, deviation: float, slack: float) -> SampledTradeOff:
    """Noise that is symmetric and log-concave against its shift by the sensitivity, at most 10 deviations.

    `masses`: at 0, 1, 2 and so on, times any factor; further out they fall by the last ratio at least. `slack`: of their ratios, relative.
    """
    shift = whole("sensitivity", sensitivity, 1, max(1, math.floor(_DEVIATIONS * deviation)))
    far = masses.size - 1
    total = float(masses[0] + 2.0 * masses[1:].sum())
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0) / total
    places = np.arange(far, shift - far, -1)
    beyond = float(masses[-1] ** 2 / (masses[-2] - masses[-1])) / total if far else 1.0
    lost = 2.0 * (float(tails[max(far + 1 - shift, 0)]) + beyond)
    return threshold_tests(tails, places, shift, slack + 2.0 * EPS * masses.size, lost)


def threshold_tests(
    tails: np.ndarray, places: np.ndarray, shift: int, slack: float, lost: float = 0.0
) -> SampledTradeOff:
    """The curve of the tests "output >= c" at these c, of noise with P(X >= k) at k = 0, 1, 2 and so on."""

    def tail(c: np.ndarray) -> np.ndarray:
        at = tails[np.clip(np.where(c > 0, c, 1 - c), 0, tails.size - 1)]
        return np.where(c > 0, at, 1.0 - at)

    rates = tail(places), tail(1 - places), tail(1 - places + shift), tail(places - shift)
    return SampledTradeOff.from_points(
        *with_trivial_tests(rates),
        slack=slack,
        lost=lost,
        losses=(math.inf, -math.inf) if lost else (-math.inf, math.inf),
    )
