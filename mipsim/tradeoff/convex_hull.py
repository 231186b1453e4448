"""The convex hull of trade-off functions: an attacker who may choose between several curves and randomise."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from mipsim._validation import number
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, log_difference, lowered, probit_of_log
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff, exchanged
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.partition import Corners, Partition, defined, safe_and_sure
from mipsim.tradeoff.points import log_rates, rises
from mipsim.tradeoff.polygons import as_polygon
from mipsim.tradeoff.sampled import OUTWARD, AbstractPolygon, SampledTradeOff, around, turned_over
from mipsim.tradeoff.sure_mass import SureMass

Curves = tuple[AbstractTradeOff, ...]

_TIMES = 2  # that the intervals of an outline are cut into eight: some 8,000 points
# relative distances of neighbours: the nearer is best where the curve bends, the farther where not
_STEPS = (1e-5, 1e-2)
_STEEPEST = 600.0  # logarithms of slopes that are looked at for common tangents
_SURELY = 1e-5  # relative: nearer heights of two outlines may be in any order
_MOST_BRIDGES = 16


class ConvexHullTradeOff(AbstractTradeOff):
    """The largest convex function below several curves, which themselves need not be convex.

    Above it lie the chords between points of the curves. Below it lies every line of slope -s with the intercept
    1 - delta, delta the largest TPR - s FPR of all the curves: such lines are taken at each FPR from the tangent of each
    convex curve, and from the common tangents of two curves.

    Attributes:
        curves: the curves below which it lies, at least 1.
        symmetric: whether it is its own inverse.
        two_way: whether it stands for the worse of two directions, those of its two curves.

    Examples:
        >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
        >>> both = FoldedLaplaceTradeOff(1.0).symmetrized()
        >>> low, high = both.beta_bounds(0.4)
        >>> type(both).__name__, round(low, 6), high - low < 1e-9
        ('ConvexHullTradeOff', 0.37487, True)
    """

    curves: Curves
    symmetric: bool
    two_way: bool

    def __init__(self, curves: Curves, *, two_way: bool) -> None:
        self.curves, self.two_way = curves, two_way
        self.symmetric = two_way or (len(curves) == 2 and curves[1] == curves[0].inverse())

    @cached_property
    def _corners(self) -> list[tuple[Corners, Corners]]:
        return [_outline(curve) for curve in self.curves]

    @cached_property
    def lower(self) -> SampledTradeOff:
        """A polygon below the hull."""
        return around([safe for safe, _ in self._corners], OUTWARD)

    @cached_property
    def outlines(self) -> tuple[SampledTradeOff, ...]:
        """A polygon below each curve."""
        return tuple(around([safe], OUTWARD) for safe, _ in self._corners)

    @cached_property
    def _bridges(self) -> list[_Bridge]:
        """Where two curves change places, by falling slope."""
        if len(self.curves) == 1:
            return []
        slopes = np.sort(np.concatenate([_slopes(each)[1:-1] for each in self.outlines]))[::-1]
        slopes = slopes[np.abs(slopes) < _STEEPEST]
        heights = np.stack([_height(each, slopes) for each in self.outlines])
        best = heights.argmax(axis=0)
        ahead = np.sort(heights, axis=0)
        with np.errstate(invalid="ignore"):
            sure = np.flatnonzero(ahead[-1] - ahead[-2] > _SURELY)
        changes = sure[:-1][best[sure[:-1]] != best[sure[1:]]], sure[1:][best[sure[:-1]] != best[sure[1:]]]
        return [
            _Bridge(self, (int(best[a]), int(best[b])), (float(slopes[a]), float(slopes[b])))
            for a, b in zip(*changes, strict=True)
        ][:_MOST_BRIDGES]

    @cached_property
    def _uppers(self) -> dict[tuple[int, ...], SampledTradeOff]:
        return {}

    def _upper(self, near: tuple[int, ...]) -> SampledTradeOff:
        """A polygon above the hull, with the ends of some bridges."""
        if near not in self._uppers:
            touched = [points for k in near for points in self._bridges[k].touched]
            self._uppers[near] = around([*(sure for _, sure in self._corners), *touched], -OUTWARD)
        return self._uppers[near]

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64)
        near = tuple(
            k for k, one in enumerate(self._bridges) if ((x >= one.reach[0]) & (x <= one.reach[1])).any()
        )
        low, high = self.lower.enclosure(x), self._upper(near).enclosure(x)
        result = [curve.enclosure(x) for curve in self.curves]
        fnr_high = np.min([high.log_fnr_high, *(each.log_fnr_high for each in result)], axis=0)
        tpr_low = np.max([high.log_tpr_low, *(each.log_tpr_low for each in result)], axis=0)
        fnr_low, tpr_high = low.log_fnr_low, low.log_tpr_high
        for missed, caught in [*self._by_common_tangents(x, near), *self._by_own_tangents(x, result)]:
            fnr_low, tpr_high = np.fmax(fnr_low, missed), np.fmin(tpr_high, caught)
        fnr_low, tpr_high = np.minimum(fnr_low, fnr_high), np.maximum(tpr_high, tpr_low)
        return CurveBounds(fnr_low, fnr_high, tpr_low, tpr_high)

    def _by_common_tangents(
        self, x: np.ndarray, near: tuple[int, ...]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        left = log_complement(x)
        off = 16.0 * EPS * (1.0 + np.where(np.isneginf(x), 0.0, np.abs(x)))
        with np.errstate(invalid="ignore"):
            return [
                (_less(slope + left - off, other), np.minimum(np.logaddexp(height, slope + x + off), 0.0))
                for slope, height, other in (self._bridges[k].tangent for k in near)
            ]

    def _by_own_tangents(
        self, x: np.ndarray, bounds: list[CurveBounds]
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """From a line through a point of a convex curve, above that curve and above the outlines of the others."""
        lines = []
        for i, curve in enumerate(self.curves):
            if not curve.is_convex():
                continue
            for step in _STEPS:
                with np.errstate(all="ignore"):
                    slope, fnr_low, tpr_high = _tangent_line(curve, x, bounds[i], step)
                    slack = 16.0 * EPS * (1.0 + np.abs(np.where(np.isneginf(x), 0.0, x)) + np.abs(slope))
                    for k, outline in enumerate(self.outlines):
                        if k != i:
                            height, other = _height(outline, slope), _height(outline, slope, missed=True)
                            tpr_high = np.maximum(tpr_high, np.logaddexp(height, slope + x) + slack)
                            fnr_low = np.minimum(fnr_low, _less(slope + log_complement(x) - slack, other))
                inner = np.isfinite(x) & (x < 0.0) & np.isfinite(slope)
                lines.append(
                    (np.where(inner, fnr_low, np.nan), np.where(inner, np.minimum(tpr_high, 0.0), np.nan))
                )
        return lines

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self if self.symmetric else convex_hull(*(c.inverse() for c in self.curves))

    def _one_way(self) -> AbstractTradeOff | None:
        return self.curves[0] if self.two_way else None

    def largest_loss_bounds(self) -> tuple[float, float]:
        return self._most([curve.largest_loss_bounds() for curve in self.curves])

    def inverse_loss_bounds(self) -> tuple[float, float]:
        return self._most([curve.inverse_loss_bounds() for curve in self.curves])

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        return self._most([curve._sure_mass(inside=inside) for curve in self.curves])

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._most([curve._log_delta(epsilon) for curve in self.curves])

    def _epsilon(self, log_delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._most([curve._epsilon(log_delta) for curve in self.curves])

    @staticmethod
    def _most(ends: list[tuple[Any, Any]]) -> tuple[Any, Any]:
        """Bounds of the largest of several numbers, from those of each."""
        return tuple(np.max([end[k] for end in ends], axis=0)[()] for k in (0, 1))  # pyright: ignore[reportReturnType]

    def _supremum(self, objective: Any, queries: int, enough: Any) -> tuple[np.ndarray, np.ndarray]:
        """What rises with leakage and is quasi-convex is largest on some curve."""
        return self._most([curve._supremum(objective, queries, enough) for curve in self.curves])

    def least_mu_bounds(self) -> tuple[float, float]:
        return self._most([curve.least_mu_bounds() for curve in self.curves])

    def mu_ceiling(self) -> float:
        return max(curve.mu_ceiling() for curve in self.curves)


class _Bridge:
    """A line that touches two curves; `slopes`: between which they change places, falling; logarithms."""

    def __init__(self, hull: ConvexHullTradeOff, pair: tuple[int, int], slopes: tuple[float, float]) -> None:
        self.hull, self.pair, self.slopes = hull, pair, slopes
        outlines = [hull.outlines[k] for k in pair]
        ends = [_touched(outline, slope) for outline in outlines for slope in slopes]
        self.reach = min(map(min, ends)), max(map(max, ends))  # logarithms of the FPRs that it passes over

    @cached_property
    def slope(self) -> float:
        """Its logarithm."""
        return _common_slope(self.hull.curves, self.pair, self.slopes)

    @cached_property
    def tangent(self) -> tuple[float, float, float]:
        """A line below all curves: logarithms of the slope and of both intercepts."""
        ends = np.max([_heights(curve, self.slope)[1] for curve in self.hull.curves], axis=0)
        return self.slope, float(ends[0]), float(ends[1])

    @cached_property
    def touched(self) -> list[Corners]:
        """Points of each curve near the line."""
        both = zip(self.hull.curves, self.hull._corners, strict=True)
        return [_touching(curve, sure, self.slope) for curve, (_, sure) in both]


def _less(larger: np.ndarray, smaller: np.ndarray | float) -> np.ndarray:
    """log(e^larger - e^smaller), -inf where that is negative."""
    return lowered(log_difference(larger, np.minimum(smaller, larger)))


def _outline(curve: AbstractTradeOff) -> tuple[Corners, Corners]:
    """Corners of a polygon around the curve, and points on it or above."""
    if isinstance(curve, InverseTradeOff):
        low, high = _outline(curve.inner)
        return exchanged(low), exchanged(high)
    vertices = curve.vertices()
    if vertices is not None:
        return safe_and_sure(vertices)
    points = Partition(curve).refined(_TIMES if curve.is_convex() else _TIMES + 1)
    both = zip(points.safe_points(), points.corners(), strict=True)
    return Corners(*(np.concatenate(pair) for pair in both)), points.sure_points()


def _slopes(outline: SampledTradeOff) -> np.ndarray:
    """Logarithms of the slopes of the ROC curve's edges, falling, with inf first and -inf last."""
    out, inside = rises(outline.alpha, outline.complement, outline.corners, outline.tpr)
    with np.errstate(divide="ignore", invalid="ignore"):
        inside = np.maximum(inside, 0.0)
        return np.concatenate([[np.inf], np.minimum.accumulate(np.log(inside) - np.log(out)), [-np.inf]])


def _touched(outline: SampledTradeOff, slope: float) -> list[float]:
    """Logarithms of the FPRs of the corner that a line touches, and of its neighbours."""
    place = int(np.searchsorted(-_slopes(outline), -slope)) - 1
    return log_rates(outline.alpha, outline.complement)[max(place - 1, 0) : place + 2].tolist()


def _height(outline: SampledTradeOff, slope: np.ndarray, *, missed: bool = False) -> np.ndarray:
    """Logarithm of the largest TPR - s FPR over a polygon, or of the largest s (1 - FPR) - FNR; rounded up."""
    place = np.searchsorted(-_slopes(outline), -slope) - 1
    best = np.full(np.shape(slope), -np.inf)
    if missed:
        gained, paid = log_rates(outline.complement, outline.alpha), log_rates(outline.corners, outline.tpr)
    else:
        gained, paid = log_rates(outline.tpr, outline.corners), log_rates(outline.alpha, outline.complement)
    for k in (-1, 0, 1):
        at = np.clip(place + k, 0, outline.alpha.size - 1)
        up, down = (slope + gained[at], paid[at]) if missed else (gained[at], slope + paid[at])
        with np.errstate(invalid="ignore"):
            slack = 32.0 * EPS * (1.0 + np.abs(slope) + np.where(np.isfinite(down), np.abs(down), 0.0))
            best = np.fmax(best, log_difference(up + slack, np.minimum(down - slack, up + slack)))
    return best


def _line_height(slope: float, points: Corners) -> np.ndarray:
    """About TPR - s FPR of points, as logarithms."""
    return log_difference(points.log_tpr, np.minimum(slope + points.log_fpr, points.log_tpr))


def _heights(curve: AbstractTradeOff, slope: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the largest TPR - s FPR, and of the largest s (1 - FPR) - FNR, of a curve; logarithms, shape (2,).

    The first is delta at the epsilon log s, for s < 1 up to a constant s times that of the inverse at -log s; the second is the first less 1 - s.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of wide bounds, which make the hull's wide
        ends = (curve if slope >= 0.0 else curve.inverse())._log_delta(np.array([abs(slope)]))
    least, most = (float(end[0]) + min(slope, 0.0) for end in ends)
    with np.errstate(divide="ignore"):
        rest = max(slope, 0.0) + np.log(-np.expm1(-abs(slope)))
    both = [(end, np.logaddexp(end, rest)) for end in (least, most)]
    low, high = (np.array(pair if slope >= 0.0 else pair[::-1]) for pair in both)
    off = 8.0 * EPS * (1.0 + abs(slope))
    return lowered(low) - off, high + 8.0 * EPS * np.abs(np.where(np.isneginf(high), 0.0, high)) + off


def _common_slope(curves: Curves, pair: tuple[int, int], ends: tuple[float, float]) -> float:
    """Logarithm of the slope of the line that touches both curves, or of a line of which the bounds of both do not tell which is ahead."""

    @cache
    def ahead(slope: float) -> float:
        (low, high), (least, most) = ([float(end[0]) for end in _heights(curves[k], slope)] for k in pair)
        return 0.0 if low <= most and least <= high else low + high - least - most

    first, last, wider = *ends, 1e-3 + abs(ends[0] - ends[1])
    for _ in range(12):  # the outlines of both may be off by more than they are apart
        if ahead(first) * ahead(last) <= 0.0:
            break
        first, last, wider = first + wider, last - wider, 2.0 * wider
    else:
        return 0.5 * (ends[0] + ends[1])
    from scipy.optimize import brentq  # a fourth of a second: not when the library is imported

    return float(brentq(ahead, last, first, xtol=1e-12, rtol=1e-12))  # pyright: ignore[reportArgumentType]


def _touching(curve: AbstractTradeOff, points: Corners, slope: float) -> Corners:
    """Points of the curve near the point that a line of this slope touches, from points of its outline."""
    if isinstance(curve, InverseTradeOff):
        height = lambda points: _line_height(slope, exchanged(points))  # noqa: E731
        return exchanged(_touching_points(curve.inner, height, exchanged(points)))
    return _touching_points(curve, lambda points: _line_height(slope, points), points)


def _touching_points(
    curve: AbstractTradeOff, height: Callable[[Corners], np.ndarray], points: Corners
) -> Corners:
    z, result = np.sort(np.clip(probit_of_log(points.log_fpr), -37.0, 37.0)), []
    best = int(height(points)[np.argsort(points.log_fpr)].argmax())
    for _ in range(5):
        z = np.linspace(z[max(best - 1, 0)], z[min(best + 1, z.size - 1)], 33)
        bounds = defined(curve, x := np.asarray(log_ndtr(z)))
        result.append(Corners(x, bounds.log_fnr_high, bounds.log_tpr_low))
        best = int(height(result[-1]).argmax())
    return Corners(*(np.concatenate(parts) for parts in zip(*result, strict=True)))


def _tangent_line(
    curve: AbstractTradeOff, x: np.ndarray, at: CurveBounds, step: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A line above a concave ROC curve near each point: its slope, and the rates where it passes above; logarithms.

    The slope s lies between those of the chords to neighbours at both sides. Beyond a neighbour the curve stays below the
    prolonged chord, so that no point has TPR - s FPR above that of the point itself by more than the chords differ.
    """
    small = x <= -np.log(2.0)
    other = log_complement(x)
    before = np.where(small, x - step, log_complement(np.minimum(other + step, 0.0)))
    after = np.where(small, x + step, log_complement(other - step))
    ends = curve.enclosure(np.minimum(np.stack([before, after]), 0.0))
    left, right = (CurveBounds(*(end[k] for end in ends)) for k in (0, 1))
    width_left, width_right = log_difference(x, before), log_difference(after, x)
    slack = 16.0 * EPS * (4.0 + np.where(np.isneginf(x), 0.0, np.abs(x)))
    steepest, steep = (v - width_left for v in _rise(left, at))
    flat, flattest = (v - width_right for v in _rise(at, right))
    steepest, flat, steep, flattest = steepest + slack, flat + slack, steep - slack, flattest - slack
    middle = np.logaddexp(0.5 * (steepest + steep), 0.5 * (flat + flattest)) - np.log(2.0)
    slope = np.where(at.log_tpr_high <= -np.log(2.0), np.maximum(middle, flat), np.minimum(middle, steep))
    over_left = np.logaddexp(_more(slope, flattest) + width_left, _more(slope, steep) + before)
    over_right = np.logaddexp(
        _more(steepest, slope) + width_right, _more(flat, slope) + log_complement(after)
    )
    over = np.maximum(over_left, over_right) + slack
    return slope, _less(at.log_fnr_low, over), np.logaddexp(at.log_tpr_high, over) + slack


def _more(larger: np.ndarray, smaller: np.ndarray) -> np.ndarray:
    return log_difference(np.maximum(larger, smaller), smaller)


def _rise(left: CurveBounds, right: CurveBounds) -> tuple[np.ndarray, np.ndarray]:
    """The most and the least that the TPR rises between two points; logarithms."""
    most = np.minimum(
        _more(right.log_tpr_high, left.log_tpr_low), _more(left.log_fnr_high, right.log_fnr_low)
    )
    return most, np.maximum(
        _more(right.log_tpr_low, left.log_tpr_high), _more(left.log_fnr_low, right.log_fnr_high)
    )


def convex_hull(*curves: AbstractTradeOff) -> AbstractTradeOff:
    """The largest convex function below all the curves, which themselves need not be convex.

    Of a single convex curve it is that curve; of polygons their hull, exactly.

    Source: Dong, Roth and Su (2022), proposition A.1: a trade-off function is convex because tests may be mixed.

    Examples:
        >>> from mipsim.tradeoff import ApproxDPTradeOff, GaussianTradeOff
        >>> both = convex_hull(GaussianTradeOff(1.0), ApproxDPTradeOff(0.0, 0.3))
        >>> both.beta([0.0, 0.6]).round(6).tolist()
        [0.7, 0.075834]
    """
    checked_curves(curves)
    polygons = [c for curve in curves if (c := as_polygon(curve)) is not None]
    if len(curves) == 1 and curves[0].is_convex():
        return curves[0]
    if len(polygons) < len(curves):
        return ConvexHullTradeOff(tuple(curves), two_way=False)
    return _hull_of_polygons(polygons)


def symmetrized(curve: AbstractTradeOff) -> AbstractTradeOff:
    """`AbstractTradeOff.symmetrized`: the curve of an attacker who may choose which world is the null.

    Source: Kaissis et al., relaxed threat model, section 2; Dong, Roth and Su (2022), definition F.1, where
    x <= f(x) at the point of slope -1.
    """
    turned = curve.inverse()
    if turned is curve:
        return curve
    if (corners := as_polygon(curve)) is not None:
        return _hull_of_polygons([corners, turned_over(corners)]).as_worse_of(curve)
    return ConvexHullTradeOff((curve, turned), two_way=True)


def convexified(curve: AbstractTradeOff) -> AbstractTradeOff:
    """`AbstractTradeOff.convexified`."""
    return convex_hull(curve)


def subsampled(curve: AbstractTradeOff, sampling_rate: float) -> AbstractTradeOff:
    """`AbstractTradeOff.subsampled`: conv(min(f_p, f_p^-1)) with f_p = p f + (1 - p) Id.

    f_p alone, `MixtureTradeOff(curve, sampling_rate)`, is the curve of the direction whose null is the world without
    the target.
    """
    p = number("sampling_rate", sampling_rate, 0.0, 1.0)
    if p == 0.0:
        return GaussianTradeOff(0.0)
    return symmetrized(curve if p == 1.0 else MixtureTradeOff(curve, p))


def _hull_of_polygons(corners: Sequence[AbstractPolygon]) -> SampledTradeOff:
    fields = ("alpha", "complement", "corners", "tpr")
    return SampledTradeOff.from_points(
        *(np.concatenate([getattr(c, f) for c in corners]) for f in fields),
        slack=max(c.slack for c in corners),
        lost=max(c.lost for c in corners),
        losses=(max(c.steepest for c in corners), min(c.flattest for c in corners)),
    )
