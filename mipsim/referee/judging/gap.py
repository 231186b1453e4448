"""The largest gap between two trade-off curves, over the whole curve and between the points that were looked at."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._roots import crossing
from mipsim._validation import UndefinedError
from mipsim.referee.result import CurveEvidence
from mipsim.referee.values import CONVEX
from mipsim.tradeoff.base import plain_rates
from mipsim.tradeoff.bounds import CurveBounds

FLOOR = 1e-4
"""FPR and FNR from here to 1 - FLOOR are judged, unless requested otherwise: theorems are about a fixed alpha."""

GRID = ndtr(np.linspace(ndtri(FLOOR), -ndtri(FLOOR), 81))
"""FPRs evenly spread in probit scale: where a comparison starts before it is refined, and what is plotted."""

RESOLUTION = 2e-5
"""Probits: the curves are refined until no gap between two neighbouring points can exceed the computed gaps by more."""

RELATIVE = 0.01
"""Of a gap larger than RESOLUTION / RELATIVE this share may be left: its third digit decides nothing."""

MOST_POINTS = 20_000
"""Points at which refinement ends; what may then still lie between them widens the ends."""

ROUNDED = 8
"""Roundings, each of float64's relative 2e-16 of 1, that a rate may have suffered where nothing is known of its curve."""

_ENDS = 2.0**-30
"""Share of the probits from `floor` to 1 - `floor` to which the ends of the judged range are located: each round costs a call
of the claim."""

PARTS, ROUNDS = 8, 7
"""Into so many parts, so often, the intervals around the extremes are cut at the end: 1e-6 of what refinement leaves. A call of a curve costs
much more than a point."""

Beta = Callable[[np.ndarray], np.ndarray]


class Curve(Protocol):
    """Anything with a trade-off curve.

    `tpr_at(alpha)`, where it exists, keeps the digits of a small 1 - beta; `rates_at(alpha) -> CurveBounds` is the
    proven bracket of both.
    """

    def beta(self, alpha: np.ndarray) -> np.ndarray:
        """FNR at the FPR alpha."""
        ...


Ends = tuple[float, float]
"""Between what a gap lies, proven."""


@dataclass(frozen=True)
class Gap:
    """What is known of the least and of the largest signed gap of truth and claim; positive where the attacker is stronger than claimed.

    >>> Gap.near(-0.25, 0.125, error=0.125).counted(one_sided=False)
    (-0.25, (-0.375, -0.125), (0.125, 0.375))
    """

    # as computed; infinite where a single curve of both is 0 or 1
    low: float
    high: float
    least: Ends
    largest: Ends
    evidence: CurveEvidence | None = None  # the curves, if there are any

    @classmethod
    def near(cls, low: float, high: float, error: float = 0.0) -> Gap:
        """Gaps that are known to an error."""
        if not error >= 0.0:
            raise ValueError(f"error is {error:g}; it must be >= 0")
        return cls(low, high, (low - error, low + error), (high - error, high + error))

    def widened(self, by: float) -> Gap:
        """The gap to something that is so near to this truth."""
        least, largest = ((low - by, high + by) for low, high in (self.least, self.largest))
        return replace(self, least=least, largest=largest)

    def at_least(self, sure: float, seen: float) -> Gap:
        """What is known with a gap that is surely at least this at a place, of its sign, and was seen there."""
        if sure > 0.0:
            return replace(self, high=seen, largest=(max(sure, self.largest[0]), max(seen, self.largest[1])))
        return replace(self, low=seen, least=(min(seen, self.least[0]), min(sure, self.least[1])))

    def counted(self, one_sided: bool) -> tuple[float, Ends, Ends]:
        """The gap that counts, between what it lies, and between what lies its size: the highest; or that of largest absolute value."""
        if one_sided:
            return self.high, self.largest, self.largest
        sure = self.largest[0], -self.least[1]
        size = max(*sure, 0.0), max(self.largest[1], -self.least[0])
        # What is surely there goes before what is largest as computed.
        pair = sure if size[0] > 0.0 else (abs(self.high), abs(self.low))
        return (self.low, self.least, size) if pair[1] > pair[0] else (self.high, self.largest, size)

    @property
    def everywhere(self) -> Ends:
        """Between what all gaps lie."""
        return self.least[0], self.largest[1]


def curve_gap(
    # the FNR as a function of the FPR, or an object with `beta`, and `rates_at` if its error is bounded
    exact: Beta | Curve,
    claimed: Beta | Curve,  # the same for the claim; an object or a function
    label: str = "",  # what the plot is called
    *,
    floor: float = FLOOR,  # the least error rate that is judged, in (0, 1/2)
    # whether both curves are meant to be convex. That of a score that is no likelihood ratio need not be; then, and where
    # a curve is surely not convex at the first points, only monotony bounds what lies between
    convex: bool = True,
    # in probits, what may be left between two points (or 1% of the gap, if that is more)
    resolution: float = RESOLUTION,
) -> Gap:
    """Return the extremes over alpha of Phi^-1(claimed FNR) - Phi^-1(exact FNR), an error in the local mu.

    The whole curve is judged where the FPR and the claimed FNR are in [floor, 1 - floor]: first at a grid and at the
    corners of a `PiecewiseLinearTradeOff`, then wherever what may lie between two points could exceed what was computed.
    That is bounded by convexity: between two points a convex curve runs below its chord and above the chords of its
    neighbours prolonged. For two piecewise linear curves this ends at their corners.

    Raises UndefinedError if a curve returns NaN; ValueError if there is no alpha at which the claimed FNR is in the
    range.
    """
    if not 0.0 < floor < 0.5:
        raise ValueError(f"floor is {floor:g}; it must lie in (0, 0.5)")
    truth, promise = _bounds(exact, label), _bounds(claimed, label)
    first, last = _judged_range(promise, floor, label)
    corners = np.concatenate([_corners(exact), _corners(claimed)])
    start = np.unique(np.concatenate([[first, last], _spread(first, last), corners]))
    alpha = start[(start >= first) & (start <= last)]
    result, wanted = truth(alpha), promise(alpha)
    convex = convex and may_be_convex(alpha, result) and may_be_convex(alpha, wanted)
    above = below = np.zeros(0)
    for _ in range(60):
        upper, lower = middle_of(wanted), middle_of(result)
        gap = gap_of(upper, lower)
        above = exceed(alpha, upper, lower, float(gap.max()), convex)
        below = exceed(alpha, lower, upper, float(-gap.min()), convex)
        more = (above > _enough(gap.max(), resolution)) | (below > _enough(gap.min(), resolution))
        split = np.flatnonzero(more)
        middle = _halfway(alpha[split], alpha[split + 1])
        split, middle = _real_splits(alpha, split, middle)
        if not split.size or alpha.size + split.size > MOST_POINTS:
            break
        result = np.insert(result, split + 1, truth(middle), axis=1)
        wanted = np.insert(wanted, split + 1, promise(middle), axis=1)
        alpha = np.insert(alpha, split + 1, middle)
    alpha, result, wanted = _polished(truth, promise, alpha, result, wanted)
    upper, lower = middle_of(wanted), middle_of(result)
    gap = gap_of(upper, lower)
    empty = np.zeros(0)
    evidence = CurveEvidence(alpha, lower[0], empty, empty, empty, alpha, upper[0], "exact law", label)
    least, most = gap_ends(alpha, wanted, result)
    high, (first_end, last_end) = _extreme(gap, least, most)
    low, (nearest, farthest) = _extreme(-gap, -most, -least)
    # What may lie between the points is that of the computed gaps, without the error of the curves.
    over, under = float(np.max(above, initial=0.0)), float(np.max(below, initial=0.0))
    return Gap(-low, high, (-farthest - under, -nearest), (first_end, last_end + over), evidence)


def may_be_convex(alpha: np.ndarray, bounds: np.ndarray) -> bool:
    """Whether a convex function that does not rise fits between bounds of the FNR at increasing FPRs, shapes (m,) and (>= 2, m)."""
    low, high = bounds[:2]
    first, second = np.diff(alpha)[:-1], np.diff(alpha)[1:]
    chord = (high[:-2] * second + high[2:] * first) / (first + second)
    return bool((low[1:-1] <= chord + CONVEX).all() and (low[1:] <= high[:-1] + CONVEX).all())


def _extreme(gap: np.ndarray, least: np.ndarray, most: np.ndarray) -> tuple[float, Ends]:
    """The largest gap, and between what it lies.

    A gap that may be infinite, because a curve is 0 or 1 to its error, counts as what is sure of it.
    """
    value = float(np.where(np.isposinf(most), least, np.where(np.isneginf(gap), most, gap)).max())
    if not math.isfinite(value):
        return value, (value, value)
    low, high = float(least.max()), float(np.nanmax(most))
    return float(np.clip(value, low, high)), (low, high)


def gap_ends(alpha: np.ndarray, wanted: np.ndarray, actual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Between what each gap lies, by the proven brackets of both curves and, below `FLOOR`, by rounding; shape (m,) each.
    `alpha`: FPRs, shape (m,); `wanted`: the claim's `bounds_of` there, shape (4, m); `actual`: those of the distribution.
    """
    upper, lower = middle_of(wanted), middle_of(actual)
    lost = _lost_digits(alpha, upper)
    (low, high), (least, most) = _ends(wanted), _ends(actual)
    gap = gap_of(upper, lower)
    known = np.isfinite(gap)  # an infinite gap may come from a curve that is 0 or 1 to its error
    first, last = gap_of(low, most) - lost, gap_of(high, least) + lost
    # A bracket's TPR, 1 less an end, is rounded: an end next to the curve itself may come to lie beyond it.
    return np.where(known, np.minimum(first, gap), first), np.where(known, np.maximum(last, gap), last)


def middle_of(bounds: np.ndarray) -> np.ndarray:
    """FNR and TPR in the middle of `bounds_of`, shape (2, m)."""
    return 0.5 * (bounds[::2] + bounds[1::2])


def _ends(bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(FNR and TPR where the FNR is least, and where it is largest) of `bounds_of`, shape (2, m) each."""
    return bounds[[0, 3]], bounds[[1, 2]]


def _polished(
    truth: Beta, promise: Beta, alpha: np.ndarray, actual: np.ndarray, wanted: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Add points around the largest and the least gap, so that a corner there is met to many digits."""
    for _ in range(ROUNDS):
        gap = gap_of(middle_of(wanted), middle_of(actual))
        places = {int(gap.argmin()), int(gap.argmax())}
        split = np.array(sorted({i for p in places for i in (p - 1, p) if 0 <= i < alpha.size - 1}))
        inner = _inner(alpha[split], alpha[split + 1])
        if not inner.size or not np.isfinite(gap[list(places)]).all():
            break
        alpha = np.concatenate([alpha, inner])
        order = np.argsort(alpha)
        alpha = alpha[order]
        actual = np.concatenate([actual, truth(inner)], axis=1)[:, order]
        wanted = np.concatenate([wanted, promise(inner)], axis=1)[:, order]
    return alpha, actual, wanted


def _inner(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The points that cut each interval into `PARTS`, evenly in probits; none where float64 does not resolve them."""
    low, high = ndtri(left), ndtri(right)
    cut = ndtr(low[:, None] + (high - low)[:, None] * (np.arange(1, PARTS) / PARTS))
    cut = np.where(np.diff(cut, axis=1, prepend=left[:, None]) > 1e-13 * right[:, None], cut, np.inf)
    return np.unique(cut[cut < right[:, None]])


def _owner(curve: Beta | Curve) -> object:
    # law.beta was given as often as law; its corners and its bracket are those of the law.
    return getattr(curve, "__self__", curve)


def _corners(curve: Beta | Curve) -> np.ndarray:
    from mipsim.tradeoff import PiecewiseLinearTradeOff

    owner = _owner(curve)
    return owner.alpha if isinstance(owner, PiecewiseLinearTradeOff) else np.zeros(0)


def bounds_of(curve: Beta | Curve, label: str, alpha: np.ndarray) -> np.ndarray:
    """Lower and upper bound of the FNR, then of the TPR, at the FPRs alpha, shape (4, m), by a single evaluation of the curve.
    Raises UndefinedError if the curve returns NaN; ValueError if it returns another shape.
    """
    return _bounds(curve, label)(alpha)


def rates_of(curve: Beta | Curve, label: str, alpha: np.ndarray) -> np.ndarray:
    """FNR and TPR at the FPRs alpha, the middle of `bounds_of`, shape (2, m): either is accurate where the other has lost its digits.
    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> rates_of(GaussianTradeOff(0.0), "", np.array([1e-20])).tolist()
    [[1.0], [1e-20]]
    """
    return middle_of(bounds_of(curve, label, alpha))


def _bounds(curve: Beta | Curve, label: str) -> Beta:
    """The function of alpha that `bounds_of` evaluates: how a curve is read is decided once, not at each call."""
    owner: Any = _owner(curve)
    has_beta = hasattr(curve, "beta")
    is_curve = has_beta or getattr(curve, "__name__", "") == "beta"
    missed: Beta = curve.beta if has_beta else curve  # type: ignore[union-attr,assignment]
    caught: Beta | None = getattr(owner, "tpr_at", None) if is_curve else None
    at: Callable[[np.ndarray], CurveBounds] | None = getattr(owner, "rates_at", None) if is_curve else None

    def bounds(alpha: np.ndarray) -> np.ndarray:
        if at is not None:
            result = at(alpha)
            fnr, tpr = (
                plain_rates(*ends)
                for ends in (
                    (result.log_fnr_low, result.log_fnr_high),
                    (result.log_tpr_low, result.log_tpr_high),
                )
            )
        else:
            beta = np.asarray(missed(alpha), float)
            fnr = (beta, beta)
            tpr = (1.0 - beta if caught is None else np.asarray(caught(alpha), float),) * 2
        if any(item.shape != alpha.shape for item in (*fnr, *tpr)):
            raise ValueError(
                f"a curve of {label or 'this comparison'} returned shape {fnr[0].shape}; it must return an FNR for each alpha"
            )
        rates = np.stack([*fnr, *tpr])
        if (bad := np.isnan(rates).any(axis=0)).any():
            raise UndefinedError(
                f"{_name(owner)} is undefined (NaN) at FPR {alpha[bad][0]:.3g}, which decides nothing"
            )
        return np.clip(rates, 0.0, 1.0)

    return bounds


def _name(curve: object) -> str:
    return f"the curve {getattr(curve, '__name__', type(curve).__name__)}"


def gap_of(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Phi^-1(upper) - Phi^-1(lower) for FNR and TPR of two curves at the same points, each of shape (2, m).
    >>> gap_of(np.array([[0.5], [0.5]]), np.array([[1.0], [0.0]])).tolist()
    [-inf]
    """
    ways = [np.where(rate[0] > 0.5, -rate[1], rate[0]) for rate in (upper, lower)]
    return probit_gap(*ways)


def _judged_range(promise: Beta, floor: float, label: str) -> tuple[float, float]:
    """The FPRs in [floor, 1 - floor] at which the claimed FNR, which falls, is in the same range; their ends to 1e-8 probits, inwards."""

    def where(level: float, *, above: bool) -> float:
        # The last alpha with an FNR of at least `level`, or the first with an FNR of at most `level`.
        def fallen(z: np.ndarray) -> np.ndarray:
            value = middle_of(promise(ndtr(z.ravel())))[0].reshape(z.shape)
            return ~(value >= level if above else value > level)

        low, high = crossing(fallen, 1, ndtri(floor), -ndtri(floor), _ENDS)
        return float(ndtr(low if above else high)[0])

    ends = middle_of(promise(np.array([floor, 1 - floor])))[0]
    if ends[0] < floor or ends[1] > 1 - floor:
        raise ValueError(
            f"the claimed FNR of {label or 'this comparison'} runs from {ends[0]:.3g} to {ends[1]:.3g} at FPRs from {floor:g}; "
            f"part of it must lie in [{floor:g}, 1 - {floor:g}]; else give a smaller floor"
        )
    first = floor if ends[0] <= 1 - floor else where(1 - floor, above=False)
    last = 1 - floor if ends[1] >= floor else where(floor, above=True)
    return min(first, last), max(first, last)


def _spread(first: float, last: float) -> np.ndarray:
    return ndtr(np.linspace(ndtri(first), ndtri(last), GRID.size))


def _halfway(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return ndtr((ndtri(left) + ndtri(right)) / 2)


def _real_splits(alpha: np.ndarray, split: np.ndarray, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Leave out intervals that are as short as float64 resolves (a jump of the curve)."""
    width = alpha[split + 1] - alpha[split]
    real = (middle > alpha[split]) & (middle < alpha[split + 1]) & (width > 1e-13 * alpha[split + 1])
    return split[real], middle[real]


def _enough(largest: float, resolution: float) -> float:
    return max(resolution, RELATIVE * abs(largest)) if math.isfinite(largest) else resolution


def law_errors(alpha: np.ndarray, wanted: np.ndarray, actual: np.ndarray, gap: np.ndarray) -> np.ndarray:
    """What each gap may be off, in probits: by the proven bracket of the distribution and, below `FLOOR`, by rounding; shape (m,).
    `alpha`: FPRs, shape (m,); `wanted`: the claim's FNR and TPR there, shape (2, m); `actual`: the distribution's
    `bounds_of` there, shape (4, m); `gap`: between claim and distribution, shape (m,).

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> g = GaussianTradeOff(1.0)
    >>> alpha = np.array([1e-9, 0.1])
    >>> (law_errors(alpha, rates_of(g, "", alpha), bounds_of(g, "", alpha), np.zeros(2)) < 1e-6).tolist()
    [True, True]
    """
    with np.errstate(invalid="ignore"):
        wide = [np.abs(gap_of(wanted, end) - gap) for end in _ends(actual)]
    return _lost_digits(alpha, wanted) + np.maximum(*wide)


def _lost_digits(alpha: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """How far rounding may move a gap, in probits: 0 unless the FPR, 1 - FPR, the FNR or the TPR is below `FLOOR`."""
    rarest = np.minimum(np.minimum(alpha, 1.0 - alpha), np.minimum(*rates))
    with np.errstate(divide="ignore"):
        lost = ROUNDED * np.finfo(float).eps * _slope(np.maximum(rarest, 1e-300))
    return np.where(rarest < FLOOR, lost, 0.0)


def _slope(level: np.ndarray) -> np.ndarray:
    """The derivative of Phi^-1."""
    return np.sqrt(2 * np.pi) * np.exp(ndtri(level) ** 2 / 2)


def probit_gap(upper: np.ndarray, lower: np.ndarray) -> np.ndarray:
    """Phi^-1(upper) - Phi^-1(lower); 0 where both are equal. A negative number stands for its sum with 1.

    So a rate near 1 keeps the digits of what it lacks to 1.
    """
    with np.errstate(invalid="ignore"):
        gap = _probit(upper) - _probit(lower)
    return np.where(upper == lower, 0.0, gap)


def _probit(level: np.ndarray) -> np.ndarray:
    z = ndtri(np.abs(level))
    # The sign of a zero tells 1 from 0.
    return np.where(np.signbit(level), -z, z)


def exceed(
    alpha: np.ndarray, upper: np.ndarray, lower: np.ndarray, largest: float, convex: bool
) -> np.ndarray:
    """How far Phi^-1(upper) - Phi^-1(lower) may exceed `largest` inside each of the intervals; <= 0 where it cannot.
    `alpha`: increasing, shape (m,); `upper`: rates and their complements, shape (2, m): 1 - f keeps the digits of an f
    near 1; `lower`: the same for the other curve; `largest`: the largest gap at the points; `convex`: whether both curves
    are convex; else only monotony bounds what lies between.
    """
    left, right = slice(None, -1), slice(1, None)
    high = (upper[0, left] + lower[0, right]) > 1.0  # of two ways to write a rate, that with more digits
    level = [
        np.where(high, -curve[1, part], curve[0, part]) for curve in (upper, lower) for part in (left, right)
    ]
    (upper_left, upper_right, lower_left, lower_right) = level
    by_order = probit_gap(upper_left, lower_right)
    if not convex:
        return _difference(by_order, largest)
    width = np.diff(alpha)
    rise = np.where(lower[0, left] > 0.5, -np.diff(lower[1]), np.diff(lower[0])) / width
    # The lower curve stays above the chords on either side, prolonged into the interval; they meet at `kink`.
    before = np.concatenate([[-math.inf], rise[:-1]])
    after = np.concatenate([rise[1:], [0.0]])
    with np.errstate(invalid="ignore", divide="ignore"):
        kink = (lower_right - lower_left - after * width) / (before - after)
        # No chord on the left of the first interval, or three points in line: the interval's own end.
        kink = np.where(np.isfinite(kink), np.clip(kink, 0.0, width), 0.0)
        least = np.maximum(lower_left + before * kink, lower_right - after * (width - kink))
    least = np.where(np.isfinite(least), least, lower_right - after * width)
    least = np.clip(least, lower_right, lower_left)
    chord = upper_left + (upper_right - upper_left) * kink / width
    least, chord = (
        np.where(high, -np.abs(value), value) for value in (least, chord)
    )  # a sum loses the sign of 0
    ends = [(upper_left, lower_left), (chord, least), (upper_right, lower_right)]
    pieces = [_most_on_piece(*ends[0], *ends[1]), _most_on_piece(*ends[1], *ends[2])]
    return _difference(np.fmin(by_order, np.maximum(*pieces)), largest)


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
    large, small = np.maximum(np.abs(u), np.abs(v)), np.minimum(np.abs(u), np.abs(v))
    far = np.abs(u - v) > 1e-9 * np.minimum(large, 1 - small)
    z, other = _probit(u), _probit(v)
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.maximum(_chord_slope(z), _chord_slope(other))
        return np.where(far, (z - other) / np.where(far, u - v, 1.0), slope)


def _difference(bound: np.ndarray, largest: float) -> np.ndarray:
    # Where the gap is infinite at some point there is nothing left to find on that side, nor, if it is so at all
    # points, on the other.
    return bound - largest if math.isfinite(largest) else np.full(bound.shape, -math.inf)


def _chord_slope(z: np.ndarray) -> np.ndarray:
    """The derivative of Phi^-1 at Phi(z)."""
    with np.errstate(over="ignore"):
        return np.sqrt(2 * np.pi) * np.exp(z**2 / 2)
