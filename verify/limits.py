"""Judging a limit by exact laws: the gap at growing sizes, without Monte-Carlo error."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from verify.claim import CurveEvidence, RegimeResult, TrendEvidence, Verdict

SIZES = (100, 400, 1600, 6400)
"""Rows at which a limit is judged; the coordinates grow with them."""

NUMERICAL_FLOOR = 2e-3
"""Probit gaps below this are not told apart from the error of the grid; a trend among them says nothing."""

STANDSTILL = 0.9
"""A gap that keeps more than this share of itself when n is quadrupled (slower than n^-0.08) is not closing."""

FLOOR = 1e-4
"""FPR and FNR from here to 1 - FLOOR are judged: the theorems are about a fixed alpha."""

GRID = ndtr(np.linspace(ndtri(FLOOR), -ndtri(FLOOR), 81))
"""The FPRs of every exact comparison, evenly spread in probit scale."""

Beta = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Size:
    """What one size shows: the least and the largest signed gap, and the curves if there are any."""

    low: float
    high: float
    evidence: CurveEvidence | None = None

    @property
    def worst(self) -> float:
        """The signed gap of largest absolute value."""
        return self.low if abs(self.low) > abs(self.high) else self.high


def curve_gap(exact: Beta, claimed: Beta, label: str) -> Size:
    """Compare an exact trade-off curve with a claimed one on the grid, where the claimed FNR is in the judged range."""
    promised = claimed(GRID)
    judged = (promised >= FLOOR) & (promised <= 1 - FLOOR)
    alpha, promised = GRID[judged], promised[judged]
    found = np.clip(exact(alpha), 1e-9, 1 - 1e-9)
    gap = ndtri(promised) - ndtri(found)
    empty = np.zeros(0)
    evidence = CurveEvidence(alpha, found, empty, empty, empty, alpha, promised, "exact law", label)
    return Size(float(gap.min()), float(gap.max()), evidence)


def judge_limit(
    at: Callable[[int], Size],
    tolerance: float,
    parameters: dict[str, Any],
    *,
    sizes: Sequence[int] = SIZES,
    unit: str = "probit",
    floor: float = NUMERICAL_FLOOR,
    reading: str = "",
    second_route: Callable[[], str] | None = None,
) -> RegimeResult:
    """CONFIRMED: inside the tolerance at the largest size, and still closing there (or below the numerical floor).

    REFUTED: outside at the largest size, and at a standstill over the last quadrupling. Otherwise INCONCLUSIVE.
    """
    found = [at(n) for n in sizes]
    worst = np.array([abs(s.worst) for s in found])
    slope = float(np.polyfit(np.log(sizes), np.log(np.clip(worst, 1e-12, 1e300)), 1)[0])
    still = bool(worst[-1] > STANDSTILL * worst[-2] or np.isinf(worst[-1]))
    inside = worst[-1] <= tolerance
    # Inside the tolerance is not enough: a small gap that stands still is another limit.
    closing = bool((worst <= floor).all() or (slope < 0 and not (still and worst[-1] > floor)))
    if inside and closing:
        verdict = Verdict.CONFIRMED
    elif not inside and still:
        verdict = Verdict.REFUTED
    else:
        verdict = Verdict.INCONCLUSIVE
    starts = next((n for i, n in enumerate(sizes) if (worst[i:] <= tolerance).all()), None)
    detail = f"gaps {', '.join(f'{s.worst:+.2g}' for s in found)} at n = {', '.join(map(str, sizes))}"
    if starts is not None:
        detail += f"; inside the tolerance from n = {starts} on"
    trend = TrendEvidence(
        np.array(sizes, float),
        np.array([s.worst for s in found]),
        np.array([s.low for s in found]),
        np.array([s.high for s in found]),
        tolerance,
        "n",
        f"gap ({unit})",
    )
    last = found[-1]
    return RegimeResult(
        parameters=parameters | {"n": list(sizes)},
        verdict=verdict,
        games=0,
        gap=last.worst,
        interval=(last.low, last.high),
        smallest_tolerance=float(worst[-1]) if closing else float("inf"),
        detectable_gap=floor,
        unit=unit,
        reading=reading,
        route="exact law",
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=detail,
        evidence=last.evidence if verdict is Verdict.REFUTED and last.evidence is not None else trend,
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
    """An exact number against zero; `one_sided`: only a positive gap counts against the claim."""
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
    )
