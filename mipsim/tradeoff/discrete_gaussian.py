"""A whole number with discrete Gaussian noise."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.integer_noise import LEAST, most_shifted


def discrete_gaussian(scale: float, sensitivity: int = 1) -> AbstractTradeOff:
    """The curve of a whole number, which neighbours move by at most `sensitivity`, with noise X of P(X = x) in proportion to e^(-x^2 / (2 scale^2)).

    *Noise that is symmetric and log-concave on the whole numbers is dominated by its largest shift.* For X against X + j, j > 0, the ratio P(x - j) / P(x) rises
    in x, so that the best tests are "output >= c", mixed. The same test of X + k, k >= j, has the same FPR and no smaller TPR. A shift by -j is a
    reflection. So X against X + `sensitivity` dominates each release, and its compositions those of several. Vectors are released coordinate by coordinate, each
    with its own sensitivity; for less, such as by a norm of the whole vector, no pair is proven.

    Args:
        scale: in [0.1, 1e4]; a little more than the standard deviation.
        sensitivity: a whole number, from 1 to 10 scales.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Canonne, Kamath and Steinke (2020), "The discrete Gaussian for differential privacy", for the noise; Karlin and Rubin (1956) for the tests.

    Examples:
        >>> [round(float(bound), 6) for bound in discrete_gaussian(2.0).delta_bounds(0.5)]
        [0.054007, 0.054007]
    """
    s = number("scale", scale, 0.1, 1e4)
    k = np.arange(math.floor(s * math.sqrt(-2.0 * LEAST)) + 1)
    return most_shifted(np.exp(-0.5 * (k / s) ** 2), sensitivity, s, 8.0 * EPS * -LEAST)
