"""The judges of exact numbers and curves: a bound, an equality."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from mipsim.referee.curve_gap import Size
from mipsim.referee.result import CurveEvidence, PointResult, Verdict

SHARE = 0.02
"""Of a claimed number: a small one is judged as sharply as a large one."""

ROUNDING = 1e-9
"""What float64 sums of up to a million terms and the inverse of Phi may be off, relative to 1."""

UNKNOWN = "The law says nothing at the largest gap: its proven error is too large there."
ONE_SIDED = "Truth is known from one side only, which decides nothing here."

DECIDES = 1e-3
"""A law whose proven error exceeds this (in the unit of the gap) cannot confirm a bound that it nearly attains."""


def number_tolerance(claimed: float) -> float:
    """Return what counts as equal for a claimed number: 2% of it.

    Raises:
        ValueError: if it is 0 or not finite: the judge then needs an absolute tolerance.

    Examples:
        >>> number_tolerance(-3.0)
        0.06
    """
    if claimed == 0 or not math.isfinite(claimed):
        raise ValueError(
            f"claimed is {claimed:g}; it must be finite and not 0, or an absolute tolerance must be given"
        )
    return SHARE * abs(claimed)


def judge_bound(
    gap: Size,
    parameters: dict[str, Any],
    *,
    unit: str = "probit",
    scale: float = 1.0,
    route: str = "exact law",
    detail: str = "",
) -> PointResult:
    """Judge a bound by an exact law: there is no tolerance, only the law's own proven error and float64 rounding.

    REFUTED: the bound is passed by more than the error. CONFIRMED: it is not, and the law is known to `DECIDES` or certain not to
    pass it: a bound that is attained can be seen to hold to the law's error only, and `interval` and `smallest_tolerance`
    say how far above zero that reaches. INCONCLUSIVE: the error is too large for either.

    Args:
        gap: truth less bound (positive: the bound is passed), of which `high` counts, with its proven error.
        parameters: of the point.
        unit: of the gap.
        scale: size of the numbers whose difference the gap is, in which float64 rounds.
        route: how the gap was found.
        detail: one sentence for the reader.

    Raises:
        ValueError: if the gap is NaN or the error is not >= 0.

    Examples:
        >>> str(judge_bound(Size(0.001, 0.001), {}).verdict), str(judge_bound(Size(-0.2, -0.2), {}).verdict)
        ('REFUTED', 'CONFIRMED')
    """
    value, error = gap.high, _proven(gap.high, gap.error)
    rounding = ROUNDING * max(1.0, abs(scale))
    if value - error > rounding:
        verdict = Verdict.REFUTED
    elif value + error + gap.above <= rounding or error + gap.above <= DECIDES:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.INCONCLUSIVE
        detail = (
            f"{_closed(detail)} The law is known to {error:.2g} only, which decides nothing here.".strip()
        )
    return PointResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=(value - error, value + error + gap.above),
        smallest_tolerance=max(value + error + gap.above, 0.0),
        detectable_gap=error + rounding,
        unit=unit,
        route=route,
        detail=_closed(detail),
        evidence=_one_sided(gap.evidence),
        tolerance=0.0,
    )


def judge_equality(
    gap: Size,
    parameters: dict[str, Any],
    *,
    tolerance: float,
    unit: str = "probit",
    route: str = "exact law",
    detail: str = "",
) -> PointResult:
    """Judge an equality that a paper means to hold about, by an exact law.

    CONFIRMED: the gap with its error is inside the tolerance. REFUTED: it is outside by more than its error. Otherwise
    INCONCLUSIVE. Where it is not confirmed, `smallest_tolerance` and `detail` say to what it holds.

    Args:
        gap: truth less claim, with its proven error.
        parameters: of the point.
        tolerance: >= 0, in `unit`.
        unit: of the gap.
        route: how the gap was found.
        detail: one sentence for the reader.

    Raises:
        ValueError: if the gap is NaN or the tolerance is not finite and >= 0.

    Examples:
        >>> found = judge_equality(Size(0.0, 0.015), {}, tolerance=0.01)
        >>> str(found.verdict), found.tolerance, found.smallest_tolerance
        ('REFUTED', 0.01, 0.015)
    """
    if not 0.0 <= tolerance < math.inf:
        raise ValueError(f"tolerance is {tolerance}; it must be finite and >= 0")
    value, error = gap.worst, _proven(gap.worst, gap.error)
    most = abs(value) + error + gap.between
    if most <= tolerance + ROUNDING:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.REFUTED if abs(value) - error > tolerance + ROUNDING else Verdict.INCONCLUSIVE
        known = f"It holds to {most:.3g} {unit}" if most < math.inf else "To what it holds is not known"
        detail = f"{_closed(detail)} {known}; {tolerance:.3g} {unit} was asked.".strip()
    return PointResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=around(value, error, gap.between),
        smallest_tolerance=most,
        detectable_gap=tolerance + error,
        unit=unit,
        route=route,
        detail=_closed(detail),
        evidence=gap.evidence,
        tolerance=tolerance,
    )


def around(value: float, error: float, beyond: float) -> tuple[float, float]:
    """Where the largest gap lies: a larger one may be `beyond` it, on its own side, between the points that were looked at."""
    low, high = (0.0, beyond) if value >= 0.0 else (beyond, 0.0)
    return value - error - low, value + error + high


def _proven(gap: float, error: float) -> float:
    if math.isnan(gap):
        raise ValueError("gap is NaN; it must be a number")
    if not 0.0 <= error < math.inf:
        raise ValueError(f"error is {error:g}; it must be finite and >= 0")
    return error


def _one_sided(evidence: CurveEvidence | None) -> CurveEvidence | None:
    return None if evidence is None else replace(evidence, label=evidence.label or "bound")


def _closed(detail: str) -> str:
    """A sentence with its full stop: another may follow it."""
    return f"{detail}." if detail and detail[-1] not in ".!?" else detail
