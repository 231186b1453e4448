"""The convex hull of trade-off functions: an attacker who may choose between several curves and randomise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import number
from mipsim.tradeoff.atoms import as_polygon
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves, rates
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.inverse import inverse
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.points import distinct, hull_corners, rises
from mipsim.tradeoff.sampled import SampledTradeOff, sample, turned_over

_POINTS = 1 << 12  # in probits of the FPR, .011 apart; bridges between them are then refined to the curves
_LEAST_HEIGHT = 1e-12  # relative: a lower bridge is rounding
_LEAST_BEND = 1e-10  # relative: what a straight stretch may seem to bend by rounding
Curves = tuple[AbstractTradeOff, ...]


class ConvexHullTradeOff(AbstractTradeOff):
    """The largest convex function below several curves: their least one, bridged by common tangents.

    Built by `convex_hull`, which finds the bridges. Off the bridges it is exactly the least curve; on them the straight
    line, whose ends are found to some 1e-8 in probits, which moves the line by less than 1e-12.

    Attributes:
        curves: the curves below which it lies, at least one.
        starts, ends: (alpha, 1 - alpha, beta, tpr) at both ends of each bridge, shape (bridges, 4), by rising FPR.
        symmetric: whether it is its own inverse.

    Examples:
        >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
        >>> both = FoldedLaplaceTradeOff(1.0).symmetrized()
        >>> type(both).__name__, both.starts[0, :1].round(4).tolist(), both.ends[0, :1].round(4).tolist()
        ('ConvexHullTradeOff', [0.3001], [0.4748])
    """

    curves: Curves
    starts: np.ndarray
    ends: np.ndarray
    symmetric: bool = eqx.field(static=True)

    def _on_bridges(self, a: np.ndarray, column: int, low: np.ndarray) -> np.ndarray:
        for start, end in zip(self.starts, self.ends, strict=True):
            on = (a > start[0]) & (a < end[0])
            if on.any():
                width = end[0] - start[0] if start[0] <= 0.5 else start[1] - end[1]
                share = (a - start[0]) / width if start[0] <= 0.5 else (start[1] - (1.0 - a)) / width
                low = np.where(on, start[column] + share * (end[column] - start[column]), low)
        return low

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        return np.asarray(self._on_bridges(a, 2, _least_beta(self.curves, a)))

    def tpr_at(self, fpr: object) -> np.ndarray:
        a = rates("fpr", fpr)
        return np.asarray(self._on_bridges(a, 3, _most_tpr(self.curves, a)))


def _least_beta(curves: Curves, alpha: np.ndarray) -> np.ndarray:
    return np.min([curve.beta(alpha) for curve in curves], axis=0)


def _most_tpr(curves: Curves, alpha: np.ndarray) -> np.ndarray:
    return np.max([curve.tpr_at(alpha) for curve in curves], axis=0)


@inverse.register
def _(curve: ConvexHullTradeOff) -> AbstractTradeOff:
    return curve if curve.symmetric else convex_hull(*(c.inverse() for c in curve.curves))


def convex_hull(*curves: AbstractTradeOff) -> AbstractTradeOff:
    """The largest convex function below all the curves, which themselves need not be convex.

    Of one convex curve it is that curve; of polygons their hull, exactly.

    Source: Dong, Roth and Su (2022), proposition A.1: a trade-off function is convex because tests may be mixed.

    Examples:
        >>> from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff
        >>> both = convex_hull(GaussianTradeOff(1.0), ApproxDPTradeOff(0.0, 0.3))
        >>> both.beta([0.0, 0.6]).round(6).tolist()
        [0.7, 0.075834]
    """
    checked_curves(curves)
    polygons = [c for curve in curves if (c := as_polygon(curve)) is not None]
    if len(polygons) < len(curves):
        return _bridged(curves, symmetric=False)
    return curves[0] if len(curves) == 1 else _hull_of_polygons(polygons)


def symmetrized(curve: AbstractTradeOff) -> AbstractTradeOff:
    """`AbstractTradeOff.symmetrized`: the curve of an attacker who may choose which world is the null.

    Source: Kaissis et al., relaxed threat model, section 2; Dong, Roth and Su (2022), definition F.1, where
    x <= f(x) at the point of slope -1.
    """
    if isinstance(curve, BoundedTradeOff):
        return _between(curve, symmetrized)
    turned = inverse(curve)
    if turned is curve:
        return curve
    if (corners := as_polygon(curve)) is not None:
        return _hull_of_polygons([corners, turned_over(corners)])
    return _bridged((curve, turned), symmetric=True)


def convexified(curve: AbstractTradeOff) -> AbstractTradeOff:
    """`AbstractTradeOff.convexified`."""
    if isinstance(curve, BoundedTradeOff):
        low, high = convex_hull(curve.lower), convex_hull(curve.upper)
        return BoundedTradeOff(low, high, curve.rounding, curve.sideways)
    return convex_hull(curve)


def subsampled(curve: AbstractTradeOff, sampling_rate: float) -> AbstractTradeOff:
    """`AbstractTradeOff.subsampled`: conv(min(f_p, f_p^-1)) with f_p = p f + (1 - p) Id.

    f_p alone, `MixtureTradeOff(curve, sampling_rate)`, is the curve of the direction whose null is the world without
    the target.
    """
    p = number("sampling_rate", sampling_rate, 0.0, 1.0)
    if p == 0.0:
        return GaussianTradeOff(0.0)
    if isinstance(curve, BoundedTradeOff):
        return _between(curve, lambda bound: subsampled(bound, p))
    return symmetrized(curve if p == 1.0 else MixtureTradeOff(curve, p))


def _between(
    curve: BoundedTradeOff, operation: Callable[[AbstractTradeOff], AbstractTradeOff]
) -> BoundedTradeOff:
    """Each bound moves by as much as the allowances, and so do its inverse and the hull of both."""
    most = max(curve.rounding, curve.sideways)
    return BoundedTradeOff(operation(curve.lower), operation(curve.upper), most, most)


def _hull_of_polygons(corners: list[SampledTradeOff]) -> SampledTradeOff:
    fields = ("alpha", "complement", "corners", "tpr")
    return SampledTradeOff.from_points(*(np.concatenate([getattr(c, f) for c in corners]) for f in fields))


@dataclass(frozen=True, eq=False)
class _Samples:
    """Points of several curves by rising FPR: four rates, the curve and the place of each point within it."""

    rates: np.ndarray
    owner: np.ndarray
    place: np.ndarray


def _samples(curves: Curves) -> _Samples:
    grid = np.linspace(-37.0, 8.2, _POINTS)  # probits of rates that float64 tells from 0 and 1
    rows = []
    for curve in curves:
        if len(curves) > 1:
            chords = sample(curve, _POINTS)
            values = chords.alpha, chords.complement, chords.corners, chords.tpr
        else:
            alpha = np.concatenate([[0.0], ndtr(grid), [1.0]])
            values = alpha, 1.0 - alpha, curve.beta(alpha), curve.tpr_at(alpha)
        rows.append(np.stack(values, axis=1))
    table, owner = np.concatenate(rows), np.repeat(np.arange(len(rows)), [len(r) for r in rows])
    order = distinct(*table.T)
    return _Samples(table[order], owner[order], np.concatenate([np.arange(len(r)) for r in rows])[order])


def _bridged(curves: Curves, *, symmetric: bool) -> AbstractTradeOff:
    points = _samples(curves)
    kept = np.array(hull_corners(*rises(*points.rates.T), slack=_LEAST_BEND))
    first, last = kept[:-1], kept[1:]
    # Neighbours on one curve are joined by that curve; anything else may be a bridge, if the curves leave it.
    arc = (points.owner[first] == points.owner[last]) & (points.place[last] - points.place[first] <= 1)
    # Nor is anything where FPRs are rounded to a thousandth of their distance from 1.
    open_ = ~arc & (points.rates[first, 1] > 1e-13)
    first, last = first[open_], last[open_]
    leaves = _height_above_the_line(curves, points.rates[first], points.rates[last]) > _LEAST_HEIGHT
    pairs = zip(points.rates[first[leaves]], points.rates[last[leaves]], strict=True)
    bridges = np.array([_refined(curves, start, end) for start, end in pairs]).reshape(-1, 2, 4)
    if not len(bridges) and len(curves) == 1:
        return curves[0]
    return ConvexHullTradeOff(curves, bridges[:, 0], bridges[:, 1], symmetric)


def _height_above_the_line(curves: Curves, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """How far the least curve lies above lines at a point of each, relative to the lesser of TPR and FNR there."""
    left = end[:, 0] <= 0.5
    middle = np.where(left, 0.5 * (start[:, 0] + end[:, 0]), 1.0 - 0.5 * (start[:, 1] + end[:, 1]))
    width = np.where(left, end[:, 0] - start[:, 0], start[:, 1] - end[:, 1])
    share = np.where(left, middle - start[:, 0], start[:, 1] - (1.0 - middle)) / width
    beta, tpr = _least_beta(curves, middle), _most_tpr(curves, middle)
    line_beta, line_tpr = (start[:, k] + share * (end[:, k] - start[:, k]) for k in (2, 3))
    height = np.where(
        line_tpr <= 0.5, (line_tpr - tpr) / line_tpr, (beta - line_beta) / np.maximum(line_beta, 1e-300)
    )
    # An FPR near 1 is rounded to 1e-16, and the curve is read there.
    return height - 1e-15 / np.minimum(start[:, 1], 1.0)


def _refined(curves: Curves, start: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Move both ends of a bridge, each along the least curve, to where the line between them touches."""
    reach = 2.0 * (37.0 / (_POINTS // 2))
    for _ in range(3):
        out, inside = rises(*np.stack([start, end], axis=1))
        slope = float(inside[0] / out[0]) if out[0] > 0 else np.inf
        start, end = (_touching(curves, point, slope, reach) for point in (start, end))
    return start, end


def _touching(curves: Curves, point: np.ndarray, slope: float, reach: float) -> np.ndarray:
    """The point near `point` that lies farthest beyond a line of this slope through it."""
    if point[0] <= 0.0 or point[1] <= 0.0 or not np.isfinite(slope):
        return point
    centre = float(ndtri(point[0]) if point[0] <= 0.5 else -ndtri(point[1]))
    best, best_height, width = point, 0.0, reach
    for _ in range(6):
        alpha = np.unique(ndtr(np.linspace(centre - width, centre + width, 33)))
        beta, tpr, complement = _least_beta(curves, alpha), _most_tpr(curves, alpha), 1.0 - alpha
        gained = np.where(tpr <= 0.5, tpr - point[3], point[2] - beta)
        paid = np.where(alpha <= 0.5, alpha - point[0], point[1] - complement)
        heights = gained - slope * paid
        at = int(heights.argmax())
        if heights[at] > best_height:
            best_height = float(heights[at])
            best = np.array([alpha[at], complement[at], beta[at], tpr[at]])
            centre = float(ndtri(alpha[at]) if alpha[at] <= 0.5 else -ndtri(complement[at]))
        width /= 8.0
    return best
