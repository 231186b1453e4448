"""The convex hull of trade-off functions: an attacker who may choose between several curves and randomise."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import numpy as np

from mipsim._validation import number
from mipsim.tradeoff.atoms import as_polygon
from mipsim.tradeoff.base import AbstractTradeOff, checked_curves
from mipsim.tradeoff.bounds import CurveBounds, log_complement
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff, exchanged
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.partition import Corners, Partition, safe_and_sure
from mipsim.tradeoff.sampled import SampledTradeOff, turned_over

Curves = tuple[AbstractTradeOff, ...]


class ConvexHullTradeOff(AbstractTradeOff):
    """The largest convex function below several curves, which themselves need not be convex.

    Above it lie the chords between points of the curves; below it the hull of the polygons that enclose them.

    Attributes:
        curves: the curves below which it lies, at least one.
        symmetric: whether it is its own inverse.

    Examples:
        >>> from mipsim.tradeoff import FoldedLaplaceTradeOff
        >>> type(FoldedLaplaceTradeOff(1.0).symmetrized()).__name__
        'ConvexHullTradeOff'
    """

    curves: Curves
    upper: SampledTradeOff
    lower: SampledTradeOff
    symmetric: bool = eqx.field(static=True)

    def __init__(self, curves: Curves, *, symmetric: bool) -> None:
        self.curves, self.symmetric = curves, symmetric
        outlines = [_outline(curve) for curve in curves]
        self.lower, self.upper = (_hull([outline[k] for outline in outlines]) for k in (0, 1))

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        low, high = self.lower.enclosure(log_fpr), self.upper.enclosure(log_fpr)
        bounds = CurveBounds(low.log_fnr_low, high.log_fnr_high, high.log_tpr_low, low.log_tpr_high)
        for curve in self.curves:
            found = curve.enclosure(log_fpr)
            bounds = bounds._replace(
                log_fnr_high=np.minimum(bounds.log_fnr_high, found.log_fnr_high),
                log_tpr_low=np.maximum(bounds.log_tpr_low, found.log_tpr_low),
            )
        return bounds

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self if self.symmetric else convex_hull(*(c.inverse() for c in self.curves))

    def largest_loss_bounds(self) -> tuple[float, float]:
        ends = [curve.largest_loss_bounds() for curve in self.curves]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def _supremum(self, objective: Any, queries: int, enough: Any) -> tuple[np.ndarray, np.ndarray]:
        """What rises with leakage and is quasi-convex is largest on one of the curves."""
        ends = [curve._supremum(objective, queries, enough) for curve in self.curves]
        return np.max([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)

    def least_mu_bounds(self) -> tuple[float, float]:
        ends = [curve.least_mu_bounds() for curve in self.curves]
        return max(low for low, _ in ends), max(high for _, high in ends)

    def mu_ceiling(self) -> float:
        return max(curve.mu_ceiling() for curve in self.curves)


def _outline(curve: AbstractTradeOff) -> tuple[Corners, Corners]:
    """Corners of a polygon around the curve, and points on it or above."""
    if isinstance(curve, InverseTradeOff):
        low, high = _outline(curve.inner)
        return exchanged(low), exchanged(high)
    vertices = curve.vertices()
    if vertices is not None:
        return safe_and_sure(vertices)
    points = Partition(curve).refined(_TIMES)
    both = zip(points.safe_points(), points.corners(), strict=True)
    return Corners(*(np.concatenate(pair) for pair in both)), points.sure_points()


_TIMES = 2  # 7,500 points


def _hull(parts: list[Corners]) -> SampledTradeOff:
    x, missed, caught = (np.concatenate([part[k] for part in parts]) for k in range(3))
    end = [np.append(v, e) for v, e in ((x, 0.0), (missed, -np.inf), (caught, 0.0))]
    x, missed, caught = end
    return SampledTradeOff.from_points(np.exp(x), np.exp(log_complement(x)), np.exp(missed), np.exp(caught))


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
    if len(curves) == 1 and curves[0].is_convex():
        return curves[0]
    if len(polygons) < len(curves):
        return ConvexHullTradeOff(tuple(curves), symmetric=False)
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
        return _hull_of_polygons([corners, turned_over(corners)])
    return ConvexHullTradeOff((curve, turned), symmetric=True)


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


def _hull_of_polygons(corners: list[SampledTradeOff]) -> SampledTradeOff:
    fields = ("alpha", "complement", "corners", "tpr")
    return SampledTradeOff.from_points(*(np.concatenate([getattr(c, f) for c in corners]) for f in fields))
