"""Judges a limit by exact distributions at growing sizes: the rule, the fitted shapes, and the verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from mipsim._validation import number
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.judging.gap import Size
from mipsim.referee.judging.law import (
    ONE_SIDED,
    UNKNOWN,
    around,
    contradicts,
    either_side,
    size_of,
    tolerance_of,
)
from mipsim.referee.judging.law import ROUNDING as LAST_DIGITS
from mipsim.referee.kinds import Limit, Rate, rate_of
from mipsim.referee.result import PointResult, TrendEvidence, Verdict
from mipsim.referee.values import Number, Played, Samplers, read
from mipsim.tradeoff.base import AbstractTradeOff


def judge_sequence(
    kind: Limit,
    # (claimed, truth, whether the truth is the best attacker's) at a size
    pair: Callable[[int], tuple[AbstractTradeOff | Number, AbstractTradeOff | Number, bool]],
    at: Mapping[str, Any],  # the point, without what grows
    sizes: tuple[int, ...],  # at least six
    route: str,  # how the gaps are computed
) -> PointResult:
    """Judge a limit at growing sizes."""
    seen: dict[int, Size] = {}
    last = pair(sizes[-1])[0]
    rate = rate_of(kind, at)
    refused: list[str] = []

    def at_size(n: int) -> Size:
        claimed, truth, optimal = pair(n)
        seen[n] = size_of(kind, claimed, truth, optimal, f"{kind.grows} = {n}")
        if rate is None:
            return seen[n]
        if contradicts(_limit_of(rate, n), truth, rate.at(n)):
            refused.append(f"at {kind.grows} = {n} truth is farther from its limit than {rate.at(n):.3g}")
        wanted = _limit_of(rate, n) if callable(rate.limit) else last
        scale = max(1.0, abs(wanted.value)) if isinstance(wanted, Number) else 1.0
        if not abs(size_of(kind, claimed, wanted, True, "").worst) <= LAST_DIGITS * scale:
            moved = "is not the limit of the rate" if callable(rate.limit) else "changes with the size"
            refused.append(f"the claim {moved}")
        return seen[n]

    result = judge_limit(
        at_size,
        tolerance_of(kind, last),
        dict(at),
        sizes=sizes,
        unit=(last.unit or kind.unit) if isinstance(last, Number) else "probit",
        bound=kind.bound,
        size_name=kind.grows,
        route=route,
    )
    if rate is None:
        return result
    limit = _limit_of(rate, sizes[-1])
    return _by_rate(result, rate, size_of(kind, last, limit, True, "in the limit"), refused[:1], kind.bound)


def _limit_of(rate: Rate, size: int) -> AbstractTradeOff | Number:
    """What a rate says that truth is near to at a size."""
    result = read("limit", rate.limit(size) if callable(rate.limit) else rate.limit)
    assert not isinstance(result, (Played, Samplers))
    return result


def _by_rate(
    result: PointResult, rate: Rate, apart: Size, refused: Sequence[str], bound: bool
) -> PointResult:
    """The result with a proven rate beside the sizes, which says what truth tends to; unless they contradict it, it decides."""
    rate_text = (
        f"Proven rate: at most {rate.constant:g} n^-{rate.power:g} from {rate.start:g} on ({rate.source})."
    )
    if refused:
        why = f"{rate_text} It is refused: {refused[0]}."
        undecided = Verdict.INCONCLUSIVE if result.verdict is Verdict.CONFIRMED else result.verdict
        return replace(result, verdict=undecided, detail=f"{why} {result.detail}")
    tolerance = result.tolerance or 0.0
    gap = apart.high if bound else apart.worst
    size = max(gap, 0.0) if bound else abs(gap)
    most = size + apart.error + (apart.above if bound else apart.between)
    verdict = Verdict.CONFIRMED if most <= FLOOR * tolerance else Verdict.INCONCLUSIVE
    if size - apart.error > FLOOR * tolerance:
        verdict = Verdict.REFUTED
    if {verdict, result.verdict} == {Verdict.CONFIRMED, Verdict.REFUTED}:
        why = f"{rate_text} The sizes seem to lead elsewhere, so that nothing is decided."
        return replace(
            result, verdict=Verdict.INCONCLUSIVE, smallest_tolerance=math.inf, detail=f"{why} {result.detail}"
        )
    route = f"{result.route}, proven rate"
    rate_text = f"{rate_text} Its limit and the claim are {most:.2g} apart at most."
    if verdict is Verdict.REFUTED:
        interval = around(gap, apart.error, apart.between)
        return replace(
            result,
            verdict=verdict,
            gap=gap,
            interval=interval,
            smallest_tolerance=math.inf,
            route=route,
            detail=f"{rate_text} {result.detail}",
        )
    return replace(
        result, verdict=verdict, smallest_tolerance=most, route=route, detail=f"{rate_text} {result.detail}"
    )


def judge_limit(
    at: Callable[[int], Size],  # the gaps at a size, with their errors
    tolerance: float,  # what counts as equal to the limit, > 0, in `unit`
    parameters: dict[str, Any],
    *,
    sizes: Sequence[int],  # at least six, each at least twice the previous
    unit: str = "probit",
    # whether the statement is a bound in the limit: only positive gaps count against it, but negative ones that rise must
    # be seen to stay at or below zero
    bound: bool = False,
    size_name: str = "n",  # what grows
    route: str = "exact law",  # how the gaps were computed
) -> PointResult:
    """Judge a limit by the rule of `mipsim.referee.limit_verdict`, on the least and on the largest gap of each size.

    CONFIRMED: both tend to zero; or the gap that is farther from zero at every size does, and the other is not REFUTED.
    REFUTED: either does not. Otherwise INCONCLUSIVE, also where an error is infinite; `detail` says why.

    Raises ValueError if there are fewer than six sizes, or a gap is NaN.
    """
    result = [at(n) for n in sizes]
    # A gap that is known from a single side is no value to fit, as an infinite gap is none, where enough sizes are left.
    beyond = [
        (
            math.inf if not bound and math.isinf(item.below) else 0.0,
            math.inf if math.isinf(item.above) else 0.0,
        )
        for item in result
    ]
    late = max((place + 1 for place, side in enumerate(beyond) if math.inf in side), default=0)
    if len(result) - late >= LEAST_SIZES:
        result, sizes, beyond = result[late:], sizes[late:], beyond[late:]
    low, high, errors = (np.array(v) for v in zip(*((s.low, s.high, s.error) for s in result), strict=True))
    known, errors = np.isfinite(errors).all(), np.where(np.isfinite(errors), errors, 0.0)
    last, highest, off = result[-1], high, errors
    if bound:
        # What a gap exceeds zero by is off by less than the gap where that is negative, and by nothing where it surely is.
        least, most = np.maximum(high - errors, 0.0), np.maximum(high + errors, 0.0)
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        errors = np.maximum(most - high, high - least)
    sides = [high] if bound or (low == high).all() else _by_size(low, high)
    judged = [_limit_verdict(sizes, side, tolerance, errors, beyond[-1]) for side in sides]
    order = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.REFUTED)
    worst = max(judged, key=lambda item: order.index(Verdict(item.verdict)))
    if len(sides) == 2 and Verdict(worst.verdict) is not Verdict.REFUTED and _dominates(*sides):
        # The lesser side is nearer to zero at every size: it can refute, but where it is only noise it need not confirm.
        worst, sides, judged = judged[0], sides[:1], judged[:1]
    verdict = Verdict(worst.verdict)
    # The gaps that are fitted were attained; what may lie between the points of the last curves counts against the claim.
    least = _least_tolerance(judged, sides, errors) + (last.above if bound else last.between)
    rises = ""
    if bound and verdict is not Verdict.REFUTED and _may_rise(sizes, highest, off, tolerance):
        least, verdict = math.inf, Verdict.INCONCLUSIVE
        shown = ", ".join(f"{gap:+.2g}" for gap in highest)
        rises = (
            f" The bound holds at the judged sizes, but its slack ({shown}) shrinks, perhaps to below zero."
        )
    if verdict is Verdict.CONFIRMED and least > tolerance:
        verdict = Verdict.INCONCLUSIVE
    if not known:
        verdict, least = Verdict.INCONCLUSIVE, math.inf
        open_side = any(math.isinf(item.between) for item in result)
        rises = f" {ONE_SIDED if open_side else UNKNOWN}"
    gaps = highest if bound else np.array([s.worst for s in result])
    inside = np.maximum(np.abs(low), np.abs(high)) + errors <= tolerance
    starts = next((n for i, n in enumerate(sizes) if inside[i:].all()), None)
    known_ends = [_interval(item, bound) for item in result]
    gap_texts = [lone_gap(gap, ends, "{:+.2g}".format) for gap, ends in zip(gaps, known_ends, strict=True)]
    detail = f"{worst.why}{rises} Gaps {', '.join(gap_texts)} at {size_name} = {', '.join(map(str, sizes))}"
    if starts is not None:
        detail += f"; inside the tolerance from {size_name} = {starts} on"
    ends = [end for single in judged for end in single.interval]
    shown = len(result) - 1
    if verdict is Verdict.REFUTED and known:
        # Errors of the largest sizes may be large: the last gap that is surely none decides, where there is any.
        sure = [place for place, item in enumerate(result) if _excludes_zero(_interval(item, bound))]
        shown = sure[-1] if sure else shown
    undecided = not bound and verdict is Verdict.INCONCLUSIVE
    ends_of_gap = either_side(result[shown]) if undecided else _interval(result[shown], bound)
    return PointResult(
        parameters=parameters | {size_name: list(sizes)},
        verdict=verdict,
        games=0,
        gap=float(gaps[shown]),
        interval=ends_of_gap if known else (-math.inf, math.inf),
        smallest_tolerance=least,
        detectable_gap=float(errors[-1] + last.between),
        unit=unit,
        route=route,
        detail=f"{detail}. The least and the largest gap of the curve have limits in [{min(ends):+.2g}, {max(ends):+.2g}]."
        if len(judged) > 1
        else f"{detail}.",
        evidence=last.evidence
        if verdict is Verdict.REFUTED and last.evidence is not None
        else TrendEvidence(np.array(sizes, float), gaps, low, high, tolerance, size_name, f"gap ({unit})"),
        tolerance=tolerance,
    )


def _excludes_zero(interval: tuple[float, float]) -> bool:
    return interval[0] > 0.0 or interval[1] < 0.0


def _interval(last: Size, bound: bool) -> tuple[float, float]:
    """Of the gap that counts at a size: the largest gap, for a bound the highest gap."""
    if not bound:
        return around(last.worst, last.error, last.between)
    low = -math.inf if math.isinf(last.below) else last.high - last.error
    return low, last.high + last.error + last.above


def _by_size(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The two sides, the side whose last gap is larger first."""
    return [low, high] if abs(low[-1]) >= abs(high[-1]) else [high, low]


def _dominates(first: np.ndarray, other: np.ndarray) -> bool:
    """Whether the first side is at least as far from zero as the other at every size, so that its way to zero bounds the other's."""
    return bool((np.abs(other) <= np.abs(first)).all())


def _may_rise(sizes: Sequence[int], highest: np.ndarray, errors: np.ndarray, tolerance: float) -> bool:
    """Whether gaps, negative ones as they are, may yet rise to a limit above the tolerance."""
    if highest[-1] == -math.inf or (np.diff(highest[-4:]) <= 0.0).all():
        return False
    return limit_verdict(sizes, highest, tolerance, errors).interval[1] > tolerance


def _least_tolerance(
    judged: Sequence[LimitVerdict], sides: Sequence[np.ndarray], errors: np.ndarray
) -> float:
    """What the same gaps would confirm: the interval of the limit and the last gap; inf where they cannot confirm any."""
    if any(item.verdict == "REFUTED" for item in judged):
        return math.inf
    ends = [abs(end) for single in judged for end in single.interval]
    return float(max(*ends, *(abs(side[-1]) + errors[-1] for side in sides)))


CONFIRMED, REFUTED, INCONCLUSIVE = "CONFIRMED", "REFUTED", "INCONCLUSIVE"
LEAST_SIZES = 6
"""A fit of g, c, q and its noise has four unknowns; two sizes more are the least that can contradict it."""
LEAST_RATIO = 2.0
"""Sizes nearer than this say nearly the same."""
FAILURE_PROBABILITY = 1e-3
"""Of the interval of the limit, were the departures from the fit independent and normal."""
FLOOR = 1 / 50
"""A limit within this share of the tolerance is not distinguished from zero."""
ROUNDING = 1 / 2000
"""Errors of at least this share of the tolerance are allowed for, given or not: nobody computes without any."""
DESCRIBED = 0.25
"""A fit describes a sequence if it leaves at most this share of its standard deviation (or of the limit)."""
REACH = 10.0
"""A slow approach may yet move this many times as far as it has moved over all the sizes."""


@dataclass(frozen=True)
class LimitVerdict:
    """What a sequence of gaps says of its limit.

    Attributes:
        verdict: CONFIRMED, REFUTED or INCONCLUSIVE.
        limit: the estimate of the limit g, in the unit of the gaps; nan where there is no fit.
        interval: of the limit, over all fits that the gaps allow; (-inf, inf) where they say nothing.
        coefficient, power: c and q of the best fit g + c (n / first size)^-q, q in [1/4, 2]; nan where there is none.
        unexplained: root mean square of what that fit leaves, as a share of the standard deviation of the gaps.
        slow: whether a logarithmic approach, or a power below 1/4, describes the gaps as well.
        why: the reason, in a sentence.
    """

    verdict: str
    limit: float
    interval: tuple[float, float]
    coefficient: float
    power: float
    unexplained: float
    slow: bool
    why: str


def limit_verdict(
    sizes: object, gaps: object, tolerance: float, errors: object | None = None
) -> LimitVerdict:
    """Judge whether gaps at growing sizes go to zero. They support a limit; they never prove it.

    gap(n) = g + c n^-q is fitted with g, c and q in [1/4, 2] free. What the fit leaves is noise, either of constant size or
    in proportion to c n^-q (as a lattice makes it), beside the errors that are given. The interval of g is over all fits
    that are not significantly worse than the best (an F test), and is widened by the drift of the estimate when early
    sizes are left out, continued as slowly as n^-1/4. The same gaps are fitted by slow approaches: powers of 1 / log n,
    n^-q with q < 1/4, 1 / log log n, and logarithms that diverge.

    Where a slow approach describes the gaps as well, the interval reaches to where it would be after ten times its way so
    far; where nothing describes them, ten times what the best fit leaves is added.

    - CONFIRMED: the interval of g, which holds zero, and the last gap are inside the tolerance, for all sizes or, if those
      are inconclusive, for the later two thirds.
    - REFUTED: the interval of g excludes zero; or the gap grows, without slowing down, outside the tolerance.
    - INCONCLUSIVE: everything else, slow approach above all.

    Args:
        sizes: shape (m,), m >= 6, positive, each at least twice the previous.
        gaps: signed, shape (m,); infinite ones are allowed, NaN is not.
        tolerance: what counts as equal to the limit, > 0, in the unit of the gaps.
        errors: bounds on the errors of the gaps, >= 0, a number or shape (m,).

    Raises:
        ValueError: naming the argument, its value and what is allowed.

    Examples:
        >>> sizes = [100 * 2**k for k in range(10)]
        >>> result = limit_verdict(sizes, [n**-0.5 for n in sizes], 0.02)
        >>> result.verdict, round(result.limit, 3), round(result.power, 2)
        ('CONFIRMED', 0.0, 0.5)
        >>> limit_verdict(sizes, [0.01 + n**-0.5 for n in sizes], 0.1).verdict
        'REFUTED'
        >>> limit_verdict(sizes, [1 / math.log(n) for n in sizes], 0.2).verdict
        'INCONCLUSIVE'
    """
    return _limit_verdict(sizes, gaps, tolerance, errors, (0.0, 0.0))


def _limit_verdict(
    sizes: object, gaps: object, tolerance: float, errors: object | None, beyond: tuple[float, float]
) -> LimitVerdict:
    """The same, where the gaps may pass those that are given by `beyond`, downwards and upwards: 0, or infinitely far."""
    tolerance = number("tolerance", tolerance, 0.0, low_open=True)
    n, y, e = _checked(sizes, gaps, errors)
    e = np.hypot(e, ROUNDING * tolerance)
    floor = FLOOR * tolerance
    if np.isinf(y).all():
        return _without_fit(REFUTED, y[-1], "The gap is infinite at every size.")
    if np.isinf(y).any():
        finite = f"{int(np.isfinite(y).sum())} of {y.size} gaps are finite"
        why = f"{finite}; a limit is judged by at least {LEAST_SIZES} finite gaps at the largest sizes."
        late = int(np.flatnonzero(np.isinf(y))[-1]) + 1
        if y.size - late < LEAST_SIZES:
            return _without_fit(INCONCLUSIVE, math.nan, why)
        n, y, e = n[late:], y[late:], e[late:]
    late = (np.abs(y) + e)[-LEAST_SIZES:]
    if (late <= floor).all() and _grows(y, e, 0.0):
        why = f"No gap exceeds {floor:.2g}, but the gap grows over the last four sizes without slowing down."
        return _without_fit(INCONCLUSIVE, y[-1], why)
    if (late <= floor).all():
        spread = float(late.max())
        return LimitVerdict(
            CONFIRMED, 0.0, (-spread - beyond[0], spread + beyond[1]), math.nan, math.nan, 0.0, False,
            f"No gap at the last {LEAST_SIZES} sizes or more exceeds {floor:.2g}, which is not distinguished from zero.",
        )  # fmt: skip
    if _grows(y, e, tolerance):
        return _without_fit(REFUTED, y[-1], "The gap grows over the last four sizes without slowing down.")
    result = _by_fits(n, y, e, tolerance, floor, beyond)
    later = y.size // 3
    if result.verdict == INCONCLUSIVE and y.size - later >= LEAST_SIZES and later:
        after = _by_fits(n[later:], y[later:], e[later:], tolerance, floor, beyond)
        if after.verdict == CONFIRMED:
            return replace(after, why=f"{after.why} It is that of the sizes from {n[later]:g} on.")
    return result


def _by_fits(
    n: np.ndarray,
    y: np.ndarray,
    e: np.ndarray,
    tolerance: float,
    floor: float,
    beyond: tuple[float, float],
) -> LimitVerdict:
    powers, slow = fits(power_shapes(n), y, e), fits(slow_shapes(n), y, e)
    best = powers.loglik.argmax()
    free = y.size - 3
    quantile = float(scipy.stats.f.isf(FAILURE_PROBABILITY, 1, free))
    worse = 0.5 * y.size * math.log1p(quantile / free)
    least = max(powers.loglik.max(), slow.loglik.max()) - worse
    drift = _drift(n, y, e, float(powers.g[best]))
    also_slow = slow.loglik >= least
    reach = REACH * float(slow.moved[also_slow].max(initial=0.0))
    is_slow = bool(also_slow.any() and reach > floor)
    ok = powers.loglik >= least
    # The interval of the fits, and how much farther a slow approach may lead.
    sharp = [
        _hull(item, retained, quantile, extra)
        for item, retained, extra in ((powers, ok, 0.0), (slow, also_slow, REACH))
        if retained.any()
    ]
    low, high = min(ends[0] for ends in sharp), max(ends[1] for ends in sharp)
    near = _hull(powers, ok, quantile, 0.0) if ok.any() else _hull(slow, also_slow, quantile, 0.0)
    low, high, near = low - drift, high + drift, (near[0] - drift, near[1] + drift)
    unexplained = float(powers.unexplained[best])
    moved = float(np.std(y))
    left = unexplained * moved
    described = left <= max(DESCRIBED * moved, float(e.max()))
    if not described:
        # What no power describes may go on for ever, at several times the size that it has had.
        low, high = low - REACH * left, high + REACH * left
    # Gaps that are known from a single side leave their limit open to the other.
    low, high = low - beyond[0], high + beyond[1]
    # A wobble around a limit far from zero need not be described.
    still = left <= DESCRIBED * abs(powers.g[best])
    q = float(POWERS[best % POWERS.size])
    interval = f"the limit is in [{low:+.2g}, {high:+.2g}]"
    fit = f"gap = {powers.g[best]:+.3g} {powers.c[best]:+.3g} (n/{n[0]:g})^-{q:.2g}"
    outside = low > floor or high < -floor
    if outside and (described or still) and not _leaves(y, e):
        verdict, why = REFUTED, f"By {fit}, {interval}, which excludes zero."
    elif outside:
        verdict, why = (
            INCONCLUSIVE,
            f"By {fit}, {interval}, without zero, but the fit is not good enough for that.",
        )
    elif near[0] > floor or near[1] < -floor:
        verdict, why = (
            INCONCLUSIVE,
            f"By {fit} the limit is not zero, but {interval} where slower approaches are allowed for.",
        )
    elif max(abs(low), abs(high)) <= tolerance and abs(y[-1]) + e[-1] <= tolerance:
        verdict, why = CONFIRMED, f"By {fit}, {interval}."
    elif is_slow:
        verdict = INCONCLUSIVE
        why = f"A slow (logarithmic) approach describes the gaps as well as {fit}: {interval}."
    elif not described:
        verdict = INCONCLUSIVE
        why = f"No power of n describes the gaps: {fit} leaves {unexplained:.0%} of their standard deviation."
    else:
        verdict = INCONCLUSIVE
        why = f"By {fit}, {interval} and the last gap is {y[-1]:+.2g}: not all inside the tolerance."
    return LimitVerdict(
        verdict, float(powers.g[best]), (low, high), float(powers.c[best]), q, unexplained, is_slow, why
    )


def _hull(fitted: Fits, accepted: np.ndarray, quantile: float, reach: float) -> tuple[float, float]:
    """The interval of g over the accepted fits, each widened by `reach` times how far its approach has moved."""
    half = math.sqrt(quantile) * fitted.error[accepted] + reach * fitted.moved[accepted]
    return float((fitted.g[accepted] - half).min()), float((fitted.g[accepted] + half).max())


def _drift(n: np.ndarray, y: np.ndarray, e: np.ndarray, whole: float) -> float:
    """How far the estimate of the limit may yet go.

    It is compared with those that allow for a second term and leave out early sizes; what they differ by may go on, and is
    taken to shrink no faster than n^-1/4.
    """
    later = max(5, y.size // 2)
    starts = sorted({y.size - later, (y.size - later + 1) // 2} - {0})
    estimates = [whole, second_term(power_shapes(n), y, e)]
    for start in starts:
        result: Fits = fits(power_shapes(n[start:]), y[start:], e[start:])
        estimates.append(float(result.g[result.loglik.argmax()]))
    step = (n[starts[-1] if starts else 1] / n[0]) ** 0.25
    return float(np.ptp(estimates)) * (1.0 + 1.0 / (step - 1.0))


def _leaves(y: np.ndarray, e: np.ndarray) -> bool:
    """Whether the last steps are towards zero and each is longer than the previous: a plateau that ends.

    No approach to another limit is like that, however well a power describes what there was before.
    """
    step = -np.diff(np.abs(y))[-3:]
    return bool(step[-1] > 2 * e[-1] and (np.diff(step) > 0).all())


def _grows(y: np.ndarray, e: np.ndarray, tolerance: float) -> bool:
    size, step = np.abs(y), np.diff(np.abs(y))[-3:]
    return bool(
        size[-1] > tolerance
        and size[-1] >= size.max()
        and (step > 2 * e[-3:]).all()
        and (np.diff(step) >= -2 * e[-2:]).all()
    )


def _without_fit(verdict: str, limit: float, why: str) -> LimitVerdict:
    nan = math.nan
    return LimitVerdict(verdict, float(limit), (-math.inf, math.inf), nan, nan, nan, False, why)


def _checked(sizes: object, gaps: object, errors: object | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n, y = _vector("sizes", sizes), _vector("gaps", gaps)
    if n.size < LEAST_SIZES:
        raise ValueError(f"sizes has {n.size} entries; a limit is judged by at least {LEAST_SIZES}")
    if y.shape != n.shape:
        raise ValueError(f"gaps has {y.size} entries; it must have an entry for each of the {n.size} sizes")
    if not (np.isfinite(n) & (n > 0)).all():
        raise ValueError(f"sizes holds {n[~(np.isfinite(n) & (n > 0))][0]:g}; each must be finite and > 0")
    ratio = n[1:] / n[:-1]
    if (near := ratio < LEAST_RATIO * (1 - 1e-9)).any():
        raise ValueError(
            f"sizes holds {n[1:][near][0]:g} after {n[:-1][near][0]:g}; each must be at least {LEAST_RATIO:g} times the previous"
        )
    if np.isnan(y).any():
        place = int(np.flatnonzero(np.isnan(y))[0])
        raise ValueError(f"gaps[{place}], at size {n[place]:g}, is NaN; each gap must be a number")
    e = np.zeros(n.size) if errors is None else np.asarray(errors, float)
    if e.shape not in ((), n.shape):
        raise ValueError(
            f"errors has shape {e.shape}; it must be a number or have an entry for each of the {n.size} sizes"
        )
    e = np.broadcast_to(e, n.shape).copy()
    if not (e >= 0).all() or np.isinf(e).any():
        raise ValueError(f"errors holds {e[~((e >= 0) & np.isfinite(e))][0]:g}; each must be finite and >= 0")
    return n, y, e


def _vector(name: str, value: object) -> np.ndarray:
    try:
        array = np.asarray(value, float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} is {value!r}; it must be a sequence of numbers") from None
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must be a sequence of numbers")
    return array


POWERS = np.linspace(0.25, 2.0, 36)
"""q of n^-q: what a central limit theorem, its next terms and smoothing by noise give."""
SLOW_POWERS = (0.01, 0.02, 0.04, 0.07, 0.1, 0.13, 0.16, 0.19, 0.22)
LOG_POWERS = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
NOISES = np.concatenate([[0.0], np.geomspace(1e-10, 3.0, 60)])
"""Sizes of what a fit leaves, as a share of the change of the sequence, among which the likeliest is taken."""


@dataclass(frozen=True)
class Fits:
    """Fits g + c phi, for each shape phi and each of the two kinds of noise, at its likeliest size."""

    # g, c: shape (2 k,) for k shapes, first with noise of constant size, then with noise in proportion to phi
    g: np.ndarray
    c: np.ndarray
    error: np.ndarray  # standard error of g
    loglik: np.ndarray  # log-likelihood
    moved: np.ndarray  # how far c phi moves from the first size to the last
    # root mean square of the residuals, as a share of the standard deviation of the sequence
    unexplained: np.ndarray


def power_shapes(n: np.ndarray) -> np.ndarray:
    """(n / n_1)^-q for all `POWERS`, shape (36, m).
    >>> power_shapes(np.array([1.0, 4.0]))[0].round(6).tolist()  # q = 1/4
    [1.0, 0.707107]
    """
    return np.exp(-POWERS[:, None] * np.log(n / n[0]))


def slow_shapes(n: np.ndarray) -> np.ndarray:
    """Slow approaches, and logarithms that diverge: n^-q with q < 1/4, powers of 1 / log n, 1 / log log n, log log n, log n.

    Logarithms are of 3 n / n_1 at least, so that they are defined and positive twice over.

    >>> slow_shapes(np.array([100.0, 200.0])).shape
    (22, 2)
    """
    x = np.log(n * max(1.0, 3.0 / n[0]))
    powers = np.exp(-np.array(SLOW_POWERS)[:, None] * (x - x[0]))
    logs = x ** -np.array(LOG_POWERS)[:, None]
    return np.concatenate([powers, logs, [1 / np.log(x), np.log(x), x]])


def fits(shapes: np.ndarray, y: np.ndarray, errors: np.ndarray) -> Fits:
    """Fit g + c phi by weighted least squares, for each shape and each kind of noise.
    `shapes`: phi at the sizes, positive, shape (k, m); `y`: the sequence, shape (m,); `errors`: known standard errors, >
    0, shape (m,); the noise of the fit is added to them.
    """
    change = float(np.ptp(y)) or 1.0
    centred = shapes / np.exp(np.log(shapes).mean(axis=1, keepdims=True))
    parts = [_fit(shapes, y, errors, change, scale) for scale in (np.ones_like(shapes), centred)]
    return Fits(*(np.concatenate(values) for values in zip(*parts, strict=True)))


def second_term(shapes: np.ndarray, y: np.ndarray, errors: np.ndarray) -> float:
    """Return the g of g + c phi + b phi^2, the likeliest over the shapes and over both kinds of noise."""
    best, limit = -np.inf, np.nan
    for scale in (np.ones_like(shapes), shapes):
        weight = 1.0 / np.hypot(errors / float(np.ptp(y) or 1.0), scale)
        design = np.stack([np.ones_like(shapes), shapes, shapes**2], axis=-1) * weight[..., None]
        solution = (np.linalg.pinv(design) @ (y * weight)[..., None])[..., 0]
        left = ((design @ solution[..., None])[..., 0] - y * weight) ** 2
        loglik = np.log(weight).sum(-1) - 0.5 * y.size * np.log(left.sum(-1) + 1e-300)
        if loglik.max() > best:
            best, limit = float(loglik.max()), float(solution[loglik.argmax(), 0])
    return limit


def _fit(
    shapes: np.ndarray, y: np.ndarray, errors: np.ndarray, change: float, scale: np.ndarray
) -> list[np.ndarray]:
    variance = errors**2 + (NOISES[:, None, None] * change * scale) ** 2  # noise, shape, size
    weight = 1.0 / variance
    total = weight.sum(-1)
    centre = (weight * shapes).sum(-1) / total
    apart = shapes - centre[..., None]
    spread = (weight * apart**2).sum(-1)
    c = (weight * apart * y).sum(-1) / spread
    g = (weight * y).sum(-1) / total - c * centre
    left = y - g[..., None] - c[..., None] * shapes
    loglik = -0.5 * (np.log(variance) + weight * left**2).sum(-1)
    best = (loglik.argmax(0), np.arange(shapes.shape[0]))
    error = np.sqrt(1.0 / total + centre**2 / spread)
    return [
        g[best],
        c[best],
        error[best],
        loglik[best],
        np.abs(c[best]) * np.ptp(shapes, axis=1),
        np.sqrt((left[best] ** 2).mean(-1)) / (float(np.std(y)) or 1.0),
    ]
