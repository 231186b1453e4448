"""Corners of a convex polygon, without losing the digits of rare rates."""

import math
from bisect import bisect_left
from typing import Any

import numpy as np

from mipsim.tradeoff.bounds import EPS, CurveBounds, Vertices, lowered, raised

ROUNDING = 1e-12  # of corners that a user has computed: they may miss convexity by so much

Vector = np.ndarray
Points = tuple[Vector, Vector, Vector, Vector]


def rises(alpha: Vector, complement: Vector, beta: Vector, tpr: Vector) -> tuple[Vector, ...]:
    """(out, in) masses between neighbouring corners: the rise of FPR and of TPR, each from whichever of the rate and
    its complement is small.
    `alpha`: FPR at the corners, shape (m,), rising; `complement`: 1 - FPR, shape (m,); `beta`: FNR, shape (m,); `tpr`:
    TPR, shape (m,). Returns Two arrays of shape (m - 1,); the first is >= 0, the second too on a single convex curve.
    """
    return _rise(alpha, complement), _rise(tpr, beta)


def _rise(rate: Vector, other: Vector) -> Vector:
    """Right to a rounding of itself, as the rate is where it is at most 1/2, and its complement elsewhere."""
    across = np.maximum((0.5 - rate[:-1]) + (0.5 - other[1:]), 0.0)
    return np.where(
        rate[1:] <= 0.5, np.diff(rate), np.where(rate[:-1] <= 0.5, across, other[:-1] - other[1:])
    )


def convex_points(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> Points:
    """The corners of the lower convex hull of points on or above a trade-off function; (0, .) first, (., 0) last.
    `alpha`: FPR of the points, shape (m,), in any order; `complement`: 1 - FPR, shape (m,); `beta`: FNR, shape (m,), 0 at
    least at 1 point; `tpr`: TPR, shape (m,). Returns the same four, strictly increasing in FPR, with slopes that do not
    rise (corners on a straight stretch are retained); ends where the FNR reaches 0.
    """
    order = highest(alpha, complement, beta, tpr)
    a, c, b, t = (np.asarray(v, np.float64)[order] for v in (alpha, complement, beta, tpr))
    end = int(np.flatnonzero(b <= 0.0)[0]) + 1  # beyond the first zero the curve stays there
    a, c, b, t = (v[:end] for v in (a, c, b, t))
    out, inside = rises(a, c, b, t)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        falls = np.diff(inside / out) <= 0  # not where both slopes are infinite
    if falls.all() and (inside > 0).all():
        return a, c, b, t
    retained = np.array(hull_corners(out, inside))
    return a[retained], c[retained], b[retained], t[retained]


def highest(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> np.ndarray:
    """Indices of the points with a larger TPR than every point of no larger FPR, by rising FPR; arguments as in `rises`.

    No other point is a corner of a hull. Between these both rates rise, so that sums of the rises keep their digits; rises of both
    signs would cancel.
    """
    rare, caught = alpha <= 0.5, tpr > 0.5  # of a rate and its complement the smaller decides
    order = np.lexsort(
        (
            np.where(caught, beta, 0.0),
            np.where(caught, -1.0, -tpr),
            np.where(rare, 0.0, -complement),
            np.where(rare, alpha, 1.0),
        )
    )
    caught, b, t = caught[order[1:]], beta[order], tpr[order]
    above = np.where(caught, b[1:] < np.minimum.accumulate(b)[:-1], t[1:] > np.maximum.accumulate(t)[:-1])
    return order[np.concatenate([[True], above])]


def hull_corners(out: np.ndarray, inside: np.ndarray) -> list[int]:
    """Indices of the corners of the concave hull of the ROC curve with these rises (pool adjacent violators).
    `out`: rises of the FPR between neighbouring corners, shape (m,), > 0; `inside`: rises of the TPR, shape (m,).
    """
    starts: list[int] = []
    outs: list[float] = []
    ins: list[float] = []
    lost: dict[int, tuple[float, float]] = {}
    rises_out, rises_in = out.tolist(), inside.tolist()
    steeper = (np.flatnonzero(_less_steep(inside[:-1], out[:-1], inside[1:], out[1:])) + 1).tolist()
    # `alone`: whether the last retained edge is a single rise: where nothing merges, stretches are stored at once
    i, alone = 0, True
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
        lost_out = lost_in = 0.0  # to rounding of the sums, of which there may be as many as points
        while outs:
            first, second = ins[-1] * o, p * outs[-1]
            exact = max(first, second) > 1e-290
            if not (first < second if exact else _is_less_steep(ins[-1], outs[-1], p, o)):
                break  # the earlier edge is steeper
            start = starts.pop()
            more = lost.pop(start, (0.0, 0.0))  # none of an edge that is a single rise
            o, lost_out = _added(o, lost_out, outs.pop(), more[0])
            p, lost_in = _added(p, lost_in, ins.pop(), more[1])
        starts.append(start)
        outs.append(o)
        ins.append(p)
        lost[start] = lost_out, lost_in
        i, alone = i + 1, start == i
    return [*starts, len(starts) and out.size]


def _added(sum_: float, lost: float, more: float, more_lost: float) -> tuple[float, float]:
    """The float nearest to a sum of two numbers in two floats each, and what it misses (Dekker's and Knuth's sums)."""
    high = sum_ + more
    back = high - sum_
    low = ((sum_ - (high - back)) + (more - back)) + (lost + more_lost)
    total = high + low
    return total, low - (total - high)


def checked_corners(a: np.ndarray, b: np.ndarray) -> list[int]:
    """Which corners a convex polygon through (a, b) needs, or the reason why it is not convex.
    `a`: FPR at the corners, shape (m,); `b`: FNR at the corners, shape (m,), in [0, 1]. Raises ValueError if a does not
    rise strictly from 0 to 1, or b is not non-increasing, convex and at most 1 - a, each to 1e-12.

    >>> checked_corners(np.array([0.0, 0.5, 1.0]), np.array([1.0, 0.25, 0.0]))
    [0, 1, 2]
    """
    if a.size < 2 or a[0] != 0.0 or a[-1] != 1.0:
        raise ValueError(f"alpha runs from {a[0]:g} to {a[-1]:g}; it must run from 0 to 1")
    if (still := np.diff(a) <= 0).any():
        raise ValueError(
            f"alpha holds {a[1:][still][0]:g} after {a[:-1][still][0]:g}; it must increase strictly"
        )
    if (above := b > 1.0 - a + ROUNDING).any():
        raise ValueError(f"beta holds {b[above][0]:g} at alpha {a[above][0]:g}; it must be at most 1 - alpha")
    if (rising := np.diff(b) > ROUNDING).any():
        raise ValueError(f"beta rises after alpha {a[:-1][rising][0]:g}; it must not increase")
    retained = hull_corners(np.diff(a), -np.diff(b))
    if (bent := b > np.interp(a, a[retained], b[retained]) + ROUNDING).any():
        raise ValueError(f"beta lies above the chord at alpha {a[bent][0]:g}; it must be convex")
    return retained


def _less_steep(rise: Any, run: Any, other_rise: Any, other_run: Any) -> Any:
    """Whether rise / run is below the other slope; runs > 0. Products of rare rates would be 0 in float64."""
    (a, m), (b, n), (c, o), (d, p) = map(np.frexp, (rise, other_run, other_rise, run))
    return a * b * np.exp2(np.clip(m + n - o - p, -1000, 1000).astype(float)) < c * d


def _is_less_steep(rise: float, run: float, other_rise: float, other_run: float) -> bool:
    """The same of two slopes: NumPy takes 20 times as long for single numbers."""
    (a, m), (b, n), (c, o), (d, p) = map(math.frexp, (rise, other_run, other_rise, run))
    return a * b * 2.0 ** min(max(m + n - o - p, -1000), 1000) < c * d


def polygon(
    out: np.ndarray, inside: np.ndarray, out_only: float, in_only: float, error: float = 1e-13
) -> Points:
    """The corners of the trade-off function of a distribution with these masses, by falling loss.

    In mass that is missing to 1 counts as missed, so that a distribution that lost some stays on the private side.

    `out`: mass of each loss in the world "out", shape (m,); `inside`: the same in the world "in"; `out_only`: mass that
    reveals the world "out"; `in_only`: mass that reveals the world "in"; `error`: in mass that may be missing by
    rounding.
    """
    alpha, tpr = np.cumsum(np.append(0.0, out)), np.cumsum(np.append(in_only, inside))
    missed = max(0.0, 1.0 - float(tpr[-1]))
    missed = missed if missed > error else 0.0
    beta = np.cumsum(np.append(missed, inside[::-1]))[::-1]
    complement = np.cumsum(np.append(out_only, out[::-1]))[::-1]
    ends = zip((alpha, complement, beta, tpr), (1.0, 0.0, 0.0, 1.0), strict=True)
    return convex_points(*(np.append(np.minimum(v, 1.0), end) for v, end in ends))


def log_rates(rate: np.ndarray, complement: np.ndarray) -> np.ndarray:
    """Logarithms of rates, each from whichever of the rate and its complement is small.
    >>> print(log_rates(np.array([0.0, 1.0]), np.array([1.0, 1e-30])))
    [  -inf -1e-30]
    """
    with np.errstate(divide="ignore"):
        return np.where(rate <= 0.5, np.log(rate), np.log1p(-complement))


def vertices_of(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> Vertices:
    """The corners of a polygon with all four rates, shape (m,) each, as `Vertices`."""
    x = log_rates(alpha, complement)
    low, high = np.where(x < 0.0, lowered(x, 2.0), 0.0), np.where(x < 0.0, raised(x, 2.0), 0.0)
    bounds = CurveBounds.of_logs(log_rates(beta, tpr), log_rates(tpr, beta), 2.0)
    ends = (np.isneginf(x), x == 0.0)
    exact = CurveBounds.of_logs(log_rates(beta, tpr), log_rates(tpr, beta), 0.0)
    whole = (tpr == 0.0) | (beta == 0.0)
    return Vertices(low, high, _at_ends(exact).where(whole & (ends[0] | ends[1]), bounds))


def _at_ends(bounds: CurveBounds) -> CurveBounds:
    """Rates of 0 and 1 are exact."""
    return CurveBounds(*(np.where(end >= -1e-320, 0.0, end) for end in bounds))


def first_loss(alpha: np.ndarray, tpr: np.ndarray) -> tuple[float, float]:
    """Bounds of the logarithm of the slope of a polygon's first edge.
    >>> [round(bound, 6) for bound in first_loss(np.array([0.0, 0.25, 1.0]), np.array([0.0, 0.75, 1.0]))]
    [1.098612, 1.098612]
    """
    if tpr[0] > 0.0:
        return np.inf, np.inf
    loss = max(0.0, float(np.log(tpr[1]) - np.log(alpha[1]))) if alpha.size > 1 else 0.0
    off = 8.0 * EPS * (1.0 + loss + float(-np.log(alpha[1]) if alpha.size > 1 else 0.0))
    return max(0.0, loss - off), loss + off


def interpolated(
    log_fpr: np.ndarray, alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray
) -> CurveBounds:
    """Bounds of the polygon through corners with all four rates, shape (m,) each, at logarithms of FPRs of any shape."""
    corners, missed, caught = log_rates(alpha, complement), log_rates(beta, tpr), log_rates(tpr, beta)

    def at(x: np.ndarray) -> tuple[np.ndarray, ...]:
        right = np.clip(np.searchsorted(corners, x, side="right"), 1, max(1, corners.size - 1))
        left = right - 1
        right = np.minimum(right, corners.size - 1)
        inside = x < corners[right]
        start, end = corners[left], corners[right]
        with np.errstate(divide="ignore", invalid="ignore"):
            # ratios: near FPR 1 the logarithm of a width is large, and so would its rounding be
            width = np.expm1(start - end)
            done = np.minimum(x, end) - end + np.log(np.expm1(start - np.maximum(x, start)) / width)
            rest = np.log(np.expm1(np.minimum(x, end) - end) / width)
            logs = [np.logaddexp(rest + v[left], done + v[right]) for v in (missed, caught)]
        fnr, tpr_ = (
            np.where(inside, np.minimum(v, 0.0), w[right])
            for v, w in zip(logs, (missed, caught), strict=True)
        )
        return fnr, tpr_, np.abs(np.where(np.isneginf(end), 0.0, end))

    x = np.asarray(log_fpr, np.float64)
    fnr, tpr_, end = at(np.stack([lowered(x), np.minimum(raised(x), 0.0)]))
    # The share of the left corner is as right as the right corner's FPR, that of the right corner as the FPR itself.
    sizes = [np.where(np.isneginf(v), 0.0, np.abs(v)).max(axis=0) for v in (fnr, tpr_)]
    miss = 48.0 * EPS * (1.0 + end[0] + sizes[0])
    catch = 16.0 * EPS * (1.0 + np.where(np.isneginf(x), 0.0, np.abs(x)) + sizes[1])
    result = CurveBounds(
        fnr[1] - miss, np.minimum(fnr[0] + miss, 0.0), tpr_[0] - catch, np.minimum(tpr_[1] + catch, 0.0)
    )
    result = result.tightened()
    first = CurveBounds.of_logs(missed[:1], caught[:1], 2.0 if tpr[0] > 0.0 else 0.0)
    return first.where(np.isneginf(x), result.ended(x))
