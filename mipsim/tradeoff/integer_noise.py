"""Whole numbers with noise on the whole numbers: discrete Gaussian, Skellam and discrete Laplace."""

from __future__ import annotations

import math

import numpy as np

from mipsim._validation import number, whole
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

_LEAST = math.log(1e-290)  # of a mass that is used, over the largest
_DEVIATIONS = 10.0  # of a largest shift: with more no output is likely in both worlds
_FURTHEST = 600.0  # the largest loss of discrete Laplace noise


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
    k = np.arange(math.floor(s * math.sqrt(-2.0 * _LEAST)) + 1)
    return _shifted(np.exp(-0.5 * (k / s) ** 2), _shift(sensitivity, s), 8.0 * EPS * -_LEAST)


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
    used = log_masses > _LEAST
    masses = np.append(1.0, np.cumprod(ratios[:0:-1])[used])
    slack = float(np.cumsum(off[:0:-1])[used][-1]) + 4.0 * EPS * masses.size
    return _shifted(masses, _shift(sensitivity, math.sqrt(v)), slack)


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
    return _tests(tails, np.arange(1, shift + 1), shift, 8.0 * EPS * (2.0 + shift / s))


def _shift(sensitivity: int, deviation: float) -> int:
    return whole("sensitivity", sensitivity, 1, max(1, math.floor(_DEVIATIONS * deviation)))


def _shifted(masses: np.ndarray, shift: int, slack: float) -> SampledTradeOff:
    """Of noise with these masses at 0, 1, 2 and so on, times any factor; further out they fall by the last ratio at least."""
    far = masses.size - 1
    total = float(masses[0] + 2.0 * masses[1:].sum())
    tails = np.append(np.cumsum(masses[::-1])[::-1], 0.0) / total
    places = np.arange(far, shift - far, -1)
    slack += 2.0 * EPS * masses.size
    beyond = float(masses[-1] ** 2 / (masses[-2] - masses[-1])) / total if far else 1.0
    return _tests(tails, places, shift, slack, 2.0 * (float(tails[max(far + 1 - shift, 0)]) + beyond))


def _tests(
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
