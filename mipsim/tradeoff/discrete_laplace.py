"""A whole number with discrete Laplace noise."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number, whole
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.integer_noise import threshold_tests

_FURTHEST = 600.0  # the largest loss


def discrete_laplace(scale: float, sensitivity: int = 1) -> AbstractTradeOff:
    """The curve of a whole number with noise X of P(X = x) in proportion to e^(-|x| / scale), the geometric mechanism; see `discrete_gaussian`.

    Beyond both centres the loss is constant, so that the tests "output >= c" with c from 1 to `sensitivity` are all.

    Args:
        scale: in [0.01, 1e4].
        sensitivity: a whole number, from 1 to 600 scales.

    Raises:
        ValueError: if an argument is outside its range.

    Source: Ghosh, Roughgarden and Sundararajan (2009), "Universally utility-maximizing privacy mechanisms".

    Examples:
        >>> round(discrete_laplace(1.0, 2).epsilon(0.0), 6), round(discrete_laplace(1.0, 2).advantage(), 6)
        (2.0, 0.632121)
    """
    s = number("scale", scale, 0.01, 1e4)
    shift = whole("sensitivity", sensitivity, 1, math.floor(_FURTHEST * s))
    masses = np.exp(-np.arange(shift + 2) / s)
    tails = masses / (1.0 + math.exp(-1.0 / s))
    return threshold_tests(tails, np.arange(1, shift + 1), shift, 8.0 * EPS * (2.0 + shift / s))
