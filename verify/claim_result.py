"""What the results of a claim's regimes say together: its verdict, its defect, where it stands."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np

from verify.claim import Claim, RegimeResult, Verdict


class Defect(StrEnum):
    """What is wrong with a statement that does not stand as printed; see `ClaimResult.defect`."""

    FORMULA = "formula"
    CONDITION = "condition"
    WORDING = "wording"
    READING = "reading"


@dataclass(frozen=True)
class ClaimResult:
    """A claim with the results of its regimes and the verdict that they make together.

    Attributes:
        regimes, names: the results of the regimes that were judged and their names, in the same order.
        failure_probability: the share of the family-wise failure probability that the whole claim used.
        seconds: wall time.
        errors: the regimes whose judge failed, each as (name, error): they were not judged.
        correction: the corrected statement, where there is one.
    """

    claim: Claim
    verdict: Verdict
    regimes: tuple[RegimeResult, ...]
    failure_probability: float
    seconds: float
    interrupted: bool = False
    names: tuple[str, ...] = field(default=())
    errors: tuple[tuple[str, str], ...] = field(default=())
    correction: Claim | None = None

    @property
    def judged(self) -> bool:
        """Whether the verdict stands: a refutation does, whatever failed beside it; nothing else does."""
        return not self.errors or self.verdict is Verdict.REFUTED

    @property
    def exact(self) -> bool:
        """Whether every regime was judged without chance."""
        return bool(self.regimes) and all(regime.exact for regime in self.regimes)

    @property
    def counterexample(self) -> RegimeResult | None:
        """The refuted regime with the largest gap in tolerances, or None."""
        refuted = [r for r in self.regimes if r.verdict is Verdict.REFUTED]
        return max(refuted, key=weight, default=None)

    @property
    def gaps(self) -> dict[str, float]:
        """Unit -> the largest |gap| over the regimes that were judged in that unit."""
        return self._largest(lambda regime: abs(regime.gap))

    @property
    def smallest_tolerances(self) -> dict[str, float]:
        """Unit -> the least tolerance at which every regime in that unit would be confirmed."""
        return self._largest(lambda regime: regime.smallest_tolerance)

    @property
    def detectable_gaps(self) -> dict[str, float]:
        """Unit -> the largest detectable gap over the regimes in that unit that chance entered."""
        return self._largest(lambda regime: regime.detectable_gap, lambda regime: not regime.exact)

    @property
    def share(self) -> float | None:
        """The share of the sampled points of the domain that stand; None where none was drawn."""
        drawn = [r.verdict for r in self.regimes if r.sampled]
        return sum(verdict is Verdict.CONFIRMED for verdict in drawn) / len(drawn) if drawn else None

    @property
    def readings(self) -> dict[str, Verdict]:
        """Reading -> its verdict, over its own regimes and those that leave nothing open; empty if there is no choice."""
        names = dict.fromkeys(r.reading for r in self.regimes if r.reading)
        return {name: verdict_on([r for r in self.regimes if r.reading in ("", name)]) for name in names}

    @property
    def defect(self) -> Defect | None:
        """What is wrong with a refuted statement; None where it is not refuted, or where the data do not say.

        - wording: both places of a slip of the pen are given.
        - reading: it is refuted under some readings and confirmed under another.
        - formula: it is refuted at the paper's own setting, or at more than half of the points drawn at random.
        - condition: the correction keeps the formula and narrows the domain.
        """
        if self.verdict is not Verdict.REFUTED:
            return None
        if self.claim.slip is not None:
            return Defect.WORDING
        if Verdict.CONFIRMED in self.readings.values():
            return Defect.READING
        refuted = [r for r in self.regimes if r.verdict is Verdict.REFUTED]
        drawn = sum(r.sampled for r in self.regimes)
        if any(r.setting == "paper" for r in refuted) or 2 * sum(r.sampled for r in refuted) > drawn:
            return Defect.FORMULA
        if self.correction is not None and self.correction.same_formula:
            return Defect.CONDITION
        return None

    def _largest(
        self,
        value: Callable[[RegimeResult], float],
        among: Callable[[RegimeResult], bool] = lambda regime: True,
    ) -> dict[str, float]:
        found: dict[str, float] = {}
        for regime in self.regimes:
            if among(regime):
                # fmax: a gap that could not be computed is shown with its regime and hides no other.
                found[regime.unit] = float(np.fmax(value(regime), found.get(regime.unit, math.nan)))
        return found


def weight(regime: RegimeResult) -> tuple[float, float]:
    """What the worst regime is the largest of: its gap in tolerances, then the gap itself; nan last of all."""
    return (_number(regime.relative_gap), _number(abs(regime.gap)))


def _number(value: float) -> float:
    return -1.0 if math.isnan(value) else value


def verdict_on(results: Sequence[RegimeResult]) -> Verdict:
    """One refuted regime refutes the statement; it is confirmed only where every regime confirms it."""
    if any(r.verdict is Verdict.REFUTED for r in results):
        return Verdict.REFUTED
    if results and all(r.verdict is Verdict.CONFIRMED for r in results):
        return Verdict.CONFIRMED
    return Verdict.INCONCLUSIVE
