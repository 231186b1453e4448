"""What is known of the largest gap between a truth and a claim: of two numbers, or of two curves over all of their FPRs.

The gap of two curves at an FPR is Phi^-1(claimed FNR) - Phi^-1(true FNR), in probits; that of two numbers is truth less claim. It is positive where
the attacker is stronger than claimed. Curves are refined until no gap between two neighbouring points can exceed the computed gaps by much.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._roots import crossing
from mipsim._validation import UndefinedError
from mipsim.referee.judging.claim import Claim
from mipsim.referee.result import CurveEvidence
from mipsim.referee.values import CONVEX, Number
from mipsim.tradeoff.base import AbstractTradeOff, plain_rates
from mipsim.tradeoff.piecewise_linear import PiecewiseLinearTradeOff

FLOOR = 1e-4
"""Rates below this are rounded: a gap there is known to a few of float64's digits."""
GRID = 81
"""FPRs evenly spread in probit scale: where a comparison starts before it is refined."""
RESOLUTION = 2e-5
"""Probits: the curves are refined until no gap between two neighbouring points can exceed the computed gaps by more."""
RELATIVE = 0.01
"""Of a gap larger than RESOLUTION / RELATIVE this share may be left: its third digit decides nothing."""
LEFT_BETWEEN = 0.05
"""Share of the tolerance of an equality that may be left between two points of its curves."""
MOST_POINTS = 20_000
"""Points at which refinement ends; what may then still lie between them widens the ends."""
ROUNDED = 8
"""Roundings, each of float64's relative 2e-16 of 1, that a rate may have suffered where nothing is known of its curve."""
ROUNDING = 1e-9
"""What float64 sums of up to a million terms and the inverse of Phi may be off, relative to 1."""
NODES = 97
"""FPRs of a quick look, evenly in probits: an eighth of a probit apart."""
_ENDS = 2.0**-30
"""Share of the probits from `floor` to 1 - `floor` to which the ends of the judged range are located: each round costs a call
of the claim."""
PARTS, ROUNDS = 8, 7
"""Into so many parts, so often, the intervals around the extremes are cut at the end: 1e-6 of what refinement leaves. A call of a curve costs
much more than a point."""

Ends = tuple[float, float]
"""Between what a gap lies, proven."""
ANYTHING = (-math.inf, math.inf)


class Side(NamedTuple):
    """The largest gap in a direction: as computed (infinite where a single curve of both is 0 or 1), and between what it lies, proven."""

    value: float
    sure: float
    most: float

    @property
    def negated(self) -> Side:
        """The same gap in the other direction, between what it lies; its largest is then the least."""
        return Side(0.0 - self.value, 0.0 - self.most, 0.0 - self.sure)

    def at_least(self, sure: float, seen: float) -> Side:
        """What is known with a gap that is surely at least this at a place, and was seen there."""
        return Side(seen, max(sure, self.sure), max(seen, self.most))


class Counted(NamedTuple):
    """The gap by which a claim is judged, with its sign."""

    value: float
    interval: Ends  # between what it lies
    size: Ends  # between what lies its size, or of a one-sided claim the gap itself


@dataclass(frozen=True)
class Gap:
    """What is known of how much stronger than claimed the attacker is, at most over all FPRs, and of how much weaker.

    >>> Gap.near(-0.25, 0.125, error=0.125).counted(one_sided=False)
    Counted(value=-0.25, interval=(-0.375, -0.125), size=(0.125, 0.375))
    """

    over: Side
    under: Side
    evidence: CurveEvidence | None = None  # the curves, if there are any

    @classmethod
    def near(cls, low: float, high: float, error: float = 0.0) -> Gap:
        """The least and the largest signed gap, known to an error."""
        if not error >= 0.0:
            raise ValueError(f"error is {error:g}; it must be >= 0")
        over, under = (Side(value, value - error, value + error) for value in (high, -low))
        return cls(over, under)

    def at_least(self, sure: float, seen: float) -> Gap:
        """What is known with a gap that was seen at a place, with its sign, and whose size is surely at least this."""
        if seen > 0.0:
            return replace(self, over=self.over.at_least(sure, seen))
        return replace(self, under=self.under.at_least(sure, -seen))

    def counted(self, one_sided: bool) -> Counted:
        """The gap that counts: the highest; or that of largest absolute value."""
        over, under = self.over, self.under
        if one_sided:
            return Counted(over.value, over[1:], over[1:])
        size = max(over.sure, under.sure, 0.0), max(over.most, under.most)
        # What is surely there goes before what is largest as computed.
        sizes = (over.sure, under.sure) if size[0] > 0.0 else (abs(over.value), abs(under.value))
        value, *ends = under.negated if sizes[1] > sizes[0] else over
        return Counted(value, (ends[0], ends[1]), size)

    @property
    def everywhere(self) -> Ends:
        """Between what all gaps lie."""
        return self.under.negated.sure, self.over.most


class Rates(NamedTuple):
    """FNRs and the TPRs that complete them to 1, shape (m,) each: near 1 the other has the digits."""

    fnr: np.ndarray
    tpr: np.ndarray

    @property
    def probit(self) -> np.ndarray:
        """Phi^-1 of the FNR."""
        return np.where(self.fnr > 0.5, -ndtri(self.tpr), ndtri(self.fnr))

    def below(self, claimed: Rates) -> np.ndarray:
        """The gap of this truth: Phi^-1(claimed FNR) - Phi^-1(FNR).
        >>> Rates(np.array([1.0]), np.array([0.0])).below(Rates(np.array([0.5]), np.array([0.5]))).tolist()
        [-inf]
        """
        wanted, actual = claimed.probit, self.probit
        with np.errstate(invalid="ignore"):
            return np.where(wanted == actual, 0.0, wanted - actual)


@dataclass(frozen=True)
class Known:
    """What is known of a curve at FPRs: its rates where the FNR is least, and where it is largest."""

    ends: np.ndarray  # (FNR, TPR) at the least FNR, then at the largest, shape (2, 2, m)

    @property
    def least(self) -> Rates:
        """The strongest attacker that the bounds allow."""
        return Rates(*self.ends[0])

    @property
    def most(self) -> Rates:
        """The weakest."""
        return Rates(*self.ends[1])

    @cached_property
    def middle(self) -> Rates:
        """The middle of both: either rate is accurate where the other has lost its digits."""
        return Rates(*(0.5 * (self.ends[0] + self.ends[1])))

    def may_be_convex(self, alpha: np.ndarray) -> bool:
        """Whether a convex function that does not rise fits between the bounds, at these increasing FPRs."""
        low, high = self.least.fnr, self.most.fnr
        first, second = np.diff(alpha)[:-1], np.diff(alpha)[1:]
        chord = (high[:-2] * second + high[2:] * first) / (first + second)
        return bool((low[1:-1] <= chord + CONVEX).all() and (low[1:] <= high[:-1] + CONVEX).all())


Curve = AbstractTradeOff | Callable[[np.ndarray], np.ndarray]
"""A trade-off function, whose bounds are proven; or the FNR as a function of the FPR."""


def known_at(curve: Curve, alpha: np.ndarray) -> Known:
    """What is known of a curve at FPRs, by a single evaluation.
    Raises UndefinedError if the curve returns NaN; ValueError if it returns another shape.

    >>> from mipsim.tradeoff import GaussianTradeOff
    >>> middle = known_at(GaussianTradeOff(0.0), np.array([1e-20])).middle
    >>> middle.fnr.tolist(), middle.tpr.tolist()
    ([1.0], [1e-20])
    """
    bounded: Any = getattr(curve, "rates_at", None)
    if bounded is not None:
        at = bounded(alpha)
        fnr, tpr = plain_rates(at.log_fnr_low, at.log_fnr_high), plain_rates(at.log_tpr_low, at.log_tpr_high)
    else:
        beta = np.asarray(curve(alpha), float)  # type: ignore[operator]
        fnr, tpr = (beta, beta), (1.0 - beta, 1.0 - beta)
    if any(item.shape != alpha.shape for item in (*fnr, *tpr)):
        raise ValueError(
            f"{_name(curve)} returned shape {fnr[0].shape}; it must return an FNR for each alpha"
        )
    ends = np.array([[fnr[0], tpr[1]], [fnr[1], tpr[0]]])
    if (bad := np.isnan(ends).any(axis=(0, 1))).any():
        raise UndefinedError(
            f"{_name(curve)} is undefined (NaN) at FPR {alpha[bad][0]:.3g}, which decides nothing"
        )
    return Known(np.clip(ends, 0.0, 1.0))


def _name(curve: Curve) -> str:
    return f"the curve {getattr(curve, '__name__', type(curve).__name__)}"


class _Seen:
    """Truth and claim at increasing FPRs, to which more are added."""

    def __init__(self, truth: Curve, claimed: Curve, alpha: np.ndarray) -> None:
        self.curves, self.alpha = (truth, claimed), alpha
        self.truth, self.claimed = (known_at(curve, alpha) for curve in self.curves)

    @property
    def gap(self) -> np.ndarray:
        return self.truth.middle.below(self.claimed.middle)

    def add(self, alpha: np.ndarray) -> None:
        joined = np.concatenate([self.alpha, alpha])
        order = np.argsort(joined)
        self.alpha = joined[order]
        self.truth, self.claimed = (
            Known(np.concatenate([known.ends, known_at(curve, alpha).ends], axis=2)[:, :, order])
            for known, curve in zip((self.truth, self.claimed), self.curves, strict=True)
        )

    def between(self) -> tuple[np.ndarray, np.ndarray]:
        """Between what each gap lies, by what is known of both curves and, below `FLOOR`, by rounding; shape (m,) each."""
        gap, lost = self.gap, lost_digits(self.alpha, self.claimed.middle)
        known = np.isfinite(gap)  # an infinite gap may come from a curve that is 0 or 1 to its error
        first = self.truth.most.below(self.claimed.least) - lost
        last = self.truth.least.below(self.claimed.most) + lost
        # A bracket's TPR, 1 less an end, is rounded: an end next to the curve itself may come to lie beyond it.
        return np.where(known, np.minimum(first, gap), first), np.where(known, np.maximum(last, gap), last)


def gap_between(
    claim: Claim,
    truth: Curve | Number,  # of the same sort as what is claimed
    convex: bool = True,  # whether both curves are meant to be convex, as those of likelihood ratios are
    resolution: float | None = None,  # in probits, what may be left between two points (or 1% of the gap)
) -> Gap:
    """The signed gaps of truth and claim: of numbers, or over the whole curve.

    Curves are judged where the FPR and the claimed FNR are in [floor, 1 - floor]: first at a grid and at the corners of a
    `PiecewiseLinearTradeOff`, then wherever what may lie between two points could exceed what was computed. That is bounded by convexity: between two
    points a convex curve runs below its chord and above the chords of its neighbours prolonged. For two piecewise linear curves this ends
    at their corners. Where a curve is not meant to be convex, or surely is not at the first points, only monotony bounds what lies between.

    Raises ValueError if either is a curve and the other a number; UndefinedError if a curve returns NaN.
    """
    claimed, one_sided = claim.value, claim.kind.one_sided
    if isinstance(claimed, Number) or isinstance(truth, Number):
        if not (isinstance(claimed, Number) and isinstance(truth, Number)):
            item, other = ("claimed", "truth") if isinstance(claimed, Number) else ("truth", "claimed")
            raise ValueError(f"{item} returned a number and {other} a curve; both must be of the same sort")
        # Where a side is open, its known end stands for it.
        value = 0.0 if truth.value == claimed.value else truth.value - claimed.value
        error = claimed.error + truth.error
        low = -math.inf if truth.unknown == "below" or claimed.unknown == "above" else value - error
        high = math.inf if truth.unknown == "above" or claimed.unknown == "below" else value + error
        if math.isinf(high) != math.isinf(low):
            value = low if math.isinf(high) else high
        over = Side(value, low, high)
        return Gap(over, over.negated)
    floor = claim.floor(truth)
    if resolution is None:
        # What is left between two points counts against an equality: no more than a small part of what is tolerated.
        resolution = RESOLUTION if one_sided else min(RESOLUTION, LEFT_BETWEEN * claim.tolerance)
    if out_of_sight(claimed, floor):
        return _gap_in_sight(one_sided, claimed, truth, floor)
    first, last = _judged_range(claimed, floor)
    corners = [c.alpha for c in (truth, claimed) if isinstance(c, PiecewiseLinearTradeOff)]
    grid = ndtr(np.linspace(ndtri(first), ndtri(last), GRID))
    start = np.unique(np.concatenate([[first, last], grid, *corners]))
    alpha = start[(start >= first) & (start <= last)]
    seen = _Seen(truth, claimed, alpha)
    convex = convex and all(known.may_be_convex(alpha) for known in (seen.truth, seen.claimed))
    over_left, under_left = _refine(seen, convex, resolution)
    _polish(seen)
    least, most = seen.between()
    over, under = _extreme(seen.gap, least, most), _extreme(-seen.gap, -most, -least)
    # What may lie between the points is that of the computed gaps, without the error of the curves.
    return Gap(
        over._replace(most=over.most + over_left),
        under._replace(most=under.most + under_left),
        CurveEvidence(seen.alpha, seen.truth.middle.fnr, seen.alpha, seen.claimed.middle.fnr),
    )


def _refine(seen: _Seen, convex: bool, resolution: float) -> tuple[float, float]:
    """Add points until no gap between two of them can exceed the largest, or fall below the least, by much; returns by how much it still can."""
    left = 0.0, 0.0
    for _ in range(60):
        gap, alpha, wanted, actual = seen.gap, seen.alpha, seen.claimed.middle, seen.truth.middle
        over = exceed(alpha, wanted, actual, float(gap.max()), convex)
        under = exceed(alpha, actual, wanted, float(-gap.min()), convex)
        left = float(np.max(over, initial=0.0)), float(np.max(under, initial=0.0))
        more = (over > _enough(gap.max(), resolution)) | (under > _enough(gap.min(), resolution))
        split = np.flatnonzero(more)
        before, after = alpha[split], alpha[split + 1]
        middle = ndtr((ndtri(before) + ndtri(after)) / 2)
        # An interval as short as float64 resolves is a jump of the curve.
        middle = middle[(middle > before) & (middle < after) & (after - before > 1e-13 * after)]
        if not middle.size or alpha.size + middle.size > MOST_POINTS:
            break
        seen.add(middle)
    return left


def _extreme(gap: np.ndarray, least: np.ndarray, most: np.ndarray) -> Side:
    """The largest gap. A gap that may be infinite, because a curve is 0 or 1 to its error, counts as what is sure of it."""
    value = float(np.where(np.isposinf(most), least, np.where(np.isneginf(gap), most, gap)).max())
    if not math.isfinite(value):
        return Side(value, value, value)
    low, high = float(least.max()), float(np.nanmax(most))
    return Side(float(np.clip(value, low, high)), low, high)


def _polish(seen: _Seen) -> None:
    """Add points around the largest and the least gap, so that a corner there is met to many digits."""
    for _ in range(ROUNDS):
        gap, alpha = seen.gap, seen.alpha
        places = {int(gap.argmin()), int(gap.argmax())}
        split = np.array(sorted({i for p in places for i in (p - 1, p) if 0 <= i < alpha.size - 1}))
        inner = _inner(alpha[split], alpha[split + 1])
        if not inner.size or not np.isfinite(gap[list(places)]).all():
            break
        seen.add(inner)


def _inner(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The points that cut each interval into `PARTS`, evenly in probits; none where float64 does not resolve them."""
    low, high = ndtri(left), ndtri(right)
    cut = ndtr(low[:, None] + (high - low)[:, None] * (np.arange(1, PARTS) / PARTS))
    cut = np.where(np.diff(cut, axis=1, prepend=left[:, None]) > 1e-13 * right[:, None], cut, np.inf)
    return np.unique(cut[cut < right[:, None]])


def _judged_range(claimed: Curve, floor: float) -> Ends:
    """The FPRs in [floor, 1 - floor] at which the claimed FNR, which falls, is in the same range; their ends to 1e-8 probits, inwards."""

    def where(level: float, *, above: bool) -> float:
        # The last alpha with an FNR of at least `level`, or the first with an FNR of at most `level`.
        def fallen(z: np.ndarray) -> np.ndarray:
            value = known_at(claimed, ndtr(z.ravel())).middle.fnr.reshape(z.shape)
            return ~(value >= level if above else value > level)

        low, high = crossing(fallen, 1, ndtri(floor), -ndtri(floor), _ENDS)
        return float(ndtr(low if above else high)[0])

    ends = known_at(claimed, np.array([floor, 1 - floor])).middle.fnr
    first = floor if ends[0] <= 1 - floor else where(1 - floor, above=False)
    last = 1 - floor if ends[1] >= floor else where(floor, above=True)
    return min(first, last), max(first, last)


def out_of_sight(claimed: Curve, floor: float) -> bool:
    """Whether the claimed FNR is at no FPR in [floor, 1 - floor] in the same range."""
    ends = known_at(claimed, np.array([floor, 1.0 - floor])).middle.fnr
    return bool(ends[0] <= floor or ends[1] >= 1.0 - floor)


def _gap_in_sight(one_sided: bool, claimed: Any, truth: Any, floor: float) -> Gap:
    """The gaps where the claim is out of sight: rates beyond the floor count as the floor, so that a gap is at least what is seen."""
    alpha = spread_of(floor, NODES)
    wanted, actual = (
        Known(np.clip(known_at(curve, alpha).ends, floor, 1.0 - floor)) for curve in (claimed, truth)
    )
    least, most = actual.most.below(wanted.least), actual.least.below(wanted.most)
    # Two curves that are both out of sight are not seen to be equal, nor in order where the truth may pass the claim there.
    if not (one_sided or least.any() or most.any()):
        return Gap(Side(0.0, *ANYTHING), Side(0.0, *ANYTHING))
    over = _seen(float(least.max()), float(most.max()))
    end, start = claimed.probit_beta_bounds(alpha)[1], truth.probit_beta_bounds(alpha)[0]
    with np.errstate(invalid="ignore"):
        if (end - start > ROUNDING * (1.0 + np.abs(end))).any():
            over = over._replace(most=math.inf)
    # The claim is out of sight throughout, so that every gap may be less than what is seen of it.
    return Gap(over, _seen(-float(most.min()), -float(least.min()))._replace(most=math.inf))


def _seen(sure: float, possible: float) -> Side:
    """The largest gap that was seen: nothing is known where only its bracket is above 0."""
    if sure > 0.0:
        return Side(sure, sure, math.inf)
    return Side(possible, -math.inf, possible) if possible <= ROUNDING else Side(0.0, *ANYTHING)


def spread_of(floor: float, count: int) -> np.ndarray:
    """FPRs from `floor` to 1 - `floor`, evenly in probits."""
    return ndtr(np.linspace(ndtri(floor), -ndtri(floor), count))


def _enough(largest: float, resolution: float) -> float:
    return max(resolution, RELATIVE * abs(largest)) if math.isfinite(largest) else resolution


def lost_digits(alpha: np.ndarray, rates: Rates) -> np.ndarray:
    """How far rounding may move a gap, in probits: 0 unless the FPR, 1 - FPR, the FNR or the TPR is below `FLOOR`."""
    rarest = np.minimum(np.minimum(alpha, 1.0 - alpha), np.minimum(rates.fnr, rates.tpr))
    with np.errstate(divide="ignore"):
        lost = ROUNDED * np.finfo(float).eps * _slope(ndtri(np.maximum(rarest, 1e-300)))
    return np.where(rarest < FLOOR, lost, 0.0)


def _slope(z: np.ndarray) -> np.ndarray:
    """The derivative of Phi^-1 at Phi(z)."""
    with np.errstate(over="ignore"):
        return np.sqrt(2 * np.pi) * np.exp(z**2 / 2)


@dataclass(frozen=True)
class _Origin:
    """Where the FNRs of each interval are counted from: from 0, or from 1 (then they are negative) where that leaves more digits."""

    one: np.ndarray  # whether from 1

    def count(self, rates: Rates, part: slice) -> np.ndarray:
        """The FNRs."""
        return np.where(self.one, -rates.tpr[part], rates.fnr[part])

    def probit(self, x: np.ndarray) -> np.ndarray:
        """Phi^-1 of FNRs."""
        z = ndtri(np.abs(x))
        return np.where(self.one, -z, z)

    def gap(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Phi^-1(u) - Phi^-1(v); 0 where both are equal."""
        with np.errstate(invalid="ignore"):
            return np.where(u == v, 0.0, self.probit(u) - self.probit(v))

    def divided(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(Phi^-1(u) - Phi^-1(v)) / (u - v), and the derivative where they are equal to rounding."""
        large, small = np.maximum(np.abs(u), np.abs(v)), np.minimum(np.abs(u), np.abs(v))
        far = np.abs(u - v) > 1e-9 * np.minimum(large, 1 - small)
        z, other = self.probit(u), self.probit(v)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(
                far, (z - other) / np.where(far, u - v, 1.0), np.maximum(_slope(z), _slope(other))
            )

    def most(self, u0: np.ndarray, l0: np.ndarray, u1: np.ndarray, l1: np.ndarray) -> np.ndarray:
        """An upper bound of Phi^-1(u) - Phi^-1(l) where u and l run linearly from u0 to u1 and from l0 to l1.

        It is (u - l) S with S the divided difference of Phi^-1. The derivative of Phi^-1 is convex, so S is convex along the
        way: below its chord, and above its two half-chords prolonged. Either way the bound is a product of linear functions.
        """
        d0, d1 = u0 - l0, u1 - l1
        dm = (d0 + d1) / 2
        s0, sm, s1 = self.divided(u0, l0), self.divided((u0 + u1) / 2, (l0 + l1) / 2), self.divided(u1, l1)
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


def exceed(alpha: np.ndarray, upper: Rates, lower: Rates, largest: float, convex: bool) -> np.ndarray:
    """How far Phi^-1(upper) - Phi^-1(lower) may exceed `largest` inside each of the intervals; <= 0 where it cannot.
    `alpha`: increasing, shape (m,); `upper`, `lower`: the rates of both curves there; `largest`: the largest gap at the points; `convex`: whether
    both curves are convex; else only monotony bounds what lies between.
    """
    # there is nothing left to find on that side, nor, if it is so throughout, on the other
    if not math.isfinite(largest):
        return np.full(alpha.size - 1, -math.inf)
    left, right = slice(None, -1), slice(1, None)
    origin = _Origin((upper.fnr[left] + lower.fnr[right]) > 1.0)
    upper_left, upper_right, lower_left, lower_right = (
        origin.count(curve, part) for curve in (upper, lower) for part in (left, right)
    )
    by_order = origin.gap(upper_left, lower_right)
    if not convex:
        return by_order - largest
    width = np.diff(alpha)
    rise = np.where(lower.fnr[left] > 0.5, -np.diff(lower.tpr), np.diff(lower.fnr)) / width
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
    pieces = (
        origin.most(upper_left, lower_left, chord, least),
        origin.most(chord, least, upper_right, lower_right),
    )
    return np.fmin(by_order, np.maximum(*pieces)) - largest
