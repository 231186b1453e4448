"""A whole number with Skellam noise."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.integer_noise import LEAST, most_shifted


def skellam(variance: float, sensitivity: int = 1) -> AbstractTradeOff:
    """The curve of a whole number with the difference of two Poisson variables of mean variance / 2 as noise; see `discrete_gaussian`.

    Poisson masses p satisfy p_k^2 >= p_(k-1) p_(k+1); sums of independent log-concave variables are log-concave, and this sum is symmetric.
    The ratios P(k) / P(k - 1) = I_k / I_(k-1)(variance) are 1 / (2 k / variance + the next ratio): positive terms, from far out, where no start matters.

    Args:
        variance: in [0.01, 1e6].
        sensitivity: a whole number, from 1 to 10 standard deviations, or 1.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Agarwal, Kairouz and Liu (2021), "The Skellam mechanism for differentially private federated learning", for the noise; Hoggar
    (1974), "Chromatic polynomials and logarithmic concavity", for sums.

    Examples:
        >>> [round(float(bound), 6) for bound in skellam(4.0).delta_bounds(0.5)]
        [0.052675, 0.052675]
    """
    v = number("variance", variance, 0.01, 1e6)
    ratios, off = [1.0], [1.0]  # the next is right to all digits, some steps on
    for k in range(math.ceil(40.0 * math.sqrt(v)) + 400, 0, -1):
        ratios.append(1.0 / (2.0 * k / v + ratios[-1]))
        off.append(ratios[-1] * ratios[-2] * off[-1] + 4.0 * EPS)
    log_masses = np.cumsum(np.log(ratios[:0:-1]))
    used = log_masses > LEAST
    masses = np.append(1.0, np.cumprod(ratios[:0:-1])[used])
    slack = float(np.cumsum(off[:0:-1])[used][-1]) + 4.0 * EPS * masses.size
    return most_shifted(masses, sensitivity, math.sqrt(v), slack)
