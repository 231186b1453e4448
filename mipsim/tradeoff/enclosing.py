"""Finite laws of privacy losses between which that of a convex curve lies."""

from __future__ import annotations

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounded import BoundedTradeOff
from mipsim.tradeoff.bounds import CurveBounds
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.partition import Partition
from mipsim.tradeoff.polygons import SummedLosses, as_polygon
from mipsim.tradeoff.privacy_loss import PrivacyLossDistribution
from mipsim.tradeoff.sampled import OUTWARD, SampledTradeOff, around, moved

Law = PrivacyLossDistribution
_FARTHEST = 37.0  # the probit of a rate of 6e-300, float64's least
_COARSE = np.linspace(-_FARTHEST, _FARTHEST, 741)
_ROUNDING = 1e-13  # of the masses and losses of a law, relative
_NEGLIGIBLE = 1e-11  # error of masses for which a polygon is a single law, not two


def enclosing_laws(curve: AbstractTradeOff, points: int, rare: float = 0.0) -> tuple[Law, Law, float]:
    """Finite laws that reveal more and less than a convex curve, and a bound on the relative error of their masses.

    A polygon is its own law. Another curve lies between the two polygons of a `Partition`.

    `curve`: convex; `points`: samples, >= 16; `rare`: rates up to which they are few, in [0, 1/2).
    """
    if isinstance(curve, InverseTradeOff):
        below, above, rounding = enclosing_laws(curve.inner, points, rare)
        return _turned(below), _turned(above), rounding
    if isinstance(curve, BoundedTradeOff) and not curve.rounding and not curve.sideways:
        below, above = (enclosing_laws(end, points, rare) for end in (curve.lower, curve.upper))
        return below[0], above[1], max(below[2], above[2])
    if (corners := as_polygon(curve)) is not None:
        known = SummedLosses.of(corners)
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


def _polygons(curve: AbstractTradeOff, points: int, rare: float) -> tuple[SampledTradeOff, SampledTradeOff]:
    """A convex polygon below a convex curve and a polygon above."""
    known = Partition(curve, np.concatenate([[-np.inf], _COARSE, [np.inf]]))
    known.add(np.setdiff1d(_probits(known.bounds, points, rare), known.z))
    return around([known.safe_points(), known.corners()], OUTWARD), around([known.sure_points()], -OUTWARD)


def _probits(coarse: CurveBounds, points: int, rare: float) -> np.ndarray:
    """Of FPRs, rising; few where FPR and TPR, or FNR and TNR, are rare, by bounds at those of `_COARSE`, and at 0 and 1."""
    with np.errstate(divide="ignore"):
        left, right = (
            int((end[1:-1] <= np.log(rare)).sum()) for end in (coarse.log_tpr_high, coarse.log_fnr_high)
        )
    if rare == 0.0 or left + right > _COARSE.size - 8:
        return np.linspace(-_FARTHEST, _FARTHEST, points)
    places = -_FARTHEST, _COARSE[max(left - 1, 0)], _COARSE[_COARSE.size - max(right, 1)], _FARTHEST
    few = points // 16
    parts = zip(places, places[1:], (few, points - 2 * few, few), strict=False)
    return np.concatenate([np.linspace(*part) for part in parts])
