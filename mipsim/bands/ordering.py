"""Two empirical curves held against each other: is one attack at least as strong as the other everywhere, or are they equal?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import number, one_of
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import LEAST_COUNT
from mipsim.bands.comparison_base import (
    CONFIRMED,
    INCONCLUSIVE,
    NUMERICAL_FLOOR,
    POWER,
    REFUTED,
    AbstractComparison,
)
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.gap_interval import critical_probits, gap_bounds, probit_variance
from mipsim.bands.scaled_rates import ScaledRates
from mipsim.tradeoff.gaussian import GaussianTradeOff

KINDS = {
    "ordering": "the first curve has at most the FNR of the second at every FPR",
    "upper_bound_on_power": "the first curve has at least the FNR of the second at every FPR",
    "equality": "the two curves are equal at every FPR",
}
"""What may be claimed of two played curves."""
_THRESHOLDS = 256  # that a confirmation reads of each curve; a chord over dz bends by mu dz^2 / 8 probits
_CELLS, _PARTS = 512, 16  # of FPRs, and of a cell where a chord is bounded from below
_PLACE = 0.1  # share of a curve's failure probability for the FPRs of its thresholds


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
    def finest_counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(false positives, false negatives) at all thresholds that are known."""
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
    """The gap Phi^-1(second FNR) - Phi^-1(first FNR) at the same FPR, positive where the first attack is stronger.

    Attributes:
        alpha: FPRs, shape (M,): first those at which a step of the bands jumps, then the middles of the cells of FPRs that a
            confirmation is about.
        steps: which of them are jumps, shape (M,), bool: they alone can refute.
        asked: the kind of claim, one of `KINDS`.
    """

    alpha: np.ndarray
    steps: np.ndarray
    asked: str = "ordering"

    @property
    def kind(self) -> str:
        return self.asked

    def place(self, k: int) -> str:
        return f"FPR {self.alpha[k]:.3g}"

    def _title(self) -> str:
        return f"{self.verdict}: {self.claim}"

    def _beyond(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """(how far the gap lies outside of the claim at least, at most), shape (M,)."""
        return {
            "ordering": (-self.high, -self.low),
            "upper_bound_on_power": (self.low, self.high),
        }.get(kind, (np.fmax(self.low, -self.high), np.fmax(self.high, -self.low)))

    def verdict_for(self, kind: str) -> str:
        """REFUTED where the gap at some jump is outside of the claim; CONFIRMED where it is within the tolerance in all used cells."""
        least, most = self._beyond(one_of("kind", kind, tuple(KINDS)))
        if (least[self.steps] > NUMERICAL_FLOOR).any():
            return REFUTED
        return (
            CONFIRMED if self.used.any() and bool((most[self.used] <= self.tolerance).all()) else INCONCLUSIVE
        )

    @cached_property
    def deciding(self) -> int | None:
        least, most = self._beyond(self.kind)
        if self.verdict == REFUTED:
            return int(np.argmax(np.where(self.steps, least, -np.inf)))
        return int(np.argmax(np.where(self.used, most, -np.inf))) if self.thresholds_used else None

    @property
    def alpha_range(self) -> tuple[float, float]:
        """Least and largest FPR that a confirmation is about; (nan, nan) if there is none."""
        seen = self.alpha[self.used]
        return (float(seen.min()), float(seen.max())) if seen.size else (math.nan, math.nan)

    def rows(self) -> list[tuple[str, str]]:
        low, high = self.alpha_range
        return [
            ("FPR range", f"[{low:.3g}, {high:.3g}], curves straight between thresholds"),
            ("games", f"at least {self.games:,} per world"),
        ]


def compare_curves(
    first: CountedCurve,
    second: CountedCurve,
    *,
    kind: str = "ordering",
    failure_probability: float | None = None,
    tolerance: float = 0.02,
    least_rate: float = 0.01,
) -> OrderingComparison:
    """Judge an ordering or the equality of two played curves, at every FPR at once.

    REFUTED wherever the bands of the two curves contradict the claim, whatever the curves do between their thresholds: between two
    of them the bands are steps. Each of the four class bands has a quarter of the failure probability.

    CONFIRMED where the gap is within the tolerance at every FPR from `least_rate` to 1 - `least_rate` that both curves cover, and at
    which both FNRs are in this range. The curves are straight between neighbouring thresholds there, which is what a randomised test
    reaches: so the width of the interval falls as 1 / sqrt(games). At most 256 thresholds of each curve are read, evenly by number.

    Proof of a confirmation. Let threshold k of a curve have the rates (a_k, b_k) and the local mu m_k = -Phi^-1(a_k) - Phi^-1(b_k). Half of
    the failure probability is for each curve: 9 tenths for intervals of all m_k (`mipsim.bands.gap_interval.gap_bounds`), the rest for
    Clopper-Pearson intervals of all a_k. Take FPRs R = [r, s] and two thresholds of which the first has an FPR of at most r
    and the second of at least s, at every rate in their intervals. Over R the curve consists of chords of them and thresholds between.
    With H the largest upper end of their m_k, no such point lies below the curve G_H, which is convex: so no chord does, and the local
    mu over R is at most H. With L the smallest lower end, all points lie on or below G_L, so the chords lie on or below the chord of G_L
    between the outer ends of the two intervals of FPRs. Its local mu at any FPR in [u, v] is at least -Phi^-1(v) - Phi^-1(chord(u)).
    The gap is the difference of the two curves' local mu. Nothing is assumed of how the games of one curve depend on those of the other:
    a sum bounds the failure probability.

    Args:
        first: a played curve, thresholds fixed before the games.
        second: another, at any thresholds.
        kind: what is claimed, one of `KINDS`: "ordering" (the first attack is no weaker), "upper_bound_on_power" (it is no stronger)
            or "equality".
        failure_probability: of either verdict, in (0, 1); by default the larger of the two curves' 1 - confidence.
        tolerance: how far, in probits, the claim may fail and still count as holding, > 0.
        least_rate: the range that a confirmation is about, in [0, 0.5); rarer rates can only refute.

    Examples:
        >>> from mipsim.bands import EmpiricalTradeOff
        >>> def curve(mu, n=10**8):
        ...     t = np.linspace(-3.0, 5.0, 257)
        ...     x, y = n * ndtr(-t), n * ndtr(t - mu)
        ...     return EmpiricalTradeOff.from_counts(t, x.round(), n, y.round(), n)
        >>> compare_curves(curve(2.0), curve(1.0)).verdict, compare_curves(curve(1.0), curve(1.2)).verdict
        ('CONFIRMED', 'REFUTED')
        >>> compare_curves(curve(1.0), curve(1.0), kind="equality").verdict
        'CONFIRMED'
    """
    one_of("kind", kind, tuple(KINDS))
    if failure_probability is None:
        failure_probability = max(1.0 - first.confidence, 1.0 - second.confidence)
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    rarest = number("least_rate", least_rate, 0.0, 0.5, high_open=True)
    both = first, second
    # A two-sided band at risk r fails on one given side of one class with r / 4; four such events make r, and an equality has eight.
    band_risk = risk / 2.0 if kind == "equality" else risk
    bands = [
        CurveBand.from_counts(c.false_positives, c.out_games, c.false_negatives, c.in_games, band_risk)
        for c in both
    ]
    # All four steps are continuous from the right and jump only here: these points see every value they take.
    jumps = np.unique(
        np.concatenate([[0.0], *(end for band in bands for end in (band.alpha_low, band.alpha_high))])
    )
    (one_low, one_high), (two_low, two_high) = (band.at(jumps) for band in bands)
    low, high = ndtri(two_low) - ndtri(one_high), ndtri(two_high) - ndtri(one_low)

    reach = -float(ndtri(max(rarest, 1e-12)))
    edges = np.linspace(-reach, reach, _CELLS + 1)
    alpha = np.concatenate([jumps, ndtr(0.5 * (edges[1:] + edges[:-1]))])
    (one_least, one_most), (two_least, two_most) = (_local_mu(c, edges, risk / 2.0) for c in both)
    with np.errstate(invalid="ignore"):
        low = np.concatenate([low, one_least - two_most])
        high = np.concatenate([high, one_most - two_least])
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    steps = np.arange(alpha.size) < jumps.size
    used = ~steps & np.concatenate(
        [np.zeros(jumps.size, bool), np.isfinite([one_most, two_most]).all(axis=0)]
    )

    estimates, variance = [], np.zeros(alpha.size)
    for curve in both:
        beta, some = _interpolated(curve, alpha)
        used &= some & (np.minimum(beta, 1.0 - beta) >= rarest)
        estimates.append(np.where(some, ndtri(beta), np.nan))
        with np.errstate(divide="ignore", invalid="ignore"):
            variance += probit_variance(alpha, curve.out_games) + probit_variance(beta, curve.in_games)
    estimate = estimates[1] - estimates[0]
    variance = np.where(np.isfinite(variance), variance, np.inf)
    with np.errstate(invalid="ignore"):
        width = np.fmax(high - estimate, estimate - low)
    return OrderingComparison(
        estimate=estimate,
        low=low,
        high=high,
        used=used,
        standard_error=np.sqrt(variance),
        half_width=width,
        detectable=width + float(ndtri(POWER)) * np.sqrt(variance),
        failure_probability=risk,
        tolerance=margin,
        claim=KINDS[kind],
        alpha=alpha,
        steps=steps,
        asked=kind,
        games=min(n for c in both for n in (c.out_games, c.in_games)),
    )


def _interpolated(curve: CountedCurve, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The observed FNR at each FPR, and where thresholds with counts enough lie on both sides of it, each of the shape of alpha."""
    cells = np.minimum(curve.false_positives, curve.out_games - curve.false_positives)
    cells = np.minimum(np.minimum(cells, curve.false_negatives), curve.in_games - curve.false_negatives)
    enough = cells >= LEAST_COUNT
    if not enough.any():
        return np.full(alpha.size, 0.5), np.zeros(alpha.size, dtype=bool)
    a, b = curve.alpha[enough][::-1], curve.beta[enough][::-1]
    beta = ndtr(np.interp(ndtri(np.clip(alpha, a[0], a[-1])), ndtri(a), ndtri(b)))
    return beta, (alpha >= a[0]) & (alpha <= a[-1])


def _local_mu(curve: CountedCurve, edges: np.ndarray, risk: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (least, most) of the local mu over each cell of FPRs, -inf and inf where thresholds do not enclose it.

    Args:
        curve: played, thresholds increasing.
        edges: of the cells, as Phi^-1(FPR), increasing, shape (cells + 1,).
        risk: of all bounds together.
    """
    above, below = curve.finest_counts
    total = above.size
    chosen = np.unique(np.linspace(0, total - 1, min(total, _THRESHOLDS)).astype(np.int64))[
        ::-1
    ]  # the FPR rises
    x, y, k = above[chosen], below[chosen], chosen.size
    out, inside = ScaledRates.plain(x, curve.out_games), ScaledRates.plain(y, curve.in_games)
    probits = critical_probits((1.0 - _PLACE) * risk, k, 2)
    lower, upper = gap_bounds(out, inside, GaussianTradeOff(0.0), probits, cells=64)
    ends = clopper_pearson(x, curve.out_games, _PLACE * risk, thresholds=k)
    left, right = ndtri(np.maximum.accumulate(ends[0])), ndtri(np.minimum.accumulate(ends[1][::-1])[::-1])
    before = (
        np.searchsorted(right, edges[:-1], side="right") - 1
    )  # the last threshold that is certainly at or before the cell
    after = np.searchsorted(left, edges[1:], side="left")  # the first that is certainly at or behind it
    least, most = np.full(before.size, -np.inf), np.full(before.size, np.inf)
    for cell in np.flatnonzero((before >= 0) & (after < k)):
        i, j = before[cell], after[cell]
        most[cell] = upper[i : j + 1].max()
        bound = lower[i : j + 1].min()
        if np.isfinite([bound, left[i], right[j]]).all():
            z = np.linspace(edges[cell], edges[cell + 1], _PARTS + 1)
            a, a0, a1 = ndtr(z[:-1]), ndtr(left[i]), ndtr(right[j])
            b0, b1 = ndtr(-left[i] - bound), ndtr(-right[j] - bound)
            least[cell] = (-z[1:] - ndtri(b0 + (b1 - b0) * (a - a0) / (a1 - a0))).min()
    return least, most
