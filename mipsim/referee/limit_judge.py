"""The judge of a limit, by the gaps of exact laws at growing sizes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mipsim.referee.curve_gap import Size
from mipsim.referee.exact_judges import ONE_SIDED, UNKNOWN, around
from mipsim.referee.limits import LimitVerdict, limit_verdict
from mipsim.referee.result import PointResult, TrendEvidence, Verdict


def judge_limit(
    at: Callable[[int], Size],
    tolerance: float,
    parameters: dict[str, Any],
    *,
    sizes: Sequence[int],
    unit: str = "probit",
    bound: bool = False,
    size_name: str = "n",
    route: str = "exact law",
) -> PointResult:
    """Judge a limit by the rule of `mipsim.referee.limit_verdict`, on the least and on the largest gap of each size.

    CONFIRMED: both go to zero, or the one that is farther from zero at every size does and the other is not REFUTED.
    REFUTED: one does not. Otherwise INCONCLUSIVE, also where an error is infinite; `detail` says why.

    Args:
        at: the gaps at a size, with their errors.
        tolerance: what counts as equal to the limit, > 0, in `unit`.
        parameters: of the point.
        sizes: at least six, each at least twice the one before.
        unit: of the gaps.
        bound: whether the statement is a bound in the limit: only positive gaps count against it, but negative ones
            that rise must be seen to stay at or below zero.
        size_name: what grows.
        route: how the gaps were found.

    Raises:
        ValueError: if there are fewer than six sizes, or a gap is NaN.
    """
    found = [at(n) for n in sizes]
    low, high, errors = (np.array(v) for v in zip(*((s.low, s.high, s.error) for s in found), strict=True))
    known, errors = np.isfinite(errors).all(), np.where(np.isfinite(errors), errors, 0.0)
    last, highest, off = found[-1], high, errors
    if bound:
        # What a gap exceeds zero by is off by less than the gap where that is negative, and by nothing where it surely is.
        least, most = np.maximum(high - errors, 0.0), np.maximum(high + errors, 0.0)
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
        errors = np.maximum(most - high, high - least)
    sides = [high] if bound or (low == high).all() else _by_size(low, high)
    judged = [limit_verdict(sizes, side, tolerance, errors) for side in sides]
    order = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.REFUTED)
    worst = max(judged, key=lambda one: order.index(Verdict(one.verdict)))
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
        open_side = any(math.isinf(one.between) for one in found)
        rises = f" {ONE_SIDED if open_side else UNKNOWN}"
    gaps = highest if bound else np.array([s.worst for s in found])
    inside = np.maximum(np.abs(low), np.abs(high)) + errors <= tolerance
    starts = next((n for i, n in enumerate(sizes) if inside[i:].all()), None)
    detail = f"{worst.why}{rises} Gaps {', '.join(f'{gap:+.2g}' for gap in gaps)} at {size_name} = {', '.join(map(str, sizes))}"
    if starts is not None:
        detail += f"; inside the tolerance from {size_name} = {starts} on"
    ends = [end for one in judged for end in one.interval]
    shown = len(found) - 1
    if verdict is Verdict.REFUTED and known:
        # Errors of the largest sizes may be large: the last gap that is surely none is what decides, where there is one.
        sure = [place for place, one in enumerate(found) if _excludes_zero(_interval(one, bound))]
        shown = sure[-1] if sure else shown
    return PointResult(
        parameters=parameters | {size_name: list(sizes)},
        verdict=verdict,
        games=0,
        gap=float(gaps[shown]),
        interval=_interval(found[shown], bound) if known else (-math.inf, math.inf),
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
    """Of the gap that counts at a size: the largest one, for a bound the highest one."""
    if not bound:
        return around(last.worst, last.error, last.between)
    low = -math.inf if math.isinf(last.below) else last.high - last.error
    return low, last.high + last.error + last.above


def _by_size(low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """The two sides, the one whose last gap is larger first."""
    return [low, high] if abs(low[-1]) >= abs(high[-1]) else [high, low]


def _dominates(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one side is at least as far from zero as the other at every size, so that its way to zero bounds the other's."""
    return bool((np.abs(other) <= np.abs(one)).all())


def _may_rise(sizes: Sequence[int], highest: np.ndarray, errors: np.ndarray, tolerance: float) -> bool:
    """Whether gaps, negative ones as they are, may yet rise to a limit above the tolerance."""
    if highest[-1] == -math.inf or (np.diff(highest[-4:]) <= 0.0).all():
        return False
    return limit_verdict(sizes, highest, tolerance, errors).interval[1] > tolerance


def _least_tolerance(
    judged: Sequence[LimitVerdict], sides: Sequence[np.ndarray], errors: np.ndarray
) -> float:
    """What the same gaps would confirm: the interval of the limit and the last gap; inf where they cannot confirm any."""
    if any(one.verdict == "REFUTED" for one in judged):
        return math.inf
    ends = [abs(end) for one in judged for end in one.interval]
    return float(max(*ends, *(abs(side[-1]) + errors[-1] for side in sides)))
