"""Suprema and areas over a whole trade-off curve, between proven bounds: points of the curve, and a polygon around it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy.special import log_ndtr

from mipsim._budget import spent
from mipsim._validation import UndefinedError
from mipsim.tradeoff.bounds import EPS, CurveBounds, Vertices, log_difference, lowered, raised

GRID = np.concatenate([[-np.inf], -np.geomspace(1e8, 80.0, 8), np.linspace(-40.0, 38.0, 118), [np.inf]])
"""Probits of the FPRs at which a curve is read first; the largest below 1 is 1 - 3e-316."""

_PARTS = 8  # into which an interval is cut
_ROUNDS, _IDLE = 40, 3  # rounds in all, and so many without gain
_NEIGHBOURS = 1, 8, 64  # of the points that a chord is laid through
_STRAIGHT = 1e-9  # relative: slopes that are hardly apart
_WORTH = 1e-6  # a width of the points themselves, below which thrice of it costs no more points
MOST_POINTS, MOST_OF_OTHERS = 1 << 15, 1 << 12
"""Points of a convex curve and of a curve of which no convexity is known, at which refinement ends: what is then known is
valid, and wider."""


class Enclosed(Protocol):
    """What numbers of a curve are computed from; every `AbstractTradeOff` provides it."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Bounds of both error rates at logarithms of FPRs."""
        ...

    def vertices(self) -> Vertices | None:
        """The points of a polygon; None for other curves."""
        ...

    def is_convex(self) -> bool:
        """Whether the curve is known to be convex."""
        ...

    def largest_loss_bounds(self) -> tuple[float, float]:
        """Bounds of the largest privacy loss."""
        ...

    def inverse_loss_bounds(self) -> tuple[float, float]:
        """Bounds of the largest privacy loss of the inverse."""
        ...

    def mu_ceiling(self) -> float:
        """A mu for which the curve is surely mu-GDP."""
        ...

    def _alone(self) -> Enclosed: ...
    def _is_smooth(self) -> bool: ...
    def _partition(self) -> Partition: ...
    def _supremum(self, objective: Any, queries: int, enough: Any) -> tuple[np.ndarray, np.ndarray]: ...


class Corners(NamedTuple):
    """Points of a polygon outside which the truth is nowhere: natural logarithms of FPR, FNR and TPR."""

    log_fpr: np.ndarray
    log_fnr: np.ndarray
    log_tpr: np.ndarray


def safe_and_sure(vertices: Vertices) -> tuple[Corners, Corners]:
    """The vertices of a polygon with rates that overstate the leakage, and with those that the attacker surely has."""
    low, high, bounds = vertices
    return Corners(low, bounds.log_fnr_low, bounds.log_tpr_high), Corners(
        high, bounds.log_fnr_high, bounds.log_tpr_low
    )


Objective = Callable[[Corners, bool], np.ndarray]
"""Takes points, shape (m,), and whether to round up; returns values of shape (queries, m), larger for more leakage."""


def defined(curve: Enclosed, log_fpr: np.ndarray) -> CurveBounds:
    """The curve's enclosure, or an UndefinedError that says where it has no value."""
    bounds = curve.enclosure(log_fpr)
    if (bad := bounds.undefined()).any():
        raise UndefinedError(
            f"the curve {type(curve).__name__} is undefined (NaN) at FPR {np.exp(log_fpr[bad][0]):.3g}; a number that "
            "needs it cannot be given"
        )
    return bounds


class Partition:
    """Points of a curve by rising FPR, and for each interval a corner such that the polygon through both encloses the curve.

    Between two points a curve that falls stays inside the rectangle that they span. A convex curve also stays between
    the chords of the neighbouring intervals, prolonged until they meet: the error is of second order in the width.

    `curve`: any trade-off function; `grid`: probits of the first FPRs, from -inf to inf, rising. Raises UndefinedError if the curve is undefined (NaN) somewhere.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> points = Partition(GaussianTradeOff(1.0))
    >>> bool((points.corners().log_tpr[:-1] >= points.bounds.log_tpr_low[:-2]).all())
    True
    """

    def __init__(self, curve: Enclosed, grid: np.ndarray = GRID) -> None:
        self.curve, self.convex = curve._alone(), curve.is_convex()
        self.most = MOST_POINTS if self.convex else MOST_OF_OTHERS
        self.z = grid
        self.log_fpr = np.asarray(log_ndtr(self.z))
        self.bounds = defined(self.curve, self.log_fpr)

    def refined(self, times: int) -> Partition:
        """The same after each interval was cut so often."""
        for _ in range(times):
            self.split(np.ones(self.z.size - 1, bool), 1 << 17)
        return self

    def safe_points(self) -> Corners:
        """The points with rates that overstate the leakage."""
        return Corners(self.log_fpr, self.bounds.log_fnr_low, self.bounds.log_tpr_high)

    def sure_points(self) -> Corners:
        """The points with rates that the attacker surely has."""
        return Corners(self.log_fpr, self.bounds.log_fnr_high, self.bounds.log_tpr_low)

    def split(self, chosen: np.ndarray, most: int | None = None) -> bool:
        """Cut the chosen intervals, shape (m - 1,), into eight; returns False where none can be cut, there would be too many points, or the
        budget is at its end.
        """
        if spent():
            return False
        left, right = self.z[:-1], self.z[1:]
        finite = np.isfinite(left) & np.isfinite(right)
        with np.errstate(invalid="ignore"):
            wide = right - left > 64.0 * EPS * np.maximum(np.abs(left), 1e-3)
        cut = np.flatnonzero(chosen & finite & wide)
        if not cut.size or self.z.size + cut.size * (_PARTS - 1) > (most or self.most):
            return False
        self.add((left[cut, None] + (right - left)[cut, None] * (np.arange(1, _PARTS) / _PARTS)).ravel())
        return True

    def add(self, z: np.ndarray) -> None:
        """Read the curve at further places, shape (k,)."""
        log_fpr = np.asarray(log_ndtr(z))
        pairs = zip(self.bounds, defined(self.curve, log_fpr), strict=True)
        everywhere = np.concatenate([self.z, z])
        order = np.argsort(everywhere, kind="stable")
        self.z, self.log_fpr = everywhere[order], np.concatenate([self.log_fpr, log_fpr])[order]
        self.bounds = CurveBounds(*(np.concatenate(pair)[order] for pair in pairs))

    def corners(self) -> Corners:
        """The corner of each interval, shape (m - 1,)."""
        plain = Corners(self.log_fpr[:-1], self.bounds.log_fnr_low[1:], self.bounds.log_tpr_high[1:])
        if not self.convex:
            return plain
        with np.errstate(all="ignore"):
            chords = self._where_chords_meet()
            usable = ~np.any([np.isnan(part) for part in chords], axis=0) & (
                chords.log_fpr <= self.log_fpr[1:]
            )
        # Where the bounds are wider than the curve rises within an interval, the rectangle is better.
        usable &= chords.log_tpr <= plain.log_tpr
        return Corners(*(np.where(usable, new, old) for new, old in zip(chords, plain, strict=True)))

    def _where_chords_meet(self) -> Corners:
        """Any place within an interval is right, if the rates there are those of the higher chord."""
        x, (fnr_low, fnr_high, tpr_low, tpr_high) = self.log_fpr, self.bounds
        count = x.size - 1
        width = log_difference(x[1:], x[:-1])
        steepest, flattest = np.full(count, np.inf), np.full(count, -np.inf)
        for k in _NEIGHBOURS:  # the farther are better where the bounds are wide for so short a chord
            if k >= count:
                break
            most = np.minimum(
                log_difference(tpr_high[k:], tpr_low[:-k]), log_difference(fnr_high[:-k], fnr_low[k:])
            )
            least = np.maximum(
                log_difference(np.maximum(tpr_low[k:], tpr_high[:-k]), tpr_high[:-k]),
                log_difference(fnr_low[:-k], np.minimum(fnr_high[k:], fnr_low[:-k])),
            )
            long = log_difference(x[k:], x[:-k])
            off = 16.0 * EPS * (4.0 + np.abs(long) + np.abs(np.where(np.isfinite(most), most, 0.0)))
            steepest[k:] = np.fmin(steepest[k:], (most - long + off)[:-1])
            flattest[:-k] = np.fmax(flattest[:-k], (least - long - off)[1:])
        slack = 16.0 * EPS * (4.0 + np.abs(width))
        ascent, descent = steepest + width + slack, flattest + width - slack
        rise = log_difference(tpr_high[1:], np.minimum(tpr_high[:-1], tpr_high[1:]))
        rise = np.where(
            tpr_high[:-1] > -0.7, log_difference(fnr_low[:-1], np.minimum(fnr_low[1:], fnr_low[:-1])), rise
        )
        # any share is right; this is where the chords meet
        up, down = np.exp(ascent - rise), np.exp(descent - rise)
        share = np.clip((1.0 - down) / (up - down), 0.0, 1.0)
        share = np.where(np.isfinite(share), share, 0.0)
        share = np.where(up - down < _STRAIGHT, 0.5, share)  # there rounding says where they meet
        up = np.where(share > 0.0, np.log(share) + ascent, -np.inf)
        down = np.log1p(-share) + descent
        log_tpr = np.maximum(
            np.logaddexp(tpr_high[:-1], up), log_difference(tpr_high[1:], np.minimum(down, tpr_high[1:]))
        )
        log_fnr = np.minimum(
            log_difference(fnr_low[:-1], np.minimum(up, fnr_low[:-1])), np.logaddexp(fnr_low[1:], down)
        )
        place = np.logaddexp(x[:-1], np.log(share) + width)
        return Corners(lowered(place), lowered(log_fnr), raised(log_tpr))


def supremum(
    curve: Enclosed,
    objective: Objective,  # of points; see `Objective`
    queries: int,  # how many there are
    # of lower and upper bounds, shape (queries,) or (queries, m), whether they are near enough
    enough: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the supremum of an objective over the curve, for several queries at once; shape (queries,) each.

    The objective must rise with the TPR, fall with the FPR, and be quasi-convex in both, so that over a polygon its
    supremum is at a corner.
    """
    vertices = curve.vertices()
    if vertices is not None:
        safe, sure = safe_and_sure(vertices)
        return objective(sure, False).max(axis=1), objective(safe, True).max(axis=1)
    points, idle = curve._partition(), 0
    low, high = np.full(queries, -np.inf), np.full(queries, np.inf)
    for _ in range(_ROUNDS):
        now = objective(points.sure_points(), False).max(axis=1)
        at_points = objective(points.safe_points(), True).max(axis=1)
        between = objective(points.corners(), True)
        most = np.maximum(at_points, between.max(axis=1))
        if np.isnan(now).any() or np.isnan(most).any():
            raise FloatingPointError(f"an objective of {type(curve).__name__} is NaN")
        # Every round's bounds hold; rounding may make those of narrow intervals the wider ones.
        low, last, high = np.maximum(low, now), high, np.minimum(high, most)
        # More points cannot bring the bounds nearer than they are at the points themselves.
        reached = np.maximum(low, at_points)
        with np.errstate(invalid="ignore"):
            width = np.where(np.isfinite(low), reached - low, 0.0)
            known = reached + np.minimum(2.0 * width, np.maximum(0.1 * width, _WORTH))
        wanted = ~(enough(reached, high) | (high <= known))
        idle = 0 if (high < last)[wanted].any() else idle + 1
        worse = ~enough(reached[wanted, None], between[wanted]) & (between[wanted] > known[wanted, None])
        if (
            not wanted.any()
            or idle > _IDLE
            or not points.split(_worst(worse, between[wanted], points.most - points.z.size))
        ):
            break
    return low, high


def _worst(worse: np.ndarray, values: np.ndarray, left: int) -> np.ndarray:
    """Of the intervals that are to be cut for a query, those of the largest values, as many as there is room for."""
    chosen = np.asarray(worse.any(axis=0))
    room = max(0, left) // (_PARTS - 1)
    if chosen.sum() <= room:
        return chosen
    ranks = np.where(worse, values, -np.inf).argsort(axis=1)[:, ::-1][:, : max(1, room // values.shape[0])]
    retained = np.zeros(chosen.shape, bool)
    retained[ranks.ravel()[:room]] = True
    return retained & chosen
