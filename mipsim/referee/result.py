"""What came of judging: the verdict, the evidence and the numbers of a single point."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim._verdict import Verdict
from mipsim.referee.gap_words import gap_is

if TYPE_CHECKING:
    from mipsim.referee.replication import Replication


@dataclass(frozen=True)
class CurveEvidence:
    """An estimated or exact trade-off curve and the claimed curve, for the report's plots."""

    # the points of the curve (empirical frequencies, or exact values), shape (K,)
    alpha: np.ndarray
    beta: np.ndarray
    # the claimed curve on a grid
    claimed_alpha: np.ndarray
    claimed_beta: np.ndarray
    # of games: FPRs, and the ends of the simultaneous band there
    band: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None


@dataclass(frozen=True)
class TrendEvidence:
    """The gap at growing sizes, with its interval, for claims about a limit."""

    sizes: np.ndarray
    gap: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tolerance: float
    size_name: str = "n"
    gap_name: str = "probit gap"


@dataclass(frozen=True)
class PointResult:
    """The result of judging a statement at a single point of its domain."""

    parameters: dict[str, Any]  # JSON-able description of the point: everything needed to build it again
    verdict: Verdict
    games: int  # games played per world (0: an exact distribution or an enumeration decided)
    gap: float  # the estimated departure from the claim, in `unit`, largest in absolute value
    # of the gap where it decides, simultaneous over all thresholds of this point
    interval: tuple[float, float]
    smallest_tolerance: float  # the least tolerance that this evidence would confirm, in `unit` (inf if none)
    # the gap that this point would have detected with probability 0.9 (0 for exact routes)
    detectable_gap: float
    unit: str = "probit"
    reading: str = ""  # how an open wording was read; empty when it leaves nothing open
    route: str = ""  # how it was judged ("exact distribution", "enumeration", "games: sufficient", ...)
    second_route: Replication | None = None  # for a refutation, what the second, independent route measured
    detail: str = ""  # a sentence for the reader
    seed: int | None = None  # the seed, where games were played
    evidence: CurveEvidence | TrendEvidence | None = None  # what the report draws
    games_to_decide: int | None = None  # for INCONCLUSIVE, how many games per world would decide
    # the largest gap that counted as equal, in `unit`; 0 for a bound by an exact distribution. None: that of the
    # statement
    tolerance: float | None = None
    # "paper" if the point is among the paper's own settings; "lead" if reports show it first; or both
    setting: str = ""
    sampled: bool = False  # whether the point is a random point of the domain
    random: bool = False  # whether chance entered the result
    name: str = ""  # of the point, if it has any
    headline: str = ""  # of a limit: how far the verdict reaches
    # of a limit that no theorem decides: the largest judged size, beyond which there is no claim
    up_to: float | None = None
    finding: str = ""  # why the claimed curve is no trade-off function; empty if it is

    @property
    def exact(self) -> bool:
        """Whether no chance entered and the gap is known to its interval."""
        return not self.random and self.games == 0 and not any(math.isnan(end) for end in self.interval)

    def record(self) -> dict[str, Any]:
        """All but the evidence, for `plain`."""
        result = {key: value for key, value in vars(self).items() if key != "evidence"}
        result["gap_is"] = gap_is(self.gap, self.interval)
        return result | {"second_route": self.second_route and self.second_route.record()}

    @property
    def relative_gap(self) -> float:
        """|gap| in tolerances, the only scale on which points with different units can be compared.

        With no tolerance any gap at all is infinitely many; nan where the gap is.
        """
        gap = abs(self.gap)
        if self.tolerance:
            return gap / self.tolerance
        return gap and float("inf")
