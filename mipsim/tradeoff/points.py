"""Corners of a convex polygon, without losing the digits of rare rates."""

import numpy as np

Points = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def rises(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> tuple[np.ndarray, ...]:
    """(out, in) masses between neighbouring corners: the rise of FPR and of TPR, each from whichever of the rate and
    its complement is small.

    Args:
        alpha, complement, beta, tpr: FPR, 1 - FPR, FNR and TPR at the corners, shape (m,), by rising FPR.

    Returns:
        Two arrays of shape (m - 1,), >= 0.

    Examples:
        >>> a, t = np.array([0.0, 1e-20, 1.0]), np.array([0.0, 1e-18, 1.0])
        >>> [mass.tolist() for mass in rises(a, 1 - a, 1 - t, t)]
        [[1e-20, 1.0], [1e-18, 1.0]]
    """
    out = np.where(alpha[1:] <= 0.5, np.diff(alpha), -np.diff(complement))
    inside = np.where(tpr[1:] <= 0.5, np.diff(tpr), -np.diff(beta))
    return np.maximum(out, 0.0), np.maximum(inside, 0.0)


def convex_points(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> Points:
    """The corners of the lower convex hull of points on or above a trade-off function; (0, .) first, (., 0) last.

    Args:
        alpha, complement, beta, tpr: as in `rises`, in any order; one point must have FNR 0.

    Returns:
        The same four, strictly increasing in FPR, with strictly falling slopes; ends where the FNR reaches 0.

    Examples:
        >>> a, b = np.array([0, 0.25, 0.5, 0.75, 1]), np.array([1, 0.5, 0.45, 0.1, 0])
        >>> convex_points(a, 1 - a, b, 1 - b)[0].tolist()
        [0.0, 0.25, 0.75, 1.0]
    """
    # By FPR; of equal FPRs only the least FNR counts, which sorts first.
    order = np.lexsort((beta, -tpr, -complement, alpha))
    a, c, b, t = (np.asarray(v, np.float64)[order] for v in (alpha, complement, beta, tpr))
    fresh = np.concatenate([[True], (np.diff(a) > 0) | (np.diff(c) < 0)])
    a, c, b, t = (v[fresh] for v in (a, c, b, t))
    end = int(np.flatnonzero(b <= 0.0)[0]) + 1  # beyond the first zero the curve stays there
    a, c, b, t = (v[:end] for v in (a, c, b, t))
    out, inside = rises(a, c, b, t)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = inside / out
    if (np.diff(slopes) < 0).all() and (inside > 0).all():
        return a, c, b, t
    kept = np.array(_hull(out.tolist(), inside.tolist()))
    return a[kept], c[kept], b[kept], t[kept]


def _hull(out: list[float], inside: list[float]) -> list[int]:
    """Indices of the corners of the concave hull of the ROC curve with these rises (pool adjacent violators)."""
    starts, outs, ins = [], [], []
    for i, (o, p) in enumerate(zip(out, inside, strict=True)):
        start = i
        while outs and ins[-1] * o <= p * outs[-1]:  # the earlier edge is no steeper: merge
            o, p, start = o + outs.pop(), p + ins.pop(), starts.pop()
        starts.append(start)
        outs.append(o)
        ins.append(p)
    return [*starts, len(out)]
