"""Finite laws of privacy losses between which that of a convex curve lies."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr

from mipsim.tradeoff.base import AbstractTradeOff, plain_rates
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import EPS, CurveBounds, lowered, raised
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.polygons import Sum, as_polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import SampledTradeOff, moved

Law = PrivacyLossDistribution
_FARTHEST = 37.0  # the probit of a rate of 6e-300, float64's least
_ROUNDING = 1e-13  # of the masses and losses of a law, relative
_NEGLIGIBLE = 1e-11  # error of masses for which a polygon is a single law, not two


def enclosing_laws(curve: AbstractTradeOff, points: int, rare: float = 0.0) -> tuple[Law, Law, float]:
    """Finite laws that reveal more and less than a convex curve, and a bound on the relative error of their masses.

    A polygon is its own law. Another curve is sampled: it lies below the chords through the upper ends of its bounds,
    and above the lines that two samples allow at either side of each gap, from an upper end through a lower end.

    `curve`: convex; `points`: samples, >= 16; `rare`: rates up to which they are few, in [0, 1/2).
    """
    if isinstance(curve, InverseTradeOff):
        below, above, rounding = enclosing_laws(curve.inner, points, rare)
        return _turned(below), _turned(above), rounding
    if isinstance(curve, BoundedTradeOff) and not curve.rounding and not curve.sideways:
        below, above = (enclosing_laws(end, points, rare) for end in (curve.lower, curve.upper))
        return below[0], above[1], max(below[2], above[2])
    if (corners := as_polygon(curve)) is not None:
        known = Sum.of(corners)
        if (error := known.masses + known.losses) <= _NEGLIGIBLE and not known.lost:
            return known.law, known.law, error
        ends = (moved(corners, -1.0), moved(corners, 1.0))
    else:
        ends = _polygons(curve, points, rare)
    below, above = (Law.from_polygon(end) for end in ends)
    return below, above, _ROUNDING


def _turned(law: Law) -> Law:
    back = slice(None, None, -1)
    return Law(-law.losses[back], law.in_masses[back], law.out_masses[back], law.in_only, law.out_only)


def _grid(curve: AbstractTradeOff, points: int, rare: float) -> tuple[np.ndarray, np.ndarray]:
    """(FPR, 1 - FPR), rising; the smaller of both is as good as exact. Few where FPR and TPR, or FNR and TNR, are rare."""
    coarse = np.linspace(-_FARTHEST, _FARTHEST, 741)
    bounds = _at(curve, ndtr(coarse), ndtr(-coarse))
    left = int((bounds[3] <= rare).sum())
    right = int((bounds[1] <= rare).sum())
    few = points // 16
    if rare == 0.0 or left + right > coarse.size - 8:
        z = np.linspace(-_FARTHEST, _FARTHEST, points)
    else:
        start, end = coarse[max(left - 1, 0)], coarse[coarse.size - max(right, 1)]
        z = np.unique(
            np.concatenate(
                [
                    np.linspace(-_FARTHEST, start, few),
                    np.linspace(start, end, points - 2 * few),
                    np.linspace(end, _FARTHEST, few),
                ]
            )
        )
    alpha, complement = ndtr(z), ndtr(-z)
    return np.where(alpha <= 0.5, alpha, 1.0 - complement), np.where(alpha <= 0.5, 1.0 - alpha, complement)


def _at(curve: AbstractTradeOff, alpha: np.ndarray, complement: np.ndarray) -> tuple[np.ndarray, ...]:
    """(FNR low, FNR high, TPR low, TPR high) at FPRs that are given by the smaller of both."""
    with np.errstate(divide="ignore"):
        x = np.where(alpha <= 0.5, np.log(alpha), np.log1p(-complement))
    result = curve.enclosure(np.stack([lowered(x, 4.0), np.where(x < 0.0, raised(x, 4.0), 0.0)]))
    bounds = CurveBounds(result[0][1], result[1][0], result[2][0], result[3][1]).tightened()
    ends = zip(bounds, (-np.inf, 0.0, -np.inf, 0.0), strict=True)
    known = [np.where(np.isnan(end), none, end) for end, none in ends]
    return *plain_rates(known[0], known[1]), *plain_rates(known[2], known[3])


def _steps(
    a: np.ndarray, c: np.ndarray, first: np.ndarray | slice, last: np.ndarray | slice
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the FPR between points; each is given by the smaller of a rate and its complement."""
    left, right = a[first], a[last]
    run = np.where(
        right <= 0.5,
        right - left,
        np.where(left <= 0.5, (0.5 - left) + (0.5 - c[last]), c[first] - c[last]),
    )
    return run * (1.0 - 4.0 * EPS), run * (1.0 + 4.0 * EPS)


def _polygons(curve: AbstractTradeOff, points: int, rare: float) -> tuple[SampledTradeOff, SampledTradeOff]:
    """A convex polygon below a convex curve and a polygon above."""
    a, c = _grid(curve, points, rare)
    missed, missed_high, caught, caught_high = _at(curve, a, c)
    start = _at(curve, np.zeros(1), np.ones(1))
    a, c = np.concatenate([[0.0], a, [1.0]]), np.concatenate([[1.0], c, [0.0]])
    missed, missed_high, caught, caught_high = (
        np.concatenate([at, mine, [end]])
        for at, mine, end in zip(
            start, (missed, missed_high, caught, caught_high), (0.0, 0.0, 1.0, 1.0), strict=True
        )
    )
    # The curve falls: what bounds it at an FPR bounds it at all larger or smaller FPRs.
    missed_high, caught = np.minimum.accumulate(missed_high), np.maximum.accumulate(caught)
    missed = np.maximum.accumulate(missed[::-1])[::-1]
    caught_high = np.minimum.accumulate(caught_high[::-1])[::-1]
    above = SampledTradeOff.from_points(a, c, missed_high, caught)
    return _below(curve, a, c, (missed, missed_high, caught, caught_high)), above


def _below(
    curve: AbstractTradeOff, a: np.ndarray, c: np.ndarray, rates: tuple[np.ndarray, ...]
) -> SampledTradeOff:
    missed, missed_high, caught, caught_high = rates
    size = a.size
    steepest, flattest = np.full(size, np.inf), np.zeros(size)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        steepest[0] = math.exp(min(curve.largest_loss_bounds()[1], 700.0)) * (1.0 + 1e-12)
        steepest[0] = steepest[0] if curve.largest_loss_bounds()[1] <= 700.0 else np.inf
        flattest[-1] = math.exp(-min(curve.inverse_loss_bounds()[1], 800.0)) * (1.0 - 1e-12)
        stride = 1
        while stride < size:
            first, last = slice(None, -stride), slice(stride, None)
            least, most = _steps(a, c, first, last)
            # From an upper end of the FNR through a lower end: beyond the second the curve is not below that line.
            rise = np.where(
                caught_high[last] <= 0.5,
                caught_high[last] - caught[first],
                missed_high[first] - missed[last],
            )
            slope = rise * (1.0 + 4.0 * EPS) / least
            steepest[last] = np.fmin(steepest[last], np.where(least > 0.0, slope, np.inf))
            rise = np.where(
                caught[last] <= 0.5, caught[last] - caught_high[first], missed[first] - missed_high[last]
            )
            slope = rise * (1.0 - 4.0 * EPS) / most
            flattest[first] = np.fmax(flattest[first], np.where(most > 0.0, slope, 0.0))
            stride *= 2
        # Slopes fall, and each is a slope of the curve beyond its point.
        steepest = np.minimum.accumulate(steepest)
        flattest = np.maximum.accumulate(flattest[::-1])[::-1]
        left, right = slice(None, -1), slice(1, None)
        width = _steps(a, c, left, right)[0]
        up = np.where(
            caught_high[right] <= 0.5,
            caught_high[right] - caught_high[left],
            missed[left] - missed[right],
        )
        high, low = steepest[left], flattest[right]
        gone = (up - low * width) / (high - low)
        gone = np.clip(np.where(np.isfinite(gone), gone, 0.0), 0.0, width)
        rest = width - gone
        met_a, met_c = a[left] + gone, c[right] + rest
        near = met_a <= 0.5
        met_a, met_c = np.where(near, met_a, 1.0 - met_c), np.where(near, 1.0 - met_a, met_c)
        # Moving the place by its rounding moves the line by its slope.
        grown = np.where(gone > 0.0, high * (gone + 16.0 * EPS * np.minimum(met_a, met_c)), 0.0)
        lost = low * rest
        more, less = 1.0 + 8.0 * EPS, 1.0 - 8.0 * EPS
        tpr = np.maximum(caught_high[left] + grown, caught_high[right] * more - lost * less) * more
        fnr = np.minimum(missed[left] * less - grown * more, (missed[right] + lost * less) * less)
        met_tpr, met_fnr = np.clip(tpr, 0.0, 1.0), np.clip(fnr, 0.0, 1.0)
    return SampledTradeOff.from_points(
        *(
            np.concatenate(pair)
            for pair in ((a, met_a), (c, met_c), (missed, met_fnr), (caught_high, met_tpr))
        )
    )
