"""An exact curve held against a claimed one, without a statement."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mipsim._validation import UndefinedError, number, one_of
from mipsim.bands.comparison_base import READINGS
from mipsim.bands.equality_tolerance import check_claim
from mipsim.bands.printed import Printed
from mipsim.referee.judging.law import exact_route, floor_of, judge_size, size_of
from mipsim.referee.judging.point import undefined
from mipsim.referee.kinds import Bound, Equality
from mipsim.referee.result import PointResult
from mipsim.tradeoff.base import AbstractTradeOff

_KINDS = ("equality", "upper_bound_on_power", "ordering")


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExactComparison(Printed):
    """What a curve that is known says of a claimed one; no chance enters.

    Attributes:
        claim: the claim in words.
        kind: "equality", "upper_bound_on_power" or "ordering".
        result: the referee's judgement, of which `verdict`, `gap` and `interval` are parts.
        least_rate: error rates from here to 1 minus this were judged.
    """

    claim: str
    kind: str
    result: PointResult
    least_rate: float

    @property
    def verdict(self) -> str:
        """CONFIRMED, REFUTED or INCONCLUSIVE."""
        return str(self.result.verdict)

    @property
    def gap(self) -> float:
        """The largest gap that counts, in probits, positive where the attacker is stronger than claimed."""
        return -self.result.gap if self.kind == "ordering" else self.result.gap

    @property
    def interval(self) -> tuple[float, float]:
        """Between which the law's proven error leaves that gap."""
        low, high = self.result.interval
        return (-high, -low) if self.kind == "ordering" else (low, high)

    def _title(self) -> str:
        return f"{self.verdict} {READINGS[self.kind]}: {self.claim}"

    def _lines(self) -> list[tuple[str, str]]:
        low, high = self.interval
        lines = [
            ("gap", _in_words(self.gap, low, high)),
            ("tolerance", f"{self.result.tolerance or 0.0:.4g}"),
            ("error rates", f"from {self.least_rate:.2g} to 1 minus this"),
            ("route", f"{self.result.route}, no games"),
        ]
        return [*lines, ("detail", self.result.detail)] if self.result.detail else lines


def _in_words(gap: float, low: float, high: float) -> str:
    """The gap with what is proven of it; an end that is open is no end."""
    if low == high:
        return f"{gap:+.4g} probits"
    if np.isinf(high) and np.isfinite(low):
        return f"at least {low:+.4g} probits"
    if np.isinf(low) and np.isfinite(high):
        return f"at most {high:+.4g} probits"
    return f"{gap:+.4g} probits, proven to lie in [{low:+.4g}, {high:+.4g}]"


def compare_exact(
    curve: AbstractTradeOff, claim: AbstractTradeOff, tolerance: float | None = None, kind: str = "equality"
) -> ExactComparison:
    """Hold an exact curve against a claimed one, over the whole curve; see `AbstractTradeOff.compare`.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Gaussian(0.0, 1.0, d=100)
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=10_000, target=[1.0] * 100)
        >>> print(compare_exact(game.exact(mi.CovarianceScore(data, n=10_000)), mi.GaussianTradeOff(0.1)).verdict)
        CONFIRMED
    """
    check_claim("claim", claim)
    asked = one_of("kind", kind, _KINDS)
    if asked == "equality":
        margin = None if tolerance is None else number("tolerance", tolerance, 0.0, low_open=True)
        judged = Equality(margin)
    elif tolerance is not None:
        raise ValueError(f"tolerance is {tolerance}; by an exact law a bound has none: leave it out")
    else:
        judged = Bound()
    claimed, truth = (curve, claim) if asked == "ordering" else (claim, curve)
    route, least = exact_route(curve), floor_of(judged, claimed, truth)
    convex = claimed.is_convex() and truth.is_convex()
    try:
        result = judge_size(judged, claimed, size_of(judged, claimed, truth, convex, ""), {}, route)
    except UndefinedError as error:
        result = undefined({}, judged, str(error))
    return ExactComparison(claim=str(claim), kind=asked, result=result, least_rate=least)
