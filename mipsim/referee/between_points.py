"""What a gap between two curves may be at most between the points where it is known."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri


def probit_gap(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Phi^-1(upper) - Phi^-1(lower); 0 where both are equal. A negative number stands for its sum with 1.

    So a rate near 1 keeps the digits of what it lacks to 1.

    Examples:
        >>> probit_gap(np.array([0.5, 0.0]), np.array([0.0, 0.0])).tolist()
        [inf, 0.0]
        >>> round(float(probit_gap(np.array([-1e-20]), np.array([-1e-19]))[0]), 4)
        0.2491
    """
    with np.errstate(invalid="ignore"):
        gap = _probit(upper) - _probit(lower)
    return np.where(upper == lower, 0.0, gap)


def _probit(level: np.ndarray) -> np.ndarray:
    z = ndtri(np.abs(level))
    # The sign of a zero tells 1 from 0.
    return np.where(np.signbit(level), -z, z)


def exceed(alpha: np.ndarray, upper: np.ndarray, lower: np.ndarray, found: float, convex: bool) -> np.ndarray:
    """How far Phi^-1(upper) - Phi^-1(lower) may exceed `found` inside each of the intervals; <= 0 where it cannot.

    Args:
        alpha: increasing, shape (m,).
        upper: rates and their complements, shape (2, m): 1 - f keeps the digits of an f near 1.
        lower: the same for the other curve.
        found: the largest gap at the points.
        convex: whether both curves are convex; else only monotony bounds what lies between.
    """
    left, right = slice(None, -1), slice(1, None)
    high = (upper[0, left] + lower[0, right]) > 1.0  # of two ways to write a rate, that with more digits
    level = [
        np.where(high, -curve[1, part], curve[0, part]) for curve in (upper, lower) for part in (left, right)
    ]
    (upper_left, upper_right, lower_left, lower_right) = level
    by_order = probit_gap(upper_left, lower_right)
    if not convex:
        return _difference(by_order, found)
    width = np.diff(alpha)
    rise = np.where(lower[0, left] > 0.5, -np.diff(lower[1]), np.diff(lower[0])) / width
    # The lower curve stays above the chords on either side, prolonged into the interval; they meet at `kink`.
    before = np.concatenate([[-math.inf], rise[:-1]])
    after = np.concatenate([rise[1:], [0.0]])
    with np.errstate(invalid="ignore", divide="ignore"):
        kink = (lower_right - lower_left - after * width) / (before - after)
        # No chord on the left of the first interval, or three points in line: the interval's own end.
        kink = np.where(np.isfinite(kink), np.clip(kink, 0.0, width), 0.0)
        least = np.maximum(lower_left + before * kink, lower_right - after * (width - kink))
    least = np.where(np.isfinite(least), least, lower_right - after * width)
    least = np.clip(least, lower_right, lower_left)
    chord = upper_left + (upper_right - upper_left) * kink / width
    least, chord = (
        np.where(high, -np.abs(value), value) for value in (least, chord)
    )  # a sum loses the sign of 0
    ends = [(upper_left, lower_left), (chord, least), (upper_right, lower_right)]
    pieces = [_most_on_piece(*ends[0], *ends[1]), _most_on_piece(*ends[1], *ends[2])]
    return _difference(np.fmin(by_order, np.maximum(*pieces)), found)


def _most_on_piece(u0: np.ndarray, l0: np.ndarray, u1: np.ndarray, l1: np.ndarray) -> np.ndarray:
    """An upper bound of Phi^-1(u) - Phi^-1(l) where u and l run linearly from u0 to u1 and from l0 to l1.

    It is (u - l) S with S the divided difference of Phi^-1. The derivative of Phi^-1 is convex, so S is convex along the
    way: below its chord, and above its two half-chords prolonged. Either way the bound is a product of linear functions.
    """
    d0, d1 = u0 - l0, u1 - l1
    dm = (d0 + d1) / 2
    s0, sm, s1 = _divided(u0, l0), _divided((u0 + u1) / 2, (l0 + l1) / 2), _divided(u1, l1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        above = _largest_product(d0, d1, s0, s1)
        below = np.maximum(
            _largest_product(d0, dm, 2 * sm - s1, sm), _largest_product(dm, d1, sm, 2 * sm - s0)
        )
    return np.where(np.maximum(d0, d1) > 0, above, below)


def _largest_product(d0: np.ndarray, d1: np.ndarray, s0: np.ndarray, s1: np.ndarray) -> np.ndarray:
    """The largest product, on the way from (d0, s0) to (d1, s1)."""
    at = np.clip(-(d0 * (s1 - s0) + s0 * (d1 - d0)) / (2 * (d1 - d0) * (s1 - s0)), 0.0, 1.0)
    return np.fmax(np.maximum(d0 * s0, d1 * s1), (d0 + at * (d1 - d0)) * (s0 + at * (s1 - s0)))


def _divided(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(Phi^-1(u) - Phi^-1(v)) / (u - v), and the derivative where they are equal to rounding."""
    large, small = np.maximum(np.abs(u), np.abs(v)), np.minimum(np.abs(u), np.abs(v))
    far = np.abs(u - v) > 1e-9 * np.minimum(large, 1 - small)
    z, other = _probit(u), _probit(v)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.maximum(_slope(z), _slope(other))
        return np.where(far, (z - other) / np.where(far, u - v, 1.0), slope)


def _difference(bound: np.ndarray, found: float) -> np.ndarray:
    # Where the gap is infinite at some point there is nothing left to find on that side, nor, if it is so at all
    # points, on the other.
    return bound - found if math.isfinite(found) else np.full(bound.shape, -math.inf)


def _slope(z: np.ndarray) -> np.ndarray:
    """The derivative of Phi^-1 at Phi(z)."""
    with np.errstate(over="ignore"):
        return np.sqrt(2 * np.pi) * np.exp(z**2 / 2)
