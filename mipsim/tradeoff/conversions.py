"""Numbers that a trade-off function is summarised by, each between proven bounds."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mipsim._budget import noted
from mipsim.tradeoff.bounds import EPS, log_complement, log_difference, lowered, probit_of_log, raised
from mipsim.tradeoff.partition import GRID, Corners, Enclosed, Partition

Bounds = tuple[np.ndarray, np.ndarray]

# relative: to which the bounds of a number are brought together; of curves that may be rough
_NARROW, _NARROW_OF_OTHERS = 1e-13, 1e-6
_TOGETHER = 32  # queries that refine the same set of points
_AREA, _AREA_POINTS = 1e-9, 1 << 17  # of the AUC
_AREA_ENDS = 6.5  # probits of FPRs between which it is looked for: beyond lies less than 1e-10 of the area
_SLACK = 8.0 * EPS


def _in_groups(values: np.ndarray, bounds: Callable[[np.ndarray], Bounds]) -> Bounds:
    """Bounds for each value; a few at a time, since each group refines its own points."""
    flat = values.reshape(-1, 1)
    parts = [bounds(flat[i : i + _TOGETHER]) for i in range(0, flat.shape[0], _TOGETHER)]
    if not parts:
        return values.copy(), values.copy()
    low, high = (np.concatenate(ends).reshape(values.shape) for ends in zip(*parts, strict=True))
    return low, high


def _near(curve: Enclosed) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """Whether logarithms are within the width wanted."""
    narrow = _width(curve)

    def enough(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return (high <= low) | (high - low <= narrow)

    return enough


def _width(curve: Enclosed) -> float:
    return _NARROW if curve._is_smooth() else _NARROW_OF_OTHERS


def log_delta(curve: Enclosed, epsilon: np.ndarray) -> Bounds:
    """Bounds of log sup_a TPR(a) - e^epsilon a for epsilon >= 0, any shape.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> low, high = log_delta(GaussianTradeOff(1.0), np.array([0.0]))
    >>> print(np.exp(low).round(6), np.exp(high).round(6))
    [0.382925] [0.382925]
    """

    def heights(eps: np.ndarray) -> Bounds:
        def height(points: Corners, up: bool) -> np.ndarray:
            tpr, fpr = points.log_tpr, points.log_fpr
            paid = eps + fpr
            slack = _SLACK * (eps + np.abs(_finite(fpr)) + np.abs(_finite(tpr)))
            paid = paid - slack if up else paid + slack
            return log_difference(np.broadcast_to(tpr, paid.shape), np.minimum(paid, tpr))

        return curve._supremum(height, eps.shape[0], _near(curve))

    none = epsilon >= curve.largest_loss_bounds()[1]  # TPR <= e^epsilon FPR everywhere
    low, high = np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
    low[~none], high[~none] = _in_groups(epsilon[~none], heights)
    low, high = lowered(low), raised(high)
    noted("delta", (np.exp(low), np.exp(high)))
    return low, high


def _finite(log_p: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(log_p), log_p, 0.0)


def epsilon(curve: Enclosed, log_of_delta: np.ndarray) -> Bounds:
    """Bounds of the least epsilon >= 0 with delta(epsilon) <= delta: sup_a log((TPR(a) - delta) / a)."""

    def enough(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return (high <= np.maximum(low, 0.0)) | (high - low <= _width(curve) * np.maximum(1.0, high))

    def losses(log_d: np.ndarray) -> Bounds:
        def loss(points: Corners, up: bool) -> np.ndarray:
            tpr, fpr = points.log_tpr, points.log_fpr
            slack = _SLACK * (np.abs(_finite(log_d)) + np.abs(_finite(tpr)))
            less = log_d - slack if up else log_d + slack
            retained = log_difference(np.broadcast_to(tpr, less.shape), np.minimum(less, tpr))
            with np.errstate(invalid="ignore"):
                value = retained - fpr
            moved = _SLACK * (np.abs(_finite(retained)) + np.abs(_finite(fpr)))
            value = np.where(np.isneginf(retained), -np.inf, value)  # also where the FPR is 0
            return value + moved if up else value - moved

        return curve._supremum(loss, log_d.shape[0], enough)

    low, high = _in_groups(log_of_delta, losses)
    none = np.isneginf(log_of_delta)
    if (open_above := none | np.isposinf(high)).any():
        least, most = curve.largest_loss_bounds()
        low = np.where(none, np.maximum(low, least), low)
        high = np.where(open_above, np.minimum(high, most), high)
    return noted("epsilon", (np.maximum(low, 0.0), np.maximum(high, 0.0)))


def bayes_risk(curve: Enclosed, prior: np.ndarray) -> Bounds:
    """Bounds of min over a of prior f(a) + (1 - prior) a, with prior = P(in), any shape.

    riskcal takes the prior of the other world: for a symmetric curve both are the same at 1 - prior.

    Source: Kulynych et al. (2025), proposition D.1.
    """

    def risks(p: np.ndarray) -> Bounds:
        with np.errstate(divide="ignore"):
            member, other = np.log(p), np.log1p(-p)

        def gain(points: Corners, up: bool) -> np.ndarray:
            with np.errstate(invalid="ignore"):
                return -np.logaddexp(member + points.log_fnr, other + points.log_fpr)

        return curve._supremum(gain, p.shape[0], _near(curve))

    low, high = _in_groups(prior, risks)
    with np.errstate(over="ignore"):
        worst = np.minimum(np.minimum(prior, 1.0 - prior), np.exp(raised(-low, 32.0)))
        return noted("a Bayes risk", (np.minimum(np.exp(lowered(-high, 32.0)), worst), worst))


def auc(curve: Enclosed) -> tuple[float, float]:
    """Bounds of the area under the ROC curve, 1e-9 apart where the curve is convex or has few vertices."""
    vertices = curve.vertices()
    if vertices is not None:
        ends = []
        for x, rate in (
            (vertices.log_fpr_low, vertices.bounds.log_tpr_high),
            (vertices.log_fpr_high, vertices.bounds.log_tpr_low),
        ):
            fpr, tpr = np.append(np.exp(x), 1.0), np.append(np.exp(rate), 1.0)
            ends.append(float((np.diff(fpr) * (tpr[1:] + tpr[:-1])).sum() / 2.0))
        error = _SLACK * (vertices.log_fpr_low.size + 8)
        return max(0.0, ends[1] - error), min(1.0, ends[0] + error)
    points = Partition(curve, GRID[(np.abs(GRID) < _AREA_ENDS) | np.isinf(GRID)])
    while True:
        fpr, (low_fnr, high_fnr) = np.exp(points.log_fpr), np.exp(points.bounds[:2])
        width = np.exp(log_difference(points.log_fpr[1:], points.log_fpr[:-1]))
        at, missed = (np.exp(part) for part in points.corners()[:2])
        if points.convex:
            before = np.clip(at - fpr[:-1], 0.0, width)
            least = 0.5 * (before * (low_fnr[:-1] + missed) + (width - before) * (missed + low_fnr[1:]))
            most = 0.5 * width * (high_fnr[:-1] + high_fnr[1:])
        else:
            least, most = width * low_fnr[1:], width * high_fnr[:-1]
        gap = most - least
        # More points cannot bring the ends nearer than they are at the points themselves.
        known = 0.5 * width * np.convolve(high_fnr - low_fnr, [1.0, 1.0], "valid")
        if gap.sum() <= max(_AREA, 1.2 * known.sum()) or not points.split(
            gap > max(_AREA / gap.size, 0.05 * gap.max()), _AREA_POINTS if points.convex else None
        ):
            error = _SLACK * (gap.size + 8)
            ends = max(0.0, 1.0 - float(most.sum()) - error), min(1.0, 1.0 - float(least.sum()) + error)
            return noted("an AUC", ends)


def least_mu(curve: Enclosed) -> tuple[float, float]:
    """Bounds of sup over a of Phi^-1(TPR(a)) - Phi^-1(a).

    At FPRs that no float64 tells from 0 and from 1 it is bounded by the curve's privacy loss, or by its own word.
    """
    ceiling = curve.mu_ceiling()

    def shift(points: Corners, up: bool) -> np.ndarray:
        small = points.log_tpr <= math.log(0.5)
        caught = np.where(small, probit_of_log(points.log_tpr), -probit_of_log(points.log_fnr))
        left = points.log_fpr <= math.log(0.5)
        paid = np.where(left, probit_of_log(points.log_fpr), -probit_of_log(log_complement(points.log_fpr)))
        with np.errstate(invalid="ignore"):
            value = np.where(caught == paid, 0.0, caught - paid)
            slack = 4.0 * _SLACK * (np.abs(_finite(caught)) + np.abs(_finite(paid)))
        value = value + slack if up else value - slack
        if not up:
            return value[None]
        # Beyond the last FPRs the privacy loss bounds the rates.
        value = np.where(beyond(points), _tail(curve, points), value)
        return np.minimum(value, ceiling)[None]

    def beyond(points: Corners) -> np.ndarray:
        return np.isneginf(points.log_fpr) | (points.log_fpr >= -1e-300)

    def enough(low: np.ndarray, high: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            return (high <= low) | (high - low <= _width(curve) * np.maximum(1.0, np.abs(high)))

    low, high = (float(end[0]) for end in curve._supremum(shift, 1, enough))
    return noted("mu", (max(0.0, min(low, ceiling)), max(0.0, min(high, ceiling))))


def _tail(curve: Enclosed, points: Corners) -> np.ndarray:
    """What the shift is at most where the FPR is 0 or 1 to float64, shape of the points."""
    largest = curve.largest_loss_bounds()[1]
    least = curve.inverse_loss_bounds()[1]
    rare = -5e15  # the first FPR of a partition is e^-5e15
    at_zero = (
        largest / math.sqrt(2.0 * -rare) * 1.01 if math.isfinite(largest) and largest < 1e12 else math.inf
    )
    at_last = least / 37.0 * 1.01
    zero = np.isneginf(points.log_fpr)
    return np.where(zero, np.where(np.isneginf(points.log_tpr), -np.inf, at_zero), at_last)
