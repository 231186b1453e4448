"""The judges of exact numbers and curves: a bound, an equality."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mipsim.referee.curve_gap import Size
from mipsim.referee.result import CurveEvidence, PointResult, Verdict

MOST_TOLERANCE = 0.02
"""Probits: two curves no farther apart count as equal, whatever their mu."""

SHARE = 0.02
"""Of the claim's own mu, or of the claimed number: a small leakage is judged as sharply as a large one."""

ROUNDING = 1e-9
"""What float64 sums of up to a million terms and the inverse of Phi may be off, relative to 1."""

DECIDES = 1e-3
"""A law whose proven error exceeds this (in the unit of the gap) cannot confirm a bound that it nearly attains."""


def curve_tolerance(mu: float) -> float:
    """Return what counts as equal for a curve that is claimed to be G_mu: min(0.02, 2% of mu), in probits.

    Raises:
        ValueError: if mu is not > 0: a claim of no leakage has no scale, and its judge needs a tolerance of its own.

    Examples:
        >>> curve_tolerance(0.5), curve_tolerance(4.0)
        (0.01, 0.02)
    """
    if not mu > 0:
        raise ValueError(f"mu is {mu:g}; a claimed mu must be > 0, or an absolute tolerance must be given")
    return min(MOST_TOLERANCE, SHARE * mu)


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
    gap: Size | float,
    parameters: dict[str, Any],
    *,
    unit: str = "probit",
    error: float = 0.0,
    scale: float = 1.0,
    route: str = "exact law",
    detail: str = "",
    reading: str = "",
    second_route: Callable[[], str] | None = None,
) -> PointResult:
    """Judge a bound by an exact law: there is no tolerance, only the law's own proven error and float64 rounding.

    REFUTED: the bound is passed by more than the error. CONFIRMED: it is not passed, and the error is small enough to say
    so. INCONCLUSIVE: the error is too large for either.

    Args:
        gap: truth less bound (positive: the bound is passed), or what `curve_gap` found, of which `high` counts.
        parameters: of the point.
        unit: of the gap.
        error: proven bound on the error of the gap, >= 0; added to that of a `Size`. An estimate is none.
        scale: size of the numbers whose difference the gap is, in which float64 rounds.
        route: how the gap was found.
        detail: one sentence for the reader.
        reading: how an open wording is read.
        second_route: what another way finds, asked for a refutation only.

    Raises:
        ValueError: if the gap is NaN or the error is not >= 0.

    Examples:
        >>> str(judge_bound(0.001, {}).verdict), str(judge_bound(-0.2, {}).verdict)
        ('REFUTED', 'CONFIRMED')
    """
    size = gap if isinstance(gap, Size) else Size(gap, gap)
    value, error = size.high, _proven(size.high, error) + size.error
    rounding = ROUNDING * max(1.0, abs(scale))
    if value - error > rounding:
        verdict = Verdict.REFUTED
    elif value + error + size.above <= rounding or error + size.above <= DECIDES:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.INCONCLUSIVE
        detail = f"{detail} The law is known to {error:.2g} only, which decides nothing here.".strip()
    return PointResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=(value - error, value + error + size.above),
        smallest_tolerance=max(value + error, 0.0) if verdict is not Verdict.CONFIRMED else 0.0,
        detectable_gap=error + rounding,
        unit=unit,
        reading=reading,
        route=route,
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=detail,
        evidence=_one_sided(size.evidence),
        tolerance=0.0,
    )


def judge_equality(
    gap: Size | float,
    parameters: dict[str, Any],
    *,
    mu: float | None = None,
    claimed: float | None = None,
    tolerance: float | None = None,
    unit: str = "probit",
    error: float = 0.0,
    route: str = "exact law",
    detail: str = "",
    reading: str = "",
    second_route: Callable[[], str] | None = None,
) -> PointResult:
    """Judge an equality that a paper means to hold about, by an exact law.

    The tolerance is min(0.02 probits, 2% of mu) for a curve claimed to be like G_mu, 2% of the claimed number for a number,
    and absolute only where it is given: exactly one of `mu`, `claimed` and `tolerance` is.

    CONFIRMED: the gap with its error is inside the tolerance. REFUTED: it is outside by more than its error. Otherwise
    INCONCLUSIVE. Where it is not confirmed, `smallest_tolerance` and `detail` say to what it holds.

    Args:
        gap: truth less claim, or what `curve_gap` found.
        parameters: of the point.
        mu: the claim's own mu, > 0.
        claimed: the claimed number, not 0.
        tolerance: absolute, >= 0, in `unit`; needed where the claimed value is 0.
        unit: of the gap.
        error: proven bound on the error of the gap, >= 0; added to that of a `Size`.
        route: how the gap was found.
        detail: one sentence for the reader.
        reading: how an open wording is read.
        second_route: what another way finds, asked for a refutation only.

    Raises:
        ValueError: if the claimed value is 0 and no tolerance is given, if more or fewer than one of the three is
            given, or if the gap is NaN.

    Examples:
        >>> found = judge_equality(0.015, {}, mu=0.5)
        >>> str(found.verdict), found.tolerance, found.smallest_tolerance
        ('REFUTED', 0.01, 0.015)
        >>> judge_equality(0.0, {}, claimed=0.0, unit="advantage")
        Traceback (most recent call last):
            ...
        ValueError: claimed is 0; it must be finite and not 0, or an absolute tolerance must be given
    """
    given = [
        name
        for name, value in (("mu", mu), ("claimed", claimed), ("tolerance", tolerance))
        if value is not None
    ]
    if len(given) != 1:
        raise ValueError(
            f"mu, claimed and tolerance: {', '.join(given) or 'none'} is given; it must be exactly one of them"
        )
    if mu is not None:
        tolerance = curve_tolerance(mu)
    elif claimed is not None:
        tolerance = number_tolerance(claimed)
    if tolerance is None or not 0.0 <= tolerance < math.inf:
        raise ValueError(f"tolerance is {tolerance}; it must be finite and >= 0")
    size = gap if isinstance(gap, Size) else Size(gap, gap)
    value, error = size.worst, _proven(size.worst, error) + size.error
    most = abs(value) + error + size.between
    rounding = ROUNDING * max(1.0, abs(claimed or 0.0))
    if most <= tolerance + rounding:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.REFUTED if abs(value) - error > tolerance + rounding else Verdict.INCONCLUSIVE
        detail = f"{detail} It holds to {most:.3g} {unit}, where {tolerance:.3g} was asked.".strip()
    return PointResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=_around(value, error, size.between),
        smallest_tolerance=most,
        detectable_gap=tolerance + error,
        unit=unit,
        reading=reading,
        route=route,
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=detail,
        evidence=size.evidence,
        tolerance=tolerance,
    )


def _around(value: float, error: float, beyond: float) -> tuple[float, float]:
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
