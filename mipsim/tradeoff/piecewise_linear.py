"""A trade-off function given by its corners: discrete laws, tables, and exact laws on a grid."""

import numpy as np

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff, rates
from mipsim.tradeoff.bounds import EPS, CurveBounds, Vertices, lowered, raised
from mipsim.tradeoff.points import hull_corners

_ROUNDING = 1e-12  # of vertices that a user has computed: they may miss convexity by so much


class PiecewiseLinearTradeOff(AbstractTradeOff):
    """The convex polygon through the points (alpha[i], beta[i]); randomising between two tests walks an edge.

    Args:
        alpha: FPR at the corners, shape (m,), m >= 2, strictly increasing from 0 to 1.
        beta: FNR at the corners, shape (m,): non-increasing, convex, at most 1 - alpha (each to 1e-12). Corners that rounding
            has put above the lower convex hull are left out.

    Source: Dong, Roth, Su (2022), section 2.1; Neyman & Pearson (1933) for the convex polygon of a discrete law.

    Examples:
        >>> response = PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0])  # randomised response, eps = log 3
        >>> float(response.beta(0.1)), response.advantage()
        (0.7, 0.5)
        >>> PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0.6, 0])
        Traceback (most recent call last):
        ...
        ValueError: beta holds 0.6 at alpha 0.5; it must be at most 1 - alpha
    """

    alpha: np.ndarray
    corners: np.ndarray

    def __init__(self, alpha: object, beta: object) -> None:
        a = finite_vector("alpha", alpha)
        b = finite_vector("beta", beta, a.size)
        if a.size < 2 or a[0] != 0.0 or a[-1] != 1.0:
            raise ValueError(f"alpha runs from {a[0]:g} to {a[-1]:g}; it must run from 0 to 1")
        if (still := np.diff(a) <= 0).any():
            raise ValueError(
                f"alpha holds {a[1:][still][0]:g} after {a[:-1][still][0]:g}; it must increase strictly"
            )
        rates("beta", b)
        if (above := b > 1.0 - a + _ROUNDING).any():
            raise ValueError(
                f"beta holds {b[above][0]:g} at alpha {a[above][0]:g}; it must be at most 1 - alpha"
            )
        if (rising := np.diff(b) > _ROUNDING).any():
            raise ValueError(f"beta rises after alpha {a[:-1][rising][0]:g}; it must not increase")
        kept = hull_corners(np.diff(a), -np.diff(b))
        if (bent := b > np.interp(a, a[kept], b[kept]) + _ROUNDING).any():
            raise ValueError(f"beta lies above the chord at alpha {a[bent][0]:g}; it must be convex")
        self.alpha, self.corners = a[kept], b[kept]

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return interpolated(log_fpr, self.alpha, 1.0 - self.alpha, self.corners, 1.0 - self.corners)

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        from mipsim.tradeoff.sampled import through_corners, turned_over  # both are built on this module

        return turned_over(through_corners(self))

    def vertices(self) -> Vertices:
        return vertices_of(self.alpha, 1.0 - self.alpha, self.corners, 1.0 - self.corners)

    def largest_loss_bounds(self) -> tuple[float, float]:
        return first_loss(self.alpha, 1.0 - self.corners)


def log_rates(rate: np.ndarray, complement: np.ndarray) -> np.ndarray:
    """Logarithms of rates, each from whichever of the rate and its complement is small.

    Examples:
        >>> print(log_rates(np.array([0.0, 1.0]), np.array([1.0, 1e-30])))
        [  -inf -1e-30]
    """
    with np.errstate(divide="ignore"):
        return np.where(rate <= 0.5, np.log(rate), np.log1p(-complement))


def vertices_of(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> Vertices:
    """The corners of a polygon with all four rates, shape (m,) each, as `Vertices`.

    Examples:
        >>> one = np.array([0.0, 1.0])
        >>> vertices_of(one, 1 - one, 1 - one, one).log_fpr_low.tolist()
        [-inf, 0.0]
    """
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

    Examples:
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
    """Bounds of the polygon through corners with all four rates, shape (m,) each, at logarithms of FPRs of any shape.

    Examples:
        >>> one = np.array([0.0, 1.0])
        >>> interpolated(np.log([0.25]), one, 1 - one, 1 - one, one).log_tpr_low.round(6).tolist()
        [-1.386294]
    """
    corners, missed, caught = log_rates(alpha, complement), log_rates(beta, tpr), log_rates(tpr, beta)

    def at(x: np.ndarray) -> tuple[np.ndarray, ...]:
        right = np.clip(np.searchsorted(corners, x, side="right"), 1, max(1, corners.size - 1))
        left = right - 1
        right = np.minimum(right, corners.size - 1)
        inside = x < corners[right]
        start, end = corners[left], corners[right]
        with np.errstate(divide="ignore", invalid="ignore"):
            width = np.expm1(
                start - end
            )  # ratios: near FPR 1 the logarithm of a width is large, and so would its rounding be
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
    found = CurveBounds(
        fnr[1] - miss, np.minimum(fnr[0] + miss, 0.0), tpr_[0] - catch, np.minimum(tpr_[1] + catch, 0.0)
    )
    found = found.tightened()
    first = CurveBounds.of_logs(missed[:1], caught[:1], 2.0 if tpr[0] > 0.0 else 0.0)
    last = CurveBounds(*(np.full(x.shape, v) for v in (-np.inf, -np.inf, 0.0, 0.0)))
    return first.where(np.isneginf(x), last.where(x == 0.0, found))
