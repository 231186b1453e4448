"""Corners of a convex polygon, without losing the digits of rare rates."""

from bisect import bisect_left
from typing import Any

import numpy as np

Vector = np.ndarray
Points = tuple[Vector, Vector, Vector, Vector]


def rises(alpha: Vector, complement: Vector, beta: Vector, tpr: Vector) -> tuple[Vector, ...]:
    """(out, in) masses between neighbouring corners: the rise of FPR and of TPR, each from whichever of the rate and
    its complement is small.

    Args:
        alpha: FPR at the corners, shape (m,), rising.
        complement: 1 - FPR, shape (m,).
        beta: FNR, shape (m,).
        tpr: TPR, shape (m,).

    Returns:
        Two arrays of shape (m - 1,); the first is >= 0, the second too on one convex curve.

    Examples:
        >>> a, t = np.array([0.0, 1e-20, 1.0]), np.array([0.0, 1e-18, 1.0])
        >>> [mass.tolist() for mass in rises(a, 1 - a, 1 - t, t)]
        [[1e-20, 1.0], [1e-18, 1.0]]
    """
    out = np.where(alpha[1:] <= 0.5, np.diff(alpha), -np.diff(complement))
    inside = np.where(tpr[1:] <= 0.5, np.diff(tpr), -np.diff(beta))
    return out, inside


def convex_points(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> Points:
    """The corners of the lower convex hull of points on or above a trade-off function; (0, .) first, (., 0) last.

    Args:
        alpha: FPR of the points, shape (m,), in any order.
        complement: 1 - FPR, shape (m,).
        beta: FNR, shape (m,), 0 at one point at least.
        tpr: TPR, shape (m,).

    Returns:
        The same four, strictly increasing in FPR, with slopes that do not rise (corners on a straight stretch
        are kept); ends where the FNR reaches 0.

    Examples:
        >>> a, b = np.array([0, 0.25, 0.5, 0.75, 1]), np.array([1, 0.5, 0.45, 0.1, 0])
        >>> convex_points(a, 1 - a, b, 1 - b)[0].tolist()
        [0.0, 0.25, 0.75, 1.0]
    """
    # By FPR; of equal FPRs only the least FNR counts, which sorts first.
    order = distinct(alpha, complement, beta, tpr)
    a, c, b, t = (np.asarray(v, np.float64)[order] for v in (alpha, complement, beta, tpr))
    end = int(np.flatnonzero(b <= 0.0)[0]) + 1  # beyond the first zero the curve stays there
    a, c, b, t = (v[:end] for v in (a, c, b, t))
    out, inside = rises(a, c, b, t)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        falls = np.diff(inside / out) <= 0  # not where both slopes are infinite
    if falls.all() and (inside > 0).all():
        return a, c, b, t
    kept = np.array(hull_corners(out, inside))
    return a[kept], c[kept], b[kept], t[kept]


def distinct(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> np.ndarray:
    """Indices that sort points by rising FPR, the least FNR alone of those of one FPR; arguments as in `rises`.

    Examples:
        >>> a, b = np.array([0.5, 0.0, 0.5]), np.array([0.3, 1.0, 0.2])
        >>> distinct(a, 1 - a, b, 1 - b).tolist()
        [1, 2]
    """
    rarity = np.where(alpha <= 0.5, alpha, 1.0 - complement)
    order = np.lexsort((beta, -tpr, -complement, rarity))
    a, c = alpha[order], complement[order]
    apart = np.where(a[1:] <= 0.5, np.diff(a) > 0, np.diff(c) < 0)
    return order[np.concatenate([[True], apart])]


def hull_corners(out: np.ndarray, inside: np.ndarray, slack: float = 0.0) -> list[int]:
    """Indices of the corners of the concave hull of the ROC curve with these rises (pool adjacent violators).

    Args:
        out: rises of the FPR between neighbouring corners, shape (m,), > 0.
        inside: rises of the TPR, shape (m,).
        slack: relative rise of the slope that counts as rounding, >= 0.

    Examples:
        >>> hull_corners(np.array([0.2, 0.3, 0.5]), np.array([0.5, 0.0, 0.5]))
        [0, 1, 3]
    """
    starts: list[int] = []
    outs: list[float] = []
    ins: list[float] = []
    bar = 1.0 + slack
    rises_out, rises_in = out.tolist(), inside.tolist()
    steeper = (np.flatnonzero(_less_steep(bar * inside[:-1], out[:-1], inside[1:], out[1:])) + 1).tolist()
    i, alone = (
        0,
        True,
    )  # whether the last edge that is kept is one rise: where nothing merges, stretches are kept at once
    while i < out.size:
        if alone:
            place = bisect_left(steeper, i)
            stop = steeper[place] if place < len(steeper) else out.size
            starts.extend(range(i, stop))
            outs.extend(rises_out[i:stop])
            ins.extend(rises_in[i:stop])
            if stop == out.size:
                break
            i = stop
        start, o, p = i, rises_out[i], rises_in[i]
        while outs:
            first, second = bar * ins[-1] * o, p * outs[-1]
            exact = max(first, second) > 1e-290
            if not (first < second if exact else _less_steep(bar * ins[-1], outs[-1], p, o)):
                break  # the earlier edge is steeper
            o, p, start = o + outs.pop(), p + ins.pop(), starts.pop()
        starts.append(start)
        outs.append(o)
        ins.append(p)
        i, alone = i + 1, start == i
    return [*starts, len(starts) and out.size]


def _less_steep(rise: Any, run: Any, other_rise: Any, other_run: Any) -> Any:
    """Whether rise / run is below the other slope; runs > 0. Products of rare rates would be 0 in float64."""
    (a, m), (b, n), (c, o), (d, p) = map(np.frexp, (rise, other_run, other_rise, run))
    return a * b * np.exp2(np.clip(m + n - o - p, -1000, 1000).astype(float)) < c * d


def polygon(out: np.ndarray, inside: np.ndarray, out_only: float, in_only: float) -> Points:
    """The corners of the trade-off function of a law with these masses, by falling loss.

    In mass that is missing to 1 counts as missed, so that a law that lost some stays on the private side.

    Args:
        out: mass of each loss in the world "out", shape (m,).
        inside: the same in the world "in".
        out_only: mass that reveals the world "out".
        in_only: mass that reveals the world "in".

    Examples:
        >>> alpha, _, beta, _ = polygon(np.array([0.25, 0.75]), np.array([0.75, 0.25]), 0.0, 0.0)
        >>> alpha.tolist(), beta.tolist()
        ([0.0, 0.25, 1.0], [1.0, 0.25, 0.0])
    """
    alpha, tpr = np.cumsum(np.append(0.0, out)), np.cumsum(np.append(in_only, inside))
    missed = max(0.0, 1.0 - float(tpr[-1]))
    missed = missed if missed > 1e-13 else 0.0  # rounding of the sum
    beta = np.cumsum(np.append(missed, inside[::-1]))[::-1]
    complement = np.cumsum(np.append(out_only, out[::-1]))[::-1]
    ends = zip((alpha, complement, beta, tpr), (1.0, 0.0, 0.0, 1.0), strict=True)
    return convex_points(*(np.append(np.minimum(v, 1.0), end) for v, end in ends))
