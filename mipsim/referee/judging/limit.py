"""Judges a limit: by a theorem for all larger sizes, else by exact distributions at growing sizes, up to the largest of them.

What is proven of a limit is proven of all sizes from some size on: a `Rate` says how far truth is from what it tends to, a `Ceiling` what it
never passes. Gaps at judged sizes are proven too, but of these sizes only; nothing is extrapolated from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np

from mipsim._printed import at_most, enough, floor
from mipsim._validation import number, real_array
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.judging.gap import Gap
from mipsim.referee.judging.law import (
    ONE_SIDED,
    UNKNOWN,
    contradicts,
    decide,
    gap_between,
    probits_of,
    tolerance_of,
)
from mipsim.referee.judging.law import ROUNDING as LAST_DIGITS
from mipsim.referee.kinds import Ceiling, Limit, Rate, ceiling_of, rate_of
from mipsim.referee.result import PointResult, TrendEvidence, Verdict
from mipsim.referee.values import Number, Played, Samplers, read
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.gaussian import GaussianTradeOff

Curve = AbstractTradeOff | Number
FLOOR = 1 / 50
"""A gap within this share of the tolerance is none; two limits must be known as well to count as equal."""
ROUNDING = 1 / 2000
"""A gap within this share of the tolerance is rounding, and need not shrink."""
SHRINKS = 3 / 4
"""The gaps of the last third of the sizes are at most this share of those of the third before."""
NO_SIGN = "no sign of it"
"""What is seen where gaps do not shrink."""
LEAST_SIZES, LEAST_SPAN = 6, 32.0
"""So many sizes at least, from the least to so many times it at least."""


def judge_sequence(
    kind: Limit,
    # (claimed, truth, whether the truth is the best attacker's) at a size
    pair: Callable[[int], tuple[Curve, Curve, bool]],
    at: Mapping[str, Any],  # the point, without what grows
    sizes: tuple[int, ...],  # at least six
    route: str,  # how the gaps are computed
) -> PointResult:
    """Judge a limit: by its theorem, if it has any at this point, else up to the largest size."""
    rate, ceiling = rate_of(kind, at), ceiling_of(kind, at)
    theorem = rate or ceiling
    seen: list[Gap] = []
    claims: dict[int, Curve] = {}  # of all sizes for a theorem, else the last
    wrong: list[str] = []  # what contradicts the theorem
    shares: list[float] = []  # tolerances, where they are shares of a claim that moves
    for n in sizes:
        claimed, truth, optimal = pair(n)
        seen.append(gap_between(kind, claimed, truth, optimal, f"{kind.grows} = {n}"))
        if rate is not None:
            if contradicts(_read(rate.limit, n), truth, rate.at(n)):
                wrong.append(f"at {kind.grows} = {n} truth is farther from its limit than {rate.at(n):.3g}")
            if callable(rate.limit) and not _same(kind, claimed, _read(rate.limit, n)):
                wrong.append("the claim is not the limit of the rate")
            if rate.claimed is not None and contradicts(_read(rate.claimed), claimed, rate.at(n)):
                wrong.append(
                    f"at {kind.grows} = {n} the claim is farther from its limit than {rate.at(n):.3g}"
                )
        elif (
            ceiling is not None
            and n >= ceiling.start
            and contradicts(_read(ceiling.value), truth, 0.0, (not ceiling.below, ceiling.below))
        ):
            wrong.append(f"at {kind.grows} = {n} truth passes it")
        claims = {**claims, n: claimed} if theorem else {n: claimed}
        if isinstance(claimed, GaussianTradeOff) and claimed.mu > 0.0:
            shares.append(tolerance_of(kind, claimed))
    claimed = claims[sizes[-1]]
    fixed = theorem is not None and theorem.claimed is None and not (rate and callable(rate.limit))
    if fixed and not _same(kind, claims[sizes[0]], claimed):
        wrong.append("the claim changes with the size")
    tolerance = tolerance_of(kind, claimed)
    unit = (claimed.unit or kind.unit) if isinstance(claimed, Number) else "probit"
    result = judge_limit(
        dict(zip(sizes, seen, strict=True)).__getitem__, tolerance, dict(at), sizes=sizes, unit=unit,
        bound=kind.bound, size_name=kind.grows, route=route, along=kind.along,
        scale=np.array(shares) / tolerance if len(shares) == len(sizes) else 1.0,
    )  # fmt: skip
    if rate is not None:
        wanted = claimed if rate.claimed is None else _read(rate.claimed)
        proven = _by_rate(kind, rate, wanted, sizes[-1], tolerance, unit)
    elif ceiling is not None and sizes[-1] >= ceiling.start:
        goal = claimed if ceiling.claimed is None else _read(ceiling.claimed)
        if ceiling.claimed is not None and not _approaches(kind, claims, goal, tolerance):
            wrong.append("the claim does not tend to what the bound says that it tends to")
        proven = _by_ceiling(kind, ceiling, goal, tolerance)
    else:
        return result
    detail = f"{proven.says} {result.detail}"
    if proven.verdict is Verdict.INCONCLUSIVE:
        return replace(result, detail=detail)
    if wrong:
        undecided = replace(result, verdict=Verdict.INCONCLUSIVE, headline="")
        return replace(undecided, detail=f"{proven.says} It is refused: {wrong[0]}. {result.detail}")
    return replace(
        result,
        verdict=proven.verdict,
        gap=proven.gap if proven.verdict is Verdict.REFUTED else result.gap,
        interval=proven.interval if proven.verdict is Verdict.REFUTED else result.interval,
        smallest_tolerance=proven.within,
        route=f"{result.route}, theorem",
        detail=detail,
        headline=proven.words,
        up_to=None,
    )


@dataclass(frozen=True)
class _Proven:
    """What a theorem decides; INCONCLUSIVE: nothing."""

    verdict: Verdict
    gap: float  # of what is proven against the claim
    interval: tuple[float, float]  # of the gap at all larger sizes, or of its limit
    within: float  # the least tolerance that it confirms
    says: str
    words: str


def _by_rate(kind: Limit, rate: Rate, claimed: Curve, size: int, tolerance: float, unit: str) -> _Proven:
    limit, near = _read(rate.limit, size), rate.at(size)
    if math.isfinite(near) and not isinstance(limit, Number):
        near = probits_of(limit, near, kind.floor)
    digits = enough(near, tolerance, 2)
    where = f"{unit} at {kind.grows} = {size:,} and beyond"
    says = f"Proven rate: at most {rate.constant:g} {kind.grows}^-{rate.power:g} from {rate.start:g} on: within {at_most(near, digits)} {where} ({rate.source})."
    if not near <= tolerance:
        says = f"{says} It decides nothing: {floor(tolerance, digits)} is required."
        return _Proven(Verdict.INCONCLUSIVE, math.nan, (-math.inf, math.inf), math.inf, says, "")
    apart = gap_between(kind, claimed, limit, True, "in the limit")
    gap, interval, ends = apart.counted(kind.bound)
    verdict = decide(ends, _last_digits(limit), FLOOR * tolerance)
    says = f"{says} Its limit and the claim are {max(gap, 0.0) if kind.bound else abs(gap):.2g} apart."
    if verdict is Verdict.REFUTED:
        return _Proven(verdict, gap, interval, math.inf, says, "proven")
    if rate.claimed is not None:  # a claim that moves is as far from its limit as truth
        near *= 2.0
    near += max(ends[1], 0.0)
    return _Proven(verdict, gap, interval, near, says, f"proven: within {at_most(near, 2)} {where}")


def _by_ceiling(kind: Limit, ceiling: Ceiling, claimed: Curve, tolerance: float) -> _Proven:
    never = "never less" if ceiling.below else "never more"
    says = (
        f"Proven: from {kind.grows} = {ceiling.start:,g} on truth is {never} than a bound ({ceiling.source})."
    )
    moves = ceiling.claimed is not None
    words = "proven in the limit" if moves else f"proven at every {kind.grows} from {ceiling.start:,g} on"
    value = _read(ceiling.value)
    rounding = _last_digits(value)
    apart = gap_between(kind, claimed, value, True, "against the bound")
    gap, ends = (apart.high, apart.largest) if ceiling.below else (apart.low, apart.least)
    # Below a ceiling an equality fails where the claim is above it, above a floor where truth is.
    surely = ends[0] if ceiling.below else 0.0 if kind.bound else -ends[1]
    if decide((surely, math.inf), rounding, 0.0) is Verdict.REFUTED:
        interval = (ends[0], math.inf) if ceiling.below else (-math.inf, ends[1])
        says = f"{says} The claim is {abs(gap):.3g} beyond it at least."
        return _Proven(Verdict.REFUTED, gap, interval, math.inf, says, words)
    # Confirmed where the claim is not surely less than the bound.
    if (
        kind.bound
        and not ceiling.below
        and decide(apart.largest, rounding, FLOOR * tolerance) is Verdict.CONFIRMED
    ):
        most = apart.largest[1]
        return _Proven(Verdict.CONFIRMED, gap, (-math.inf, most), max(most, 0.0), says, words)
    says = f"{says} The claim is on its side, so that it decides nothing."
    return _Proven(Verdict.INCONCLUSIVE, gap, (-math.inf, math.inf), math.inf, says, "")


def _approaches(kind: Limit, claims: Mapping[int, Curve], goal: Curve, tolerance: float) -> bool:
    """Whether nothing at these sizes speaks against claims that tend to a number or curve."""
    apart = [gap_between(kind, claim, goal, True, "") for claim in claims.values()]
    gaps = np.array([item.counted(False)[0] for item in apart])
    sure, most = np.array([item.counted(False)[2] for item in apart]).T
    return _rule(np.array(list(claims), float), gaps, sure, most, tolerance).sign != NO_SIGN


def _read(value: object, size: int | None = None) -> Curve:
    result = read("limit", value(size) if size is not None and callable(value) else value)
    assert not isinstance(result, (Played, Samplers))
    return result


def _same(kind: Limit, claimed: Curve, other: Curve) -> bool:
    return abs(gap_between(kind, claimed, other, True, "").counted(False)[0]) <= _last_digits(other)


def _last_digits(of: Curve) -> float:
    """What rounding may make of it."""
    return LAST_DIGITS * (max(1.0, abs(of.value)) if isinstance(of, Number) else 1.0)


def judge_limit(
    at: Callable[[int], Gap],  # the gaps at a size, with their errors
    tolerance: float,  # what counts as equal to the limit, > 0, in `unit`
    parameters: dict[str, Any],
    *,
    sizes: Sequence[int],  # at least six
    unit: str = "probit",
    # whether the statement is a bound in the limit: only positive gaps count against it
    bound: bool = False,
    size_name: str = "n",  # what grows
    route: str = "exact law",  # how the gaps were computed
    along: str = "",  # which sizes these are, where there are no others
    scale: np.ndarray | float = 1.0,  # the tolerance at each size, as a share of `tolerance`
) -> PointResult:
    """Judge a limit up to its largest size, by the rule of `mipsim.referee.limit_verdict` on the largest gap of each size.

    Raises ValueError if there are fewer than six sizes, or a gap is NaN.
    """
    result = [at(n) for n in sizes]
    last = result[-1]
    counted = [item.counted(bound) for item in result]
    gaps = np.array(
        [
            math.nan if math.isnan(item.low + item.high) else gap
            for item, (gap, *_) in zip(result, counted, strict=True)
        ]
    )
    sure, most = np.array([np.maximum(ends, 0.0) for *_, ends in counted]).T
    number("tolerance", tolerance, 0.0, low_open=True)
    n = _checked(sizes, gaps)
    excess = np.maximum(gaps, 0.0) if bound else gaps
    found = _rule(n, excess / scale, sure / scale, most / scale, tolerance)
    verdict, why = Verdict(found.verdict), found.why
    late, middle = _thirds(n)
    # Slack that shrinks may end; where half of it was left, or it ends inside the tolerance, it counts as none that does.
    slack, before = -gaps[late].max(), -gaps[middle].max()
    if bound and verdict is Verdict.CONFIRMED and slack > tolerance and slack < SHRINKS * before < math.inf:
        verdict = Verdict.INCONCLUSIVE
        why = f"The bound holds up to {size_name} = {sizes[-1]:,}, but its slack shrinks, perhaps to below zero."
    texts = [lone_gap(gap, ends, 2, "+") for gap, ends, _ in counted]
    detail = f"{why} {_listed(texts, size_name, sizes)}"
    reach = f"{f'along {along} ' if along else ''}up to {size_name} = {sizes[-1]:,}"
    headline = f"{found.sign} {reach}".strip() if found.sign is not None else ""
    if np.isinf(most[late]).any() and verdict is Verdict.INCONCLUSIVE:
        headline = "" if not found.sign else headline
        # An infinite gap is known.
        ends = [item.everywhere for item in result if item.everywhere[0] != item.everywhere[1]]
        if any(np.isinf(pair).any() for pair in ends):
            detail += f" {ONE_SIDED if any(np.isinf(pair).sum() == 1 for pair in ends) else UNKNOWN}"
    # What is surely there has a sign; else it may be the least or the largest gap.
    undecided = not bound and verdict is Verdict.INCONCLUSIVE and not found.sign
    return PointResult(
        parameters=parameters | {size_name: list(sizes)},
        verdict=verdict,
        games=0,
        gap=float(gaps[-1]),
        interval=last.everywhere if undecided else counted[-1][1],
        smallest_tolerance=found.largest if verdict is Verdict.CONFIRMED else math.inf,
        detectable_gap=float(most[-1] - abs(excess[-1])) if math.isfinite(most[-1]) else math.inf,
        unit=unit,
        route=route,
        detail=detail,
        evidence=TrendEvidence(
            n,
            gaps,
            np.array([s.low for s in result]),
            np.array([s.high for s in result]),
            tolerance,
            size_name,
            f"gap ({unit})",
        ),
        tolerance=tolerance,
        headline=headline,
        up_to=float(sizes[-1]),
    )  # fmt: skip


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

    verdict: str
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
        >>> result.verdict, result.up_to, result.since
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
    return _rule(n, y, np.maximum(np.abs(y) - e, 0.0), np.abs(y) + e, tolerance)


def _rule(n: np.ndarray, y: np.ndarray, sure: np.ndarray, most: np.ndarray, tolerance: float) -> LimitVerdict:
    """The rule. `sure`, `most`: between what the sizes of the gaps y lie; of an infinite end nothing is known."""
    size = np.abs(y)
    late, middle = _thirds(n)
    inside = most <= tolerance
    since = next((float(n[i]) for i in range(n.size) if inside[i:].all()), math.inf)
    largest, seen, before = float(most[late].max()), float(size[late].max()), float(size[middle].max())
    # Within its error a gap need not be there, so that where all is small only what is sure of it must not grow.
    grown = float(sure[late].max()) if largest <= FLOOR * tolerance else seen
    nothing = seen <= FLOOR * tolerance and grown <= before + ROUNDING * tolerance
    if (
        nothing
        or (seen < math.inf and seen <= SHRINKS * before)
        or largest <= SHRINKS * most[middle].max() < math.inf
    ):
        shrinks = f"from {n[late][0]:g} on they are at most {seen:.2g}, before at most {before:.2g}"
        if inside[late].all():
            why = f"From {since:g} on every gap is inside the tolerance, and they shrink: {shrinks}."
            return LimitVerdict("CONFIRMED", float(n[-1]), since, largest, "", why)
        sign = "not yet within the tolerance" if sure[late].max() > tolerance else None
        why = f"The gaps shrink, but are not surely inside the tolerance: {shrinks}."
    else:
        # Where errors leave it open whether they shrink, nothing is seen.
        certain = float(sure[late].max())
        sign = NO_SIGN if math.isinf(certain) or certain > SHRINKS * before else None
        why = f"The gaps do not shrink: from {n[late][0]:g} on up to {seen:.2g}, before up to {before:.2g}."
    return LimitVerdict("INCONCLUSIVE", float(n[-1]), since, largest, sign, why)


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
