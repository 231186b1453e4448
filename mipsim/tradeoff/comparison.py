"""The result of comparing an exact curve with a claimed curve, without a statement."""

from dataclasses import dataclass

import numpy as np

from mipsim._printed import Printed, at_least, at_most, ceiling, shown
from mipsim._verdict import READINGS


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExactComparison(Printed):
    """What a known curve implies about a claimed curve; no chance enters."""

    claim: str  # the claim in words
    kind: str  # "equality", "upper_bound_on_power" or "ordering"
    verdict: str  # CONFIRMED, REFUTED or INCONCLUSIVE
    # the largest gap that counts, in probits, positive where the attacker is stronger than claimed
    gap: float
    interval: tuple[float, float]  # proven bounds of that gap, from the error of the distribution
    tolerance: float  # in probits, of an equality; 0 for a bound
    least_rate: float  # error rates from here to 1 minus this were judged
    route: str  # how the curve is known
    detail: str  # a sentence for the reader; empty if there is no more to say

    def _title(self) -> str:
        return f"{self.verdict} {READINGS[self.kind]}: {self.claim}"

    def _meaning(self) -> str:
        """What the confirmation states, in words."""
        how = {"upper_bound_on_power": "is nowhere stronger than", "ordering": "is nowhere weaker than"}.get(
            self.kind, f"differs by {at_most(self.tolerance)} probits from"
        )
        return f"at every error rate from {ceiling(self.least_rate, 2)} to 1 minus this, the exact curve {how} the claim; no games, so no chance enters"

    def _lines(self) -> list[tuple[str, str]]:
        lines = [
            *([("means", self._meaning())] if self.verdict == "CONFIRMED" else []),
            ("gap", _in_words(self.gap, *self.interval)),
            ("tolerance", f"{self.tolerance:.4g}"),
            ("error rates", f"from {ceiling(self.least_rate, 2)} to 1 minus this"),
            ("route", f"{self.route}, no games"),
        ]
        return [*lines, ("detail", self.detail)] if self.detail else lines


def _in_words(gap: float, low: float, high: float) -> str:
    """The gap with what is proven of it; an end that is open is no end."""
    if low == high:
        return f"{gap:+.4g} probits"
    if np.isinf(high) and np.isfinite(low):
        return f"{at_least(low, sign='+')} probits"
    if np.isinf(low) and np.isfinite(high):
        return f"{at_most(high, sign='+')} probits"
    return f"{gap:+.4g} probits, proven to lie in {shown((low, high), sign='+')}"
