"""The rule by which what is known of a gap decides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from mipsim._printed import ceiling, enough, floor
from mipsim.referee.judging.claim import Claim
from mipsim.referee.judging.gap import ROUNDING, Gap
from mipsim.referee.kinds import Equality
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.values import Number

DECIDES = 1e-3
"""A distribution whose proven error exceeds this share of the claim's scale cannot confirm a bound that it nearly attains."""
UNKNOWN = "The law says nothing at the largest gap: its proven error is too large there."
ONE_SIDED = "Truth is known from a single side only, which decides nothing here."


def decide(gap: tuple[float, float], allowed: float, confirmed: float, doubt: bool = False) -> Verdict:
    """What is known of a gap decides: REFUTED surely above what is allowed, else CONFIRMED surely up to `confirmed`.
    `gap`: between what it lies; `doubt`: whether something else speaks against a confirmation.

    >>> [str(decide(gap, 0.1, 0.1)) for gap in ((0.2, 0.3), (0.0, 0.1), (0.0, 0.2))]
    ['REFUTED', 'CONFIRMED', 'INCONCLUSIVE']
    """
    if gap[0] > allowed:
        return Verdict.REFUTED
    return Verdict.CONFIRMED if gap[1] <= confirmed and not doubt else Verdict.INCONCLUSIVE


def judge_gap(
    claim: Claim,
    gap: Gap,
    at: Mapping[str, Any],
    route: str = "exact law",  # how the gap was computed
    detail: str = "",  # a sentence for the reader
) -> PointResult:
    """Judge by what is proven of a gap.

    REFUTED: the gap is surely outside of what is allowed: the tolerance of an equality, for a bound nothing but the rounding of float64.
    CONFIRMED: it is surely inside; or it is a bound that may be attained, is not surely passed, and is known to `DECIDES` times the claim's scale: `interval` and
    `smallest_tolerance` say how far above zero its gap reaches. INCONCLUSIVE: neither.

    A gap that is nothing beside 1 confirms nothing where the claimed number is itself as small: it may be a true excess.

    Raises ValueError if the gap is NaN.
    """
    kind, unit, numbers = claim.kind, claim.unit, isinstance(claim.value, Number)
    tolerance = claim.tolerance if isinstance(kind, Equality) else 0.0
    large, small = max(1.0, claim.size) if kind.one_sided else 1.0, min(1.0, claim.size)
    value, interval, ends = gap.counted(kind.one_sided)
    if math.isnan(value) or any(map(math.isnan, ends)):
        raise ValueError("gap is NaN; it must be a number")
    size = value if kind.one_sided else abs(value)
    error = 0.0 if ends[1] == size else ends[1] - size
    rounding, slack = ROUNDING * large, tolerance + ROUNDING * small
    attained = kind.one_sided and error <= DECIDES * claim.scale and (value <= slack or not numbers)
    verdict = decide(ends, tolerance + rounding, max(slack, ends[1]) if attained else slack)
    detail = f"{detail}." if detail and detail[-1] not in ".!?" else detail
    if verdict is Verdict.INCONCLUSIVE and math.isinf(ends[1]):
        detail = f"{detail} {ONE_SIDED if numbers else UNKNOWN}"
    elif verdict is not Verdict.CONFIRMED and not kind.one_sided:
        digits = enough(ends[1], tolerance, 3)
        known = (
            f"It would hold with a tolerance of {ceiling(ends[1], digits)} {unit}"
            if ends[1] < math.inf
            else "With which tolerance it would hold is not known"
        )
        detail = f"{detail} {known}; {floor(tolerance, digits)} is allowed."
    elif verdict is Verdict.INCONCLUSIVE:
        detail = f"{detail} The law is known to {ceiling(error, 2)} only, which decides nothing here."
    undecided = verdict is Verdict.INCONCLUSIVE and not kind.one_sided  # it may be the least or the largest
    return PointResult(
        parameters=dict(at),
        verdict=verdict,
        games=0,
        gap=value,
        interval=gap.everywhere if undecided else interval,
        smallest_tolerance=max(ends[1], 0.0),
        detectable_gap=tolerance + rounding + error,
        unit=unit,
        route=route,
        detail=detail.strip(),
        evidence=gap.evidence,
        tolerance=tolerance,
    )
