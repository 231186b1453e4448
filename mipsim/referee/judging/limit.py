"""Judges a limit: by a theorem for all larger sizes, else by exact distributions at growing sizes, up to the largest of them.

What is proven of a limit is proven of all sizes from some size on: a `Rate` says how far truth is from what it tends to, a `Ceiling` what it
never passes. Gaps at judged sizes are proven too, but of these sizes only; nothing is extrapolated from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from mipsim._printed import at_most, enough, floor
from mipsim._validation import number, real_array
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.decide import ONE_SIDED, UNKNOWN, decide
from mipsim.referee.judging.gap import ANYTHING, ROUNDING, Ends, Gap, gap_between
from mipsim.referee.judging.law import contradicts, probits_of
from mipsim.referee.kinds import Ceiling, Limit, Rate, ceiling_of, rate_of
from mipsim.referee.result import PointResult, TrendEvidence, Verdict
from mipsim.referee.values import Number, Played, Samplers, read
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff

Curve = AbstractTradeOff | Number
NEGLIGIBLE = 1 / 50
"""A gap within this share of the tolerance is none; two limits must be known as well to count as equal."""
NOISE = 1 / 2000
"""A gap within this share of the tolerance is rounding, and need not shrink."""
SHRINKS = 3 / 4
"""The gaps of the last third of the sizes are at most this share of those of the third before."""
NO_SIGN = "no sign of it"
"""What is seen where gaps do not shrink."""
LEAST_SIZES, LEAST_SPAN = 6, 32.0
"""So many sizes at least, from the least to so many times it at least."""


def judge_limit(
    kind: Limit,
    # (claim, truth, whether the truth is the best attacker's) at a size
    pair: Callable[[int], tuple[Claim, Curve, bool]],
    at: Mapping[str, Any],  # the point, without what grows
    sizes: Sequence[int],  # at least six
    route: str,  # how the gaps are computed
) -> PointResult:
    """Judge a limit: by its theorem, if it has any at this point, else up to the largest size by the rule of `limit_verdict`.
    Raises ValueError if there are fewer than six sizes, or a gap is NaN.
    """
    theorem = rate_of(kind, at) or ceiling_of(kind, at)
    gaps: list[Gap] = []
    claims: list[Claim] = []  # of all sizes for a theorem, else the last
    wrong: list[str] = []  # what contradicts the theorem
    shares: list[float] = []  # tolerances, where they are shares of a claim that moves
    for n in sizes:
        claim, truth, optimal = pair(n)
        gaps.append(gap_between(claim, truth, optimal))
        claims = [*claims, claim] if theorem else [claim]
        wrong += _contradictions(theorem, n, claim, truth)
        if isinstance(claim.value, GaussianTradeOff) and claim.value.mu > 0.0:
            shares.append(claim.tolerance)
    claim, largest = claims[-1], sizes[-1]
    tolerance = claim.tolerance
    scale = np.array(shares) / tolerance if len(shares) == len(sizes) else 1.0
    result = _up_to(claim, gaps, at, np.array(sizes), scale, route)
    if theorem is None or (isinstance(theorem, Ceiling) and largest < theorem.start):
        return result
    moves = theorem.claimed is not None
    if not moves and not callable(getattr(theorem, "limit", None)) and not _same(claims[0], claim.value):
        wrong.append("the claim changes with the size")
    goal = Claim(kind, _given(theorem.claimed)) if moves else claim
    if isinstance(theorem, Ceiling):
        if moves and not _approaches(np.array(sizes, float), claims, goal.value, tolerance):
            wrong.append("the claim does not tend to what the bound says that it tends to")
        proven = _by_ceiling(theorem, goal, tolerance)
    else:
        proven = _by_rate(theorem, goal, largest, tolerance)
    detail = f"{proven.says} {result.detail}"
    if proven.verdict is Verdict.INCONCLUSIVE:
        return replace(result, detail=detail)
    if wrong:
        refused = f"{proven.says} It is refused: {wrong[0]}. {result.detail}"
        return replace(result, verdict=Verdict.INCONCLUSIVE, headline="", detail=refused)
    if proven.verdict is not Verdict.CONFIRMED:
        result = replace(result, gap=proven.gap, interval=proven.interval)
    return replace(
        result,
        verdict=proven.verdict,
        smallest_tolerance=proven.within,
        route=f"{route}, theorem",
        detail=detail,
        headline=proven.words,
        up_to=None,
    )


def _up_to(
    claim: Claim,
    gaps: Sequence[Gap],
    at: Mapping[str, Any],
    sizes: np.ndarray,
    scale: np.ndarray | float,  # the tolerance at each size, as a share of that at the last
    route: str,
) -> PointResult:
    """What the gaps at these sizes say, up to the largest of them."""
    kind: Any = claim.kind
    bound, name, tolerance, largest = kind.bound, kind.grows, claim.tolerance, int(sizes[-1])
    counted = [item.counted(bound) for item in gaps]
    values = np.array([item.value for item in counted])
    sure, most = np.array([np.maximum(item.size, 0.0) for item in counted]).T
    n = _checked(sizes, values)
    excess = np.maximum(values, 0.0) if bound else values
    trend = _trend(n, excess / scale, sure / scale, most / scale, tolerance)
    late, middle = _thirds(n)
    # Slack that shrinks may end; where half of it was left, or it ends inside the tolerance, it counts as none that does.
    slack, before = -values[late].max(), -values[middle].max()
    fades = bound and trend.sign == "" and slack > tolerance and slack < SHRINKS * before < math.inf
    verdict = decide((0.0, trend.largest), math.inf, tolerance, doubt=bool(fades) or not trend.shrinks)
    lost = f"The bound holds up to {name} = {largest:,}, but its slack shrinks, perhaps to below zero."
    texts = [lone_gap(item.value, item.interval, 2, "+") for item in counted]
    detail = f"{lost if fades else trend.why} {_listed(texts, name, sizes.tolist())}"
    reach = f"{f'along {kind.along} ' if kind.along else ''}up to {name} = {largest:,}"
    headline = f"{trend.sign} {reach}".strip() if trend.sign is not None else ""
    if np.isinf(most[late]).any() and verdict is Verdict.INCONCLUSIVE:
        headline = headline if trend.sign else ""
        # An infinite gap is known.
        pairs = [item.everywhere for item in gaps if item.everywhere[0] != item.everywhere[1]]
        if any(np.isinf(pair).any() for pair in pairs):
            detail += f" {ONE_SIDED if any(np.isinf(pair).sum() == 1 for pair in pairs) else UNKNOWN}"
    # What is surely there has a sign; else it may be the least or the largest gap.
    undecided = not bound and verdict is Verdict.INCONCLUSIVE and not trend.sign
    under, over = np.array([(0.0 - item.under.value, item.over.value) for item in gaps]).T
    return PointResult(
        parameters=dict(at) | {name: sizes.tolist()},
        verdict=verdict,
        games=0,
        gap=float(values[-1]),
        interval=gaps[-1].everywhere if undecided else counted[-1].interval,
        smallest_tolerance=trend.largest if verdict is Verdict.CONFIRMED else math.inf,
        detectable_gap=float(most[-1] - abs(excess[-1])) if math.isfinite(most[-1]) else math.inf,
        unit=claim.unit,
        route=route,
        detail=detail,
        evidence=TrendEvidence(n, values, under, over, tolerance, name, f"gap ({claim.unit})"),
        tolerance=tolerance,
        headline=headline,
        up_to=float(largest),
    )


def _contradictions(theorem: Rate | Ceiling | None, n: int, claim: Claim, truth: Curve) -> list[str]:
    """What at a size contradicts the theorem."""
    if theorem is None:
        return []
    at = f"at {claim.kind.grows} = {n}"  # type: ignore[attr-defined]
    if isinstance(theorem, Ceiling):
        sides = not theorem.below, theorem.below
        passed = n >= theorem.start and contradicts(_given(theorem.value), truth, 0.0, sides)
        return [f"{at} truth passes it"] if passed else []
    limit, near = _given(theorem.limit, n), theorem.at(n)
    wrong = []
    if contradicts(limit, truth, near):
        wrong.append(f"{at} truth is farther from its limit than {near:.3g}")
    if callable(theorem.limit) and not _same(claim, limit):
        wrong.append("the claim is not the limit of the rate")
    if theorem.claimed is not None and contradicts(_given(theorem.claimed), claim.value, near):
        wrong.append(f"{at} the claim is farther from its limit than {near:.3g}")
    return wrong


class _Proven(NamedTuple):
    """What a theorem decides; INCONCLUSIVE: nothing."""

    verdict: Verdict
    says: str
    gap: float = math.nan  # of what is proven against the claim
    interval: Ends = ANYTHING  # of the gap at all larger sizes, or of its limit
    within: float = math.inf  # the least tolerance that it confirms
    words: str = ""


def _by_rate(rate: Rate, claim: Claim, size: int, tolerance: float) -> _Proven:
    kind: Any = claim.kind
    limit, near = _given(rate.limit, size), rate.at(size)
    if math.isfinite(near) and not isinstance(limit, Number):
        near = probits_of(limit, near, kind.floor)
    digits = enough(near, tolerance, 2)
    where = f"{claim.unit} at {kind.grows} = {size:,} and beyond"
    says = f"Proven rate: at most {rate.constant:g} {kind.grows}^-{rate.power:g} from {rate.start:g} on: within {at_most(near, digits)} {where} ({rate.source})."
    if not near <= tolerance:
        return _Proven(
            Verdict.INCONCLUSIVE, f"{says} It decides nothing: {floor(tolerance, digits)} is required."
        )
    gap, interval, ends = gap_between(claim, limit).counted(kind.bound)
    verdict = decide(ends, _last_digits(limit), NEGLIGIBLE * tolerance)
    says = f"{says} Its limit and the claim are {max(gap, 0.0) if kind.bound else abs(gap):.2g} apart."
    # A claim that moves is as far from its limit as truth.
    near = (near if rate.claimed is None else 2.0 * near) + max(ends[1], 0.0)
    if verdict is Verdict.CONFIRMED:
        return _Proven(verdict, says, within=near, words=f"proven: within {at_most(near, 2)} {where}")
    return _Proven(verdict, says, gap, interval, words="proven")


def _by_ceiling(ceiling: Ceiling, claim: Claim, tolerance: float) -> _Proven:
    kind: Any = claim.kind
    never = "never less" if ceiling.below else "never more"
    says = (
        f"Proven: from {kind.grows} = {ceiling.start:,g} on truth is {never} than a bound ({ceiling.source})."
    )
    moves = ceiling.claimed is not None
    words = "proven in the limit" if moves else f"proven at every {kind.grows} from {ceiling.start:,g} on"
    value = _given(ceiling.value)
    apart, rounding = gap_between(claim, value), _last_digits(value)
    # Below a ceiling an equality fails where the claim is above it, above a floor where truth is.
    beyond = apart.over if ceiling.below else apart.under
    surely = 0.0 if kind.bound and not ceiling.below else beyond.sure
    # Confirmed where the claim is not surely less than the bound.
    most = apart.over.most if kind.bound and not ceiling.below else math.inf
    verdict = decide((surely, most), rounding, NEGLIGIBLE * tolerance, doubt=apart.over.sure > rounding)
    if verdict is Verdict.CONFIRMED:
        return _Proven(verdict, says, within=max(most, 0.0), words=words)
    if verdict is Verdict.INCONCLUSIVE:
        return _Proven(verdict, f"{says} The claim is on its side, so that it decides nothing.")
    says = f"{says} The claim is {abs(beyond.value):.3g} beyond it at least."
    least = beyond._replace(most=math.inf)
    gap = least if ceiling.below else least.negated
    return _Proven(verdict, says, gap.value, gap[1:], words=words)


def _approaches(n: np.ndarray, claims: Sequence[Claim], goal: Curve, tolerance: float) -> bool:
    """Whether nothing at these sizes speaks against claims that tend to a number or curve."""
    apart = [gap_between(claim, goal).counted(False) for claim in claims]
    sure, most = np.array([item.size for item in apart]).T
    return _trend(n, np.array([item.value for item in apart]), sure, most, tolerance).sign != NO_SIGN


def _given(value: Any, size: int = 0) -> Curve:
    """What a theorem gives; at a size, where it is a function."""
    result = read("limit", value(size) if callable(value) else value)
    assert not isinstance(result, (Played, Samplers))
    return result


def _same(claim: Claim, other: Curve) -> bool:
    return abs(gap_between(claim, other).counted(False).value) <= _last_digits(other)


def _last_digits(of: Curve) -> float:
    """What rounding may make of it."""
    return ROUNDING * (max(1.0, abs(of.value)) if isinstance(of, Number) else 1.0)


def _listed(texts: Sequence[str], name: str, sizes: Sequence[int]) -> str:
    """The gaps at their sizes; gaps that read the same are written once.
    >>> _listed(["+0.5"] * 3, "n", [10, 20, 40]), _listed(["+0.5", "+0.5", "+0.2"], "n", [10, 20, 40])
    ('Gaps: +0.5 at n = 10 to 40.', 'Gaps: +0.5 at n = 10 to 20, +0.2 at 40.')
    """
    words = []
    for text, alike in groupby(range(len(texts)), texts.__getitem__):
        first, *_, last = [sizes[k] for k in alike] * 2
        words.append(
            f"{text} at {'' if words else f'{name} = '}{first}{f' to {last}' if last > first else ''}"
        )
    return f"Gaps: {', '.join(words)}."


@dataclass(frozen=True)
class LimitVerdict:
    """What gaps at growing sizes say of a limit, up to the largest of them.

    Attributes:
        verdict: CONFIRMED, up to the largest size, or INCONCLUSIVE.
        up_to: the largest size; the verdict makes no claim beyond it.
        since: the least judged size from which every gap is surely inside the tolerance; inf if there is none.
        largest: the largest gap of the last third, with its error.
        sign: "" where the verdict is CONFIRMED; what is seen instead: "no sign of it", "not yet within the tolerance"; None where the gaps are not
            known well enough for either.
        why: the reason, in a sentence.
    """

    verdict: Verdict
    up_to: float
    since: float
    largest: float
    sign: str | None
    why: str


def limit_verdict(
    sizes: object, gaps: object, tolerance: float, errors: object | None = None
) -> LimitVerdict:
    """Judge whether gaps are small and shrink at growing sizes. That proves nothing of larger sizes, and refutes no limit.

    The sizes are cut into thirds, evenly in log n. CONFIRMED, which means up to the largest size: at every size of the last third

    - the gap with its error is inside the tolerance, and
    - it shrinks: it is at most 3/4 of the largest gap of the middle third, or at most 1/50 of the tolerance and, but for 1/2000 of the tolerance, no larger than before
      (where it is at most 1/50 even with its error: not surely larger than before).

    INCONCLUSIVE otherwise: "not yet within the tolerance" where it shrinks, "no sign of it" where it does not.

    Args:
        sizes: shape (m,), m >= 6, positive, growing, the last at least 32 times the first.
        gaps: signed, shape (m,); infinite ones are allowed, NaN is not.
        tolerance: what counts as equal to the limit, > 0, in the unit of the gaps.
        errors: bounds on the errors of the gaps, >= 0, a number or shape (m,).

    Raises:
        ValueError: naming the argument, its value and what is allowed.

    Examples:
        >>> sizes = [100 * 2**k for k in range(12)]
        >>> result = limit_verdict(sizes, [n**-0.5 for n in sizes], 0.02)
        >>> str(result.verdict), result.up_to, result.since
        ('CONFIRMED', 204800.0, 3200.0)
        >>> limit_verdict(sizes, [0.01 + n**-2 for n in sizes], 0.02).sign
        'no sign of it'
        >>> limit_verdict(sizes, [n**-0.5 for n in sizes], 0.001).sign
        'not yet within the tolerance'
    """
    tolerance = number("tolerance", tolerance, 0.0, low_open=True)
    y = _vector("gaps", gaps)
    n = _checked(sizes, y)
    e = np.zeros(n.size) if errors is None else np.asarray(errors, float)
    if e.shape not in ((), n.shape):
        raise ValueError(
            f"errors has shape {e.shape}; it must be a number or have an entry for each of the {n.size} sizes"
        )
    e = np.broadcast_to(e, n.shape)
    if not (e >= 0).all() or np.isinf(e).any():
        raise ValueError(f"errors holds {e[~((e >= 0) & np.isfinite(e))][0]:g}; each must be finite and >= 0")
    trend = _trend(n, y, np.maximum(np.abs(y) - e, 0.0), np.abs(y) + e, tolerance)
    verdict = decide((0.0, trend.largest), math.inf, tolerance, doubt=not trend.shrinks)
    return LimitVerdict(verdict, float(n[-1]), trend.since, trend.largest, trend.sign, trend.why)


class _Trend(NamedTuple):
    """What gaps at growing sizes say; the fields are those of `LimitVerdict`, and whether the gaps shrink."""

    since: float
    largest: float
    sign: str | None
    why: str
    shrinks: bool


def _trend(n: np.ndarray, y: np.ndarray, sure: np.ndarray, most: np.ndarray, tolerance: float) -> _Trend:
    """The rule of `limit_verdict`. `sure`, `most`: between what the sizes of the gaps y lie; of an infinite end nothing is known."""
    size = np.abs(y)
    late, middle = _thirds(n)
    inside = most <= tolerance
    since = next((float(n[i]) for i in range(n.size) if inside[i:].all()), math.inf)
    largest, seen, before = float(most[late].max()), float(size[late].max()), float(size[middle].max())
    certain = float(sure[late].max())
    # Within its error a gap need not be there, so that where all is small only what is sure of it must not grow.
    grown = certain if largest <= NEGLIGIBLE * tolerance else seen
    nothing = seen <= NEGLIGIBLE * tolerance and grown <= before + NOISE * tolerance
    if (
        nothing
        or (seen < math.inf and seen <= SHRINKS * before)
        or largest <= SHRINKS * most[middle].max() < math.inf
    ):
        shrinks = f"from {n[late][0]:g} on they are at most {seen:.2g}, before at most {before:.2g}"
        if inside[late].all():
            why = f"From {since:g} on every gap is inside the tolerance, and they shrink: {shrinks}."
            return _Trend(since, largest, "", why, True)
        sign = "not yet within the tolerance" if certain > tolerance else None
        why = f"The gaps shrink, but are not surely inside the tolerance: {shrinks}."
        return _Trend(since, largest, sign, why, True)
    # Where errors leave it open whether they shrink, nothing is seen.
    sign = NO_SIGN if math.isinf(certain) or certain > SHRINKS * before else None
    why = f"The gaps do not shrink: from {n[late][0]:g} on up to {seen:.2g}, before up to {before:.2g}."
    return _Trend(since, largest, sign, why, False)


def _thirds(n: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which sizes are in the last and which in the middle third of their range, evenly in log n."""
    place = 3.0 * np.log(n / n[0]) / math.log(n[-1] / n[0])
    return place >= 2.0 - 1e-9, (place >= 1.0 - 1e-9) & (place < 2.0 - 1e-9)


def _checked(sizes: object, y: np.ndarray) -> np.ndarray:
    n = _vector("sizes", sizes)
    if n.size < LEAST_SIZES:
        raise ValueError(f"sizes has {n.size} entries; a limit is judged by at least {LEAST_SIZES}")
    if y.shape != n.shape:
        raise ValueError(f"gaps has {y.size} entries; it must have an entry for each of the {n.size} sizes")
    if not (np.isfinite(n) & (n > 0)).all():
        raise ValueError(f"sizes holds {n[~(np.isfinite(n) & (n > 0))][0]:g}; each must be finite and > 0")
    if (near := np.diff(n) <= 0.0).any():
        raise ValueError(f"sizes holds {n[1:][near][0]:g} after {n[:-1][near][0]:g}; they must grow")
    late, middle = _thirds(n)
    if n[-1] < LEAST_SPAN * n[0] * (1 - 1e-9) or not (late.any() and middle.any()):
        raise ValueError(
            f"sizes run from {n[0]:g} to {n[-1]:g}; they must reach {LEAST_SPAN:g} times the first, with some in each third"
        )
    if np.isnan(y).any():
        place = int(np.flatnonzero(np.isnan(y))[0])
        raise ValueError(f"gaps[{place}], at size {n[place]:g}, is NaN; each gap must be a number")
    return n


def _vector(name: str, value: object) -> np.ndarray:
    array = real_array(name, value, finite=False)
    if array.ndim != 1:
        raise ValueError(f"{name} has {array.ndim} dimensions; it must be a sequence of numbers")
    return array
