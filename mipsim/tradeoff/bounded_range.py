"""Adaptive runs of mechanisms whose privacy loss lies in an interval of a known length, such as exponential mechanisms."""

from __future__ import annotations

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.convex_hull import convex_hull
from mipsim.tradeoff.loss_lattice import SLACK, LossLattice
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

_RARE = 1e-290  # an FPR below it is left out


def adaptive_runs(length: float, runs: int) -> BoundedTradeOff:
    """The least curve that any adversary reaches who chooses each run by the releases before, and its loss from an interval [t - length, t], t too.

    Let V_i(x) be the largest E (1 - e^(x - L))_+ of the loss L of i runs in the world "in". It is convex in e^x, as a supremum of such functions. The first loss l
    has E e^-l = 1, and V_(i - 1)(x - l) is convex in e^-l. So its mean is largest for two values, the ends of the interval: V_i(x) is the largest
    b V_(i - 1)(x - t) + (1 - b) V_(i - 1)(x - t + length), b = (1 - e^(t - length)) / (1 - e^-length). V_0 is (1 - e^x)_+. Exchanged worlds exchange t and length - t.

    *More*: on a lattice of x, between whose places chords in e^x are above V. Of t between places too, that mean is A + B w + C / w, w = e^-t, whose largest value is
    at an end or at w^2 = C / B. *Less*: FPR and TPR of the tests that a recursion with t on the lattice chooses.

    Source: Dong, Durfee and Rogers (2020), "Optimal differential privacy composition for exponential mechanisms", for two values and the recursion.

    >>> [round(end, 3) for end in adaptive_runs(0.1, 100).epsilon_bounds(1e-6)]
    [2.25, 2.252]
    """
    lattice = LossLattice(length, runs)
    x, most = lattice.x, lattice.largest_delta()
    if (last := runs * length) > x[-1] and last < 600.0:  # where delta is 0
        most, x = np.append(most, 0.0), np.append(x, last)
    fpr, tpr = lattice.best_tests()
    seen, off = fpr > _RARE, runs * SLACK / (1.0 - float(tpr.max()))
    less = _both_ways(fpr[seen] * (1.0 + off), tpr[seen] * (1.0 - off), 4.0 * EPS, missed=4.0 * EPS)
    return BoundedTradeOff(_through(most, x), less)


def _through(delta: np.ndarray, x: np.ndarray) -> AbstractTradeOff:
    """The symmetric curve whose delta is a chord in e^x between these places, and does not fall beyond the last."""
    chosen = [0]
    for place, value in enumerate(delta.tolist()):
        if delta[chosen[-1]] - value > 1e-6 * delta[chosen[-1]]:  # a smaller fall may be rounding
            chosen.append(place)
    delta, x = delta[chosen], x[chosen]
    fall = delta[:-1] - delta[1:]
    fpr = fall * np.exp(-x[:-1]) / np.expm1(np.diff(x))
    tpr = delta[:-1] + np.exp(x[:-1]) * fpr
    slack = EPS * (32.0 + 4.0 * float((delta[:-1] / fall).max())) / float((1.0 - tpr).min())
    return _both_ways(fpr, tpr, slack, sure=float(delta[-1]))


def _both_ways(
    fpr: np.ndarray, tpr: np.ndarray, slack: float, missed: float = 0.0, sure: float = 0.0
) -> AbstractTradeOff:
    """The hull of a curve through these points and its inverse."""
    rates = fpr, 1.0 - fpr, np.minimum(1.0 - tpr + missed, 1.0), tpr
    half = SampledTradeOff.from_points(*with_trivial_tests(rates, sure), slack=slack)
    return convex_hull(half, half.inverse())
