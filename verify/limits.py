"""The judges of exact results: a limit by its gaps at growing sizes, a bound, an equality, an identity."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from mipsim.referee import limit_verdict
from verify.claim import CurveEvidence, RegimeResult, TrendEvidence, Verdict
from verify.curve_gap import FLOOR, GRID, Beta, Size, curve_gap

__all__ = [
    "FLOOR",
    "GRID",
    "SIZES",
    "Beta",
    "Size",
    "curve_gap",
    "curve_tolerance",
    "judge_bound",
    "judge_equality",
    "judge_identity",
    "judge_limit",
    "number_tolerance",
]  # fmt: skip

SIZES = (100, 200, 400, 800, 1600, 3200, 6400, 12_800)
"""Rows at which a limit is judged; the coordinates grow with them."""

MOST_TOLERANCE = 0.02
"""Probits: two curves no farther apart count as equal, whatever their mu."""

SHARE = 0.02
"""Of the claim's own mu, or of the claimed number: a small leakage is judged as sharply as a large one."""

ROUNDING = 1e-9
"""What float64 sums of up to a million terms and the inverse of Phi may be off, relative to 1."""

DECIDES = 1e-3
"""A law whose proven error exceeds this (in the unit of the gap) cannot confirm a bound that it nearly attains."""

NUMERICAL_FLOOR = 2e-3


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


def judge_limit(
    at: Callable[[int], Size],
    tolerance: float,
    parameters: dict[str, Any],
    *,
    sizes: Sequence[int] = SIZES,
    unit: str = "probit",
    reading: str = "",
    second_route: Callable[[], str] | None = None,
    bound: bool = False,
    size_name: str = "n",
    route: str = "exact law",
    floor: float | None = None,
) -> RegimeResult:
    """Judge a limit by the rule of `mipsim.referee.limit_verdict`, on the least and on the largest gap of each size.

    CONFIRMED: both go to zero. REFUTED: one does not. Otherwise INCONCLUSIVE; `detail` says why.

    Args:
        at: the gaps at a size, with their errors.
        tolerance: what counts as equal to the limit, > 0, in `unit`.
        parameters: of the regime.
        sizes: at least six, each at least twice the one before.
        unit: of the gaps.
        reading: how an open wording is read.
        second_route: what another way finds, asked for a refutation only.
        bound: whether the statement is a bound in the limit: only positive gaps count against it.
        size_name: what grows.
        route: how the gaps were found.
        floor: not used any more.

    Raises:
        ValueError: if there are fewer than six sizes, or a gap is NaN.
    """
    sizes = _filled(sizes)
    found = [at(n) for n in sizes]
    low, high, errors = (
        np.array(v) for v in zip(*((s.low, s.high, s.error + s.between) for s in found), strict=True)
    )
    if bound:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    sides = [high] if bound or (low == high).all() else [low, high]
    judged = [limit_verdict(sizes, side, tolerance, errors) for side in sides]
    order = (Verdict.CONFIRMED, Verdict.INCONCLUSIVE, Verdict.REFUTED)
    worst = max(judged, key=lambda one: order.index(Verdict(one.verdict)))
    verdict = Verdict(worst.verdict)
    gaps = high if bound else np.array([s.worst for s in found])
    inside = np.maximum(np.abs(low), np.abs(high)) + errors <= tolerance
    starts = next((n for i, n in enumerate(sizes) if inside[i:].all()), None)
    detail = f"{worst.why} Gaps {', '.join(f'{gap:+.2g}' for gap in gaps)} at {size_name} = {', '.join(map(str, sizes))}"
    if starts is not None:
        detail += f"; inside the tolerance from {size_name} = {starts} on"
    ends = [end for one in judged for end in one.interval]
    last = found[-1]
    return RegimeResult(
        parameters=parameters | {size_name: list(sizes)},
        verdict=verdict,
        games=0,
        gap=float(gaps[-1]),
        interval=(float(min(low[-1], high[-1]) - errors[-1]), float(high[-1] + errors[-1])),
        smallest_tolerance=_least_tolerance(judged, sizes, sides, errors),
        detectable_gap=float(np.max(errors)),
        unit=unit,
        reading=reading,
        route=route,
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=f"{detail}. The limit is in [{min(ends):+.2g}, {max(ends):+.2g}]."
        if len(judged) > 1
        else f"{detail}.",
        evidence=last.evidence
        if verdict is Verdict.REFUTED and last.evidence is not None
        else TrendEvidence(np.array(sizes, float), gaps, low, high, tolerance, size_name, f"gap ({unit})"),
        tolerance=tolerance,
    )


def _filled(sizes: Sequence[int]) -> list[int]:
    """Put geometric means between the sizes until there are six."""
    filled = list(sizes)
    while 2 <= len(filled) < 6:
        means = [round(math.sqrt(a * b)) for a, b in pairwise(filled)]
        filled = sorted({*filled, *means})
    return filled


def _least_tolerance(
    judged: Sequence[Any], sizes: Sequence[int], sides: Sequence[np.ndarray], errors: np.ndarray
) -> float:
    """What the same gaps would confirm: the interval of the limit and the last gap; inf where they cannot confirm any."""
    if any(one.verdict == "REFUTED" or one.slow for one in judged):
        return math.inf
    ends = [abs(end) for one in judged for end in one.interval]
    return float(max(*ends, *(abs(side[-1]) + errors[-1] for side in sides)))


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
) -> RegimeResult:
    """Judge a bound by an exact law: there is no tolerance, only the law's own proven error and float64 rounding.

    REFUTED: the bound is passed by more than the error. CONFIRMED: it is not passed, and the error is small enough to say
    so. INCONCLUSIVE: the error is too large for either.

    Args:
        gap: truth less bound (positive: the bound is passed), or what `curve_gap` found, of which `high` counts.
        parameters: of the regime.
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
    elif value + error + size.between <= rounding or error + size.between <= DECIDES:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.INCONCLUSIVE
        detail = f"{detail} The law is known to {error:.2g} only, which decides nothing here.".strip()
    return RegimeResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=(value - error, value + error + size.between),
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
) -> RegimeResult:
    """Judge an equality that a paper means to hold about, by an exact law.

    The tolerance is min(0.02 probits, 2% of mu) for a curve claimed to be like G_mu, 2% of the claimed number for a number,
    and absolute only where it is given: exactly one of `mu`, `claimed` and `tolerance` is.

    CONFIRMED: the gap with its error is inside the tolerance. REFUTED: it is outside by more than its error. Otherwise
    INCONCLUSIVE. Where it is not confirmed, `smallest_tolerance` and `detail` say to what it holds.

    Args:
        gap: truth less claim, or what `curve_gap` found.
        parameters: of the regime.
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
    assert tolerance is not None
    size = gap if isinstance(gap, Size) else Size(gap, gap)
    value, error = size.worst, _proven(size.worst, error) + size.error
    most = abs(value) + error + size.between
    rounding = ROUNDING * max(1.0, abs(claimed or 0.0))
    if most <= tolerance + rounding:
        verdict = Verdict.CONFIRMED
    else:
        verdict = Verdict.REFUTED if abs(value) - error > tolerance + rounding else Verdict.INCONCLUSIVE
        detail = f"{detail} It holds to {most:.3g} {unit}, where {tolerance:.3g} was asked.".strip()
    return RegimeResult(
        parameters=parameters,
        verdict=verdict,
        games=0,
        gap=value,
        interval=(size.low - error - size.between, size.high + error + size.between),
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


def judge_identity(
    gap: float,
    tolerance: float,
    parameters: dict[str, Any],
    *,
    unit: str,
    route: str,
    detail: str = "",
    reading: str = "",
    second_route: Callable[[], str] | None = None,
    one_sided: bool = False,
) -> RegimeResult:
    """An exact number against zero; `one_sided`: only a positive gap counts against the claim.

    The tolerance is what the computation may be off; a bound is for `judge_bound`, and what holds about for
    `judge_equality`.
    """
    _proven(gap, 0.0)
    wrong = gap > tolerance if one_sided else not abs(gap) <= tolerance
    return RegimeResult(
        parameters=parameters,
        verdict=Verdict.REFUTED if wrong else Verdict.CONFIRMED,
        games=0,
        gap=gap,
        interval=(gap, gap),
        smallest_tolerance=max(gap, 0.0) if one_sided else abs(gap),
        detectable_gap=tolerance,
        unit=unit,
        reading=reading,
        route=route,
        second_route=second_route() if second_route and wrong else "",
        detail=detail,
        tolerance=tolerance,
    )


def _proven(gap: float, error: float) -> float:
    if math.isnan(gap):
        raise ValueError("gap is NaN; it must be a number")
    if not 0.0 <= error < math.inf:
        raise ValueError(f"error is {error:g}; it must be finite and >= 0")
    return error


def _one_sided(evidence: CurveEvidence | None) -> CurveEvidence | None:
    return None if evidence is None else replace(evidence, label=evidence.label or "bound")
