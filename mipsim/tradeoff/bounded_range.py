"""Adaptive runs of mechanisms whose privacy loss lies in an interval of a known length, such as exponential mechanisms: the largest delta by recursion."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS
from mipsim.tradeoff.sampled import SampledTradeOff, with_trivial_tests

_FINEST, _COARSEST, _COST = 256, 8, 4e7
"""Places of the lattice for each length, and places times runs times values that take about a second; with the fewest places five times as many."""
_REACH = 10.8  # by Hoeffding's bound the losses of runs are that many root runs lengths above their mean with at most e^-233
_SLACK = 64.0 * EPS  # relative, of the rates of a run


def places(length: float, runs: int) -> int:
    """How many places a length has on the lattice; 0 where too many would be needed, or no more than float64's rounding is hidden.
    >>> places(0.1, 100), places(0.1, 100_000), places(100.0, 100), places(1e-5, 2)
    (32, 0, 0, 0)
    """
    fine = _FINEST
    while fine > _COARSEST and runs * fine * _reach(length, runs, fine) > _COST:
        fine //= 2
    cheap = runs * fine * _reach(length, runs, fine) <= 5.0 * _COST
    return fine if cheap and length >= 1e-4 and runs * length**2 <= 100.0 else 0


def _reach(length: float, runs: int, fine: int) -> int:
    return min(runs * fine, math.ceil(fine * (runs * length / 8.0 + _REACH * math.sqrt(runs))))


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
    fine = places(length, runs)
    step, size = length / fine, _reach(length, runs, fine) + 1
    x, back = step * np.arange(size), np.arange(fine, 0, -1)
    fade, gone = np.exp(-step * back), -np.expm1(-step * back)
    t = step * np.arange(fine + 1)[:, None]
    b, rest = np.expm1(t - length) / math.expm1(-length), np.expm1(t) / math.expm1(length)
    w, c = np.exp(-t), -1.0 / math.expm1(-length)
    left, right, gap = w[:-1], w[1:], w[:-1] - w[1:]

    def shifted(before: np.ndarray, values: np.ndarray, beyond: float) -> np.ndarray:
        """Values at x - length, ..., x + length, a row for each place."""
        return sliding_window_view(np.concatenate([before, values, np.full(fine, beyond)]), size)

    def delta(values: np.ndarray, beyond: float) -> np.ndarray:
        return shifted(gone + fade * values[back], values, beyond)

    j, (most, less, fpr, tpr) = np.arange(size), np.zeros((4, size))
    for _ in range(runs):
        row = delta(most, most[-1])
        # Of both values of the loss, at both ends of each gap between two t.
        above, below = row[fine:0:-1], row[fine - 1 :: -1]
        left_out, right_out = row[2 * fine : fine : -1], row[2 * fine - 1 : fine - 1 : -1]
        with np.errstate(all="ignore"):
            rise, other_rise = (above - below) / gap, (left_out - right_out) / gap
            square = -c * math.exp(-length) * (below - right_out - (rise - other_rise) * right)
            best = np.sqrt(square / (other_rise + c * (rise - other_rise)))
        best = np.where(np.isfinite(best), np.clip(best, right, left), right)
        odds = np.clip(np.expm1(-length - np.log(best)) / math.expm1(-length), 0.0, 1.0)
        inner = odds * (below + rise * (best - right))
        inner += np.expm1(-np.log(best)) / math.expm1(length) * (right_out + other_rise * (best - right))
        ends = b[1:] * below + rest[1:] * right_out
        largest = np.maximum(ends, inner + 4.0 * _SLACK * c * above).max(axis=0)  # the best place is rounded
        most = np.minimum.accumulate(np.maximum(largest, most) * (1.0 + _SLACK))

        row = delta(less, 0.0)
        means = b[1:fine] * row[fine - 1 : 0 : -1] + rest[1:fine] * row[2 * fine - 1 : fine : -1]
        at = means.argmax(axis=0) + 1
        less, own, other = means[at - 1, j], b[at, 0], rest[at, 0]
        seen, false = shifted(1.0 - fpr[back], tpr, 0.0), shifted(1.0 - tpr[back], fpr, 0.0)
        tpr = own * seen[fine - at, j] + other * seen[2 * fine - at, j]
        fpr = w[at, 0] * (own * false[fine - at, j] + math.exp(length) * other * false[2 * fine - at, j])
    if (last := runs * length) > x[-1] and last < 600.0:  # where delta is 0
        most, x = np.append(most, 0.0), np.append(x, last)
    return BoundedTradeOff(_through(most, x), _tests(fpr, tpr, runs * _SLACK / (1.0 - float(tpr.max()))))


def _through(delta: np.ndarray, x: np.ndarray) -> SampledTradeOff:
    """The symmetric curve whose delta is a chord in e^x between these places, and does not fall beyond the last."""
    chosen = [0]
    for place, value in enumerate(delta.tolist()):
        if delta[chosen[-1]] - value > 1e-6 * delta[chosen[-1]]:  # a smaller fall may be rounding
            chosen.append(place)
    delta, x = delta[chosen], x[chosen]
    fall = delta[:-1] - delta[1:]
    fpr = fall * np.exp(-x[:-1]) / np.expm1(np.diff(x))
    tpr = delta[:-1] + np.exp(x[:-1]) * fpr
    fpr, tpr = np.append(fpr, 0.0), np.append(tpr, delta[-1])
    slack = EPS * (32.0 + 4.0 * float((delta[:-1] / fall).max())) / float((1.0 - tpr).min())
    return _mirrored((fpr, 1.0 - fpr, 1.0 - tpr, tpr), slack, float(delta[-1]))


def _tests(fpr: np.ndarray, tpr: np.ndarray, off: float) -> SampledTradeOff:
    seen = fpr > 1e-290
    fpr, tpr = fpr[seen] * (1.0 + off), tpr[seen] * (1.0 - off)
    return _mirrored((fpr, 1.0 - fpr, np.minimum(1.0 - tpr + 4.0 * EPS, 1.0), tpr), 4.0 * EPS)


def _mirrored(rates: tuple[np.ndarray, ...], slack: float, sure: float = 0.0) -> SampledTradeOff:
    """A curve through points from the largest FPR to the least, and those with both errors exchanged."""
    both = [
        np.concatenate([rate[::-1], other])
        for rate, other in zip(rates, (rates[2], rates[3], rates[0], rates[1]), strict=True)
    ]
    return SampledTradeOff.from_points(*with_trivial_tests(both, sure), slack=slack)
