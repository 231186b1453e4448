"""Two empirical curves held against each other: is one attack at least as strong as the other everywhere?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.special import ndtri

from mipsim._validation import number
from mipsim.bands.compare import LEAST_COUNT
from mipsim.bands.comparison_base import POWER, AbstractComparison
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.gap_interval import probit_variance


class CountedCurve(Protocol):
    """What is read of a played curve: its counts at thresholds that were fixed before the games."""

    @property
    def false_positives(self) -> np.ndarray:
        """At each threshold, shape (K,)."""
        ...

    @property
    def false_negatives(self) -> np.ndarray:
        """At each threshold, shape (K,)."""
        ...

    @property
    def out_games(self) -> int:
        """Games played out."""
        ...

    @property
    def in_games(self) -> int:
        """Games played in."""
        ...

    @property
    def alpha(self) -> np.ndarray:
        """Observed FPR at each threshold, shape (K,)."""
        ...

    @property
    def beta(self) -> np.ndarray:
        """Observed FNR at each threshold, shape (K,)."""
        ...

    @property
    def confidence(self) -> float:
        """1 minus the failure probability, in (0, 1)."""
        ...


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OrderingComparison(AbstractComparison):
    """The gap Phi^-1(weak FNR) - Phi^-1(strong FNR) at the same FPR, positive where the order holds strictly.

    Attributes:
        alpha: the FPRs at which one of the bounds jumps: between them nothing changes, shape (M,).
    """

    alpha: np.ndarray

    @property
    def kind(self) -> str:
        return "ordering"

    def place(self, k: int) -> str:
        return f"FPR {self.alpha[k]:.3g}"

    def _title(self) -> str:
        return f"{self.verdict}: {self.claim}"

    def games_to_confirm(self, tolerance: float | None = None) -> int | None:
        """None: the steps between the thresholds do not shrink with the games."""
        return None

    @property
    def alpha_range(self) -> tuple[float, float]:
        """Least and largest FPR covered by both curves; (nan, nan) if there is none."""
        seen = self.alpha[self.used]
        return (float(seen.min()), float(seen.max())) if seen.size else (math.nan, math.nan)

    def rows(self) -> list[tuple[str, str]]:
        low, high = self.alpha_range
        return [
            ("FPR range", f"[{low:.3g}, {high:.3g}]"),
            ("games", f"at least {self.games:,} per world"),
        ]


def compare_curves(
    strong: CountedCurve,
    weak: CountedCurve,
    *,
    failure_probability: float | None = None,
    tolerance: float = 0.02,
) -> OrderingComparison:
    """Judge "`strong` has at most the FNR of `weak` at every FPR" from one-sided simultaneous bands.

    REFUTED where the lower band of `strong` passes the upper band of `weak`; CONFIRMED where the upper band
    of `strong` stays below the lower band of `weak` plus the tolerance (in probits) over the covered FPRs.
    Either error uses one side of each of the four class bands, a quarter of the risk each, so that each has
    at most the stated failure probability. The bands are steps between thresholds: take curves with many
    (1024). Nothing is assumed of how the games of one curve depend on those of the other: a sum bounds the risk.

    Args:
        strong: the curve said to be at least as strong, at any thresholds.
        weak: the other curve, at any thresholds.
        failure_probability: in (0, 1); by default the larger of the two curves' 1 - confidence.
        tolerance: how far, in probits, the order may fail and still count as holding, > 0.

    Examples:
        >>> from scipy.special import ndtr
        >>> from mipsim.bands import EmpiricalTradeOff
        >>> def curve(mu, n=10**6):
        ...     t = np.linspace(-2.0, 4.0, 257)
        ...     x, y = n * ndtr(-t), n * ndtr(t - mu)
        ...     return EmpiricalTradeOff.from_counts(t, x.round(), n, y.round(), n)
        >>> compare_curves(curve(2.0), curve(1.0)).verdict, compare_curves(curve(1.0), curve(1.2)).verdict
        ('CONFIRMED', 'REFUTED')
    """
    if failure_probability is None:
        failure_probability = max(1.0 - strong.confidence, 1.0 - weak.confidence)
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    # A two-sided band at risk r fails on one given side of one class with r / 4; four such events make r.
    first, second = (
        CurveBand.from_counts(c.false_positives, c.out_games, c.false_negatives, c.in_games, risk)
        for c in (strong, weak)
    )
    # All four steps are continuous from the right and jump only here: these points see every value they take.
    jumps = (first.alpha_low, first.alpha_high, second.alpha_low, second.alpha_high)
    alpha = np.unique(np.concatenate([[0.0], *jumps]))
    (strong_low, strong_high), (weak_low, weak_high) = first.at(alpha), second.at(alpha)
    low, high = ndtri(weak_low) - ndtri(strong_high), ndtri(weak_high) - ndtri(strong_low)
    covered = np.ones(alpha.size, dtype=bool)
    estimates, variance = [], np.zeros(alpha.size)
    for curve in (strong, weak):
        cells = np.minimum(curve.false_positives, curve.out_games - curve.false_positives)
        cells = np.minimum(np.minimum(cells, curve.false_negatives), curve.in_games - curve.false_negatives)
        enough = cells >= LEAST_COUNT
        if not enough.any():
            covered[:] = False
            estimates.append(np.full(alpha.size, np.nan))
            variance[:] = np.inf
            continue
        a, b = curve.alpha[enough][::-1], curve.beta[enough][::-1]
        covered &= (alpha >= a[0]) & (alpha <= a[-1])
        inside = np.clip(alpha, a[0], a[-1])
        estimates.append(np.interp(ndtri(inside), ndtri(a), ndtri(b)))
        variance += probit_variance(inside, curve.out_games)
        variance += probit_variance(np.interp(inside, a, b), curve.in_games)
    estimate = estimates[1] - estimates[0]
    # Where a bound is 0 or 1 nothing can be said; the covered FPRs end there.
    with np.errstate(invalid="ignore"):
        width = high - estimate
    covered &= np.isfinite(low) & np.isfinite(high)
    return OrderingComparison(
        estimate=estimate,
        low=low,
        high=high,
        used=covered | (high < 0.0),
        standard_error=np.sqrt(variance),
        half_width=width,
        detectable=width + float(ndtri(POWER)) * np.sqrt(variance),
        failure_probability=risk,
        tolerance=margin,
        claim="the first curve has at most the FNR of the second at every FPR",
        alpha=alpha,
        games=min(strong.out_games, strong.in_games, weak.out_games, weak.in_games),
    )
