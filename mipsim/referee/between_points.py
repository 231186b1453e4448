"""What a gap between two curves may be at most between the points where it is known."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtri


def probit_gap(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Phi^-1(upper) - Phi^-1(lower); 0 where both are 0 or both 1.

    Examples:
        >>> probit_gap(np.array([0.5, 0.0]), np.array([0.0, 0.0])).tolist()
        [inf, 0.0]
    """
    with np.errstate(invalid="ignore"):
        gap = ndtri(upper) - ndtri(lower)
    return np.where(upper == lower, 0.0, gap)


def exceed(alpha: np.ndarray, upper: np.ndarray, lower: np.ndarray, found: float, convex: bool) -> np.ndarray:
    """How far Phi^-1(upper) - Phi^-1(lower) may exceed `found` inside each of the intervals; <= 0 where it cannot."""
    left, right = slice(None, -1), slice(1, None)
    by_order = probit_gap(upper[left], lower[right])
    if not convex:
        return _difference(by_order, found)
    width = np.diff(alpha)
    rise = np.diff(lower) / width
    # The lower curve stays above the chords on either side, prolonged into the interval; they meet at `kink`.
    before = np.concatenate([[-math.inf], rise[:-1]])
    after = np.concatenate([rise[1:], [0.0]])
    with np.errstate(invalid="ignore", divide="ignore"):
        kink = (lower[right] - lower[left] - after * width) / (before - after)
        # No chord on the left of the first interval, or three points in line: the interval's own end.
        kink = np.where(np.isfinite(kink), np.clip(kink, 0.0, width), 0.0)
        least = np.maximum(lower[left] + before * kink, lower[right] - after * (width - kink))
    least = np.where(np.isfinite(least), least, lower[right] - after * width)
    least = np.clip(least, lower[right], lower[left])
    chord = upper[left] + (upper[right] - upper[left]) * kink / width
    ends = [(upper[left], lower[left]), (chord, least), (upper[right], lower[right])]
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
    far = np.abs(u - v) > 1e-9 * np.minimum(np.maximum(u, v), 1 - np.minimum(u, v))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(far, probit_gap(u, v) / np.where(far, u - v, 1.0), np.maximum(_slope(u), _slope(v)))


def _difference(bound: np.ndarray, found: float) -> np.ndarray:
    # Where the gap is infinite at some point there is nothing left to find on that side, nor, if it is so at all
    # points, on the other.
    return bound - found if math.isfinite(found) else np.full(bound.shape, -math.inf)


def _slope(level: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.sqrt(2 * np.pi) * np.exp(ndtri(level) ** 2 / 2)
