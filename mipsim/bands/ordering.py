"""Two empirical curves compared: is the first attack at least as strong as the second everywhere, or are they equal?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import choice, flag, number, refuse_class
from mipsim._words import kind_of
from mipsim.bands.comparison import BETWEEN_CURVES, LEAST_COUNT, POWER, THRESHOLDS_READ, OrderingComparison
from mipsim.bands.counted_rates import CountedRates
from mipsim.bands.gap_interval import gap_end
from mipsim.tradeoff.gaussian import GaussianTradeOff

# thresholds where a curve is held against the steps of the other; all share the failure probability
_TESTED = 64
_CELLS, _PARTS = 512, 16  # of FPRs, and of a cell where a chord is bounded
_LEVELS = 64  # at which the errors of two independent curves are weighed against each other
_ANGLE = 0.1  # radians: the least weight of the curve with more games
_ASIDE = 0.05  # share of a failure probability for the FPRs of thresholds and the boxes of `gap_end`, at most ten events
_TAILS = 0.04  # share of what is left for the far errors of either of two independent curves
_FINENESS = 96  # cells of `gap_end`


class FixedCurve(Protocol):
    """What is read of a played curve."""

    @property
    def confidence(self) -> float:
        """1 minus the failure probability of its own band."""
        ...

    def fixed_rates(self) -> tuple[CountedRates, CountedRates]:
        """(FPRs, FNRs) at all thresholds that are known; ValueError unless these and the numbers of games were fixed before the games."""
        ...


def compare_curves(
    first: FixedCurve,
    second: FixedCurve,
    *,
    kind: str = "ordering",
    failure_probability: float | None = None,
    tolerance: float = 0.02,
    least_rate: float = 0.01,
    independent: bool = False,
) -> OrderingComparison:
    """Judge an ordering or the equality of two played curves.

    REFUTED where a threshold of a curve contradicts the claim, whatever the other curve does between its thresholds: there it is
    only known to lie above steps. CONFIRMED where the gap is within the tolerance at every FPR from `least_rate` to 1 - `least_rate`, up to
    the first FPR at which an estimated FNR is below `least_rate`. The curves are straight between neighbouring thresholds there, and
    from the last ones to (0, 1) and (1, 0), which is what a randomised test reaches. So the width of the interval falls
    as 1 / sqrt(games). At most 256 thresholds of each curve are read, evenly by number.

    Each of the two verdicts is wrong with at most the failure probability r, for every number of games. Threshold k of a curve has the
    rates (a_k, b_k) and the local mu m_k = -Phi^-1(a_k) - Phi^-1(b_k).

    Proof of a confirmation, for gap <= T; the other direction is the mirror image. Suppose that the gap exceeds T at FPRs of the
    range that is confirmed. This range begins at a fixed FPR, so that it contains the least such FPR, a, which is no matter of chance (or
    FPRs arbitrarily near to it). It is enough that the test at a fails with probability at most r: the intersection-union
    principle, and neither another FPR nor the other direction adds to it. Let a lie in the cell [r, s], and between the thresholds k and k + 1 of a curve.
    The cell's window begins at the last threshold whose upper limit of the FPR is at most r, and ends at the first whose lower limit is
    at least s. If the upper limit of k + 1 and the lower limit of k hold (Clopper and Pearson), it contains both, and its outer limits
    enclose a_k and a_(k+1). With H the largest upper end of m in the window, both points are on or above the curve G_H, since the
    larger of m_k and m_(k+1) is below its own end. If H >= 0 this curve is convex, and their chord is above it: the local mu at a is
    at most H. If H < 0 it is concave, and their chord lies on or above the chord of G_H between the outer limits. With L the smallest
    lower end the same holds from below, with the two signs exchanged. Each curve needs an end of a single m.

    Proof of a refutation, for a threshold k of the first curve that is stronger than the second curve admits. Let the second have an FPR
    of at most a_k at its threshold j and a larger FPR at its next. Between them its FNR is at least b_(j+1): if the claim holds, m_k is
    at most the m of the corner (a_j, b_(j+1)), and b_k is at least b_(j+1). The window of all j that the limits of the FPRs and of these two
    FNRs allow contains the true j, which alone needs to be right (intersection-union). The tested thresholds of a direction, 64 at most, share its failure probability
    (Bonferroni): r for an order, which has a single direction, and r / 2 in each direction of an equality.

    Errors of two curves. In both proofs the gap is between m of the first curve and m' of the second. Let S and S' be the variables of
    `mipsim.bands.gap_interval.gap_bounds` at the true rates, each stochastically at least standard normal. Without knowledge of how the
    games of either curve depend on those of the other, each may fail with half of the probability (a union bound). If the runs are
    independent, cos(t) S + sin(t) S' >= -z fails with at most Phi(-z) (Stouffer), S >= -w and S' >= -w with at most Phi(-w) each; t is
    fixed by the numbers of games. The extremum of the gap over this set is bounded on 64 slices of S. A twentieth of each probability is
    for the limits of rates and the boxes of `gap_bounds`, and 4% of the rest for the two events of w.

    Args:
        first: a played curve, thresholds fixed before the games.
        second: another, at any thresholds.
        kind: what is claimed, an entry of `BETWEEN_CURVES`: "ordering" (the first attack is no weaker), "upper_bound_on_power" (it is no stronger)
            or "equality".
        failure_probability: of either verdict, in (0, 1); by default the larger of the two curves' 1 - confidence.
        tolerance: how far, in probits, the claim may fail and still count as holding, > 0; declared before the games.
        least_rate: the range that a confirmation is about, in [0, 0.5); rarer rates can only refute.
        independent: whether the games of the two curves are independent of each other, as runs of different seeds are; two attacks on
            the same games are not.

    Raises:
        ValueError: on bad arguments, or if thresholds or numbers of games of a curve were not fixed before the games.

    Source: Berger, "Multiparameter hypothesis testing and acceptance sampling", Technometrics 24 (1982), for intersection-union tests;
        Stouffer et al. (1949); Clopper and Pearson (1934); Berger and Boos, JASA 89 (1994).

    Examples:
        >>> from mipsim.bands import EmpiricalTradeOff
        >>> def curve(mu, n=10**8):
        ...     t = np.linspace(-3.0, 5.0, 33)
        ...     x, y = n * ndtr(-t), n * ndtr(t - mu)
        ...     return EmpiricalTradeOff(t, x.round(), n, y.round(), n)
        >>> compare_curves(curve(2.0), curve(1.0)).verdict, compare_curves(curve(1.0), curve(2.0)).verdict
        ('CONFIRMED', 'REFUTED')
    """
    choice("kind", kind, tuple(BETWEEN_CURVES))
    for name, curve in (("first", first), ("second", second)):
        refuse_class(name, curve, "a played curve")
        if not hasattr(curve, "fixed_rates"):
            raise ValueError(f"{name} is {kind_of(curve)}; it must be a played curve")
    if failure_probability is None:
        failure_probability = max(1.0 - first.confidence, 1.0 - second.confidence)
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    rarest = number("least_rate", least_rate, 0.0, 0.5, high_open=True)
    if flag("independent", independent) and first is second:
        raise ValueError("independent is True, but both curves are of the same games; it must be False then")
    item, two = _Points.read(first), _Points.read(second)
    places = [_evenly(c.out.count.size, _TESTED) for c in (item, two)]
    weights = _angle(item, two) if independent else None
    levels = _levels(risk, weights)
    directions = 2.0 if kind == "equality" else 1.0
    testing = [_levels(risk / (directions * p.size), weights) for p in places]
    unit = _ASIDE * risk / 20.0
    aside = unit / max(p.size for p in places)
    low_steps = item.stronger_than(two, places[0], testing[0], aside)
    high_steps = -two.stronger_than(item, places[1], testing[1][::-1], aside)

    reach = -float(ndtri(max(rarest, 1e-12)))
    edges = np.linspace(-reach, reach, _CELLS + 1)
    bounds = {
        (c, lower): points.polygon(edges, levels[c], unit, lower=lower)
        for c, points in enumerate((item, two))
        for lower in (True, False)
    }
    with np.errstate(invalid="ignore"):
        low, high = (
            (bounds[0, True] - bounds[1, False]).min(axis=0),
            (bounds[0, False] - bounds[1, True]).max(axis=0),
        )
    nowhere = np.full(low_steps.size, np.inf), np.full(high_steps.size, -np.inf)
    low, high = np.concatenate([low_steps, nowhere[1], low]), np.concatenate([nowhere[0], high_steps, high])
    low, high = np.where(np.isnan(low), -np.inf, low), np.where(np.isnan(high), np.inf, high)
    seen = [points.out.rate[p] for points, p in zip((item, two), places, strict=True)]
    alpha = np.concatenate([*seen, ndtr(0.5 * (edges[1:] + edges[:-1]))])
    tested = np.arange(alpha.size) < alpha.size - _CELLS

    estimates, variance, covered = [], np.zeros(alpha.size), np.ones(alpha.size, dtype=bool)
    counted = tested.copy()
    for points in (item, two):
        beta, some = points.estimate(alpha)
        least, most = points.counted
        counted &= (least <= alpha) & (alpha <= most)
        covered &= some & (beta >= rarest) & (beta > 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            estimates.append(np.where(some, ndtri(beta), np.nan))
            variance += points.out.planned_variance(ndtri(alpha))
            variance += points.inside.planned_variance(ndtri(beta))
    used = np.concatenate(
        [np.zeros(alpha.size - _CELLS, dtype=bool), np.logical_and.accumulate(covered[~tested])]
    )
    with np.errstate(invalid="ignore"):
        estimate = estimates[1] - estimates[0]
        variance = np.where(np.isfinite(variance), variance, np.inf)
        width = np.fmax(high - estimate, estimate - low)
        nearer = np.maximum(np.fmin(high - estimate, estimate - low), 0.0)
        detectable = np.where(counted, nearer + float(ndtri(POWER)) * np.sqrt(variance), np.inf)
    return OrderingComparison(
        estimate=estimate,
        low=low,
        high=high,
        used=used,
        standard_error=np.sqrt(variance),
        half_width=width,
        detectable=np.where(np.isnan(detectable), np.inf, detectable),
        failure_probability=risk,
        tolerance=margin,
        claim=BETWEEN_CURVES[kind],
        alpha=alpha,
        tested=tested,
        independent=independent,
        kind=kind,
        games=min(rates.games for c in (item, two) for rates in (c.out, c.inside)),
    )


def _angle(first: _Points, second: _Points) -> float:
    """The angle whose cosine and sine are the shares of second independent curves in the error of their gap, by their numbers of games."""
    shares = [math.sqrt(1.0 / c.out.games + 1.0 / c.inside.games) for c in (first, second)]
    return float(np.clip(math.atan2(shares[1], shares[0]), _ANGLE, 0.5 * math.pi - _ANGLE))


def _levels(risk: float, angle: float | None) -> np.ndarray:
    """Levels (of the first curve, of the second), shape (2, slices): the gap is bounded by the farthest of the pairs.
    `risk`: of each end of a gap; `_ASIDE` of it is left for what else may fail; `angle`: of two independent curves; None
    if they may depend on each other.
    """
    rest = (1.0 - _ASIDE) * risk
    if angle is None:
        return np.full((2, 1), -float(ndtri(0.5 * rest)))
    cosine, sine = math.cos(angle), math.sin(angle)
    z, farthest = (-float(ndtri(share * rest)) for share in (1.0 - _TAILS, 0.5 * _TAILS))
    slices = np.linspace((z - sine * farthest) / cosine, farthest, _LEVELS + 1)
    return np.stack([slices[1:], (z - cosine * slices[:-1]) / sine])


def _evenly(total: int, most: int) -> np.ndarray:
    """Indices of at most so many of `total` thresholds, evenly spread, increasing."""
    return np.unique(np.linspace(0, total - 1, min(total, most)).astype(np.int64))


@dataclass(frozen=True)
class _Points:
    """FPRs and FNRs of a played curve in rising order of the FPR."""

    out: CountedRates
    inside: CountedRates

    @classmethod
    def read(cls, curve: FixedCurve) -> _Points:
        rates = curve.fixed_rates()
        chosen = _evenly(rates[0].count.size, THRESHOLDS_READ)[::-1]
        return cls(*(rate[chosen] for rate in rates))

    @cached_property
    def enough(self) -> np.ndarray:
        """Which thresholds have counts enough."""
        return np.minimum(self.out.rarest_cell, self.inside.rarest_cell) >= LEAST_COUNT

    @property
    def counted(self) -> tuple[float, float]:
        """Least and largest observed FPR of a threshold with counts enough; (inf, -inf) if there is none."""
        alpha = self.out.rate[self.enough]
        return alpha.min(initial=math.inf), alpha.max(initial=-math.inf)

    def estimate(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The FNR of the polygon through thresholds with counts enough, and whether it exists; each of the shape of alpha."""
        a, b = (
            np.concatenate([[0.0], self.out.rate[self.enough], [1.0]]),
            np.concatenate([[1.0], self.inside.rate[self.enough], [0.0]]),
        )
        return np.interp(alpha, a, b), np.full(alpha.size, bool(self.enough.any()))

    def limits(self, unit: float) -> tuple[np.ndarray, np.ndarray]:
        """Limits of Phi^-1(FPR), each of which fails with probability `unit`, with those of (0, 1) and (1, 0) at the ends."""
        left, right = (np.concatenate([[-np.inf], ndtri(end), [np.inf]]) for end in self.out.limits(unit))
        return left, right

    def ends(self, levels: np.ndarray, unit: float, *, lower: bool, corners: bool = False) -> np.ndarray:
        """An end of the local mu of each threshold, or of the corner below each two neighbours, at these levels."""
        rates = (self.out[:-1], self.inside[1:]) if corners else (self.out, self.inside)
        if not rates[0].count.size:
            return np.empty((levels.size, 0))
        return gap_end(
            *rates, GaussianTradeOff(0.0), levels, -float(ndtri(unit)), lower=lower, cells=_FINENESS
        )

    def stronger_than(
        self, other: _Points, places: np.ndarray, levels: np.ndarray, unit: float
    ) -> np.ndarray:
        """How much stronger the curve is at some of its thresholds than the steps of another admit, in probits.
        `other`: the curve of steps; `places`: the thresholds that are tested; `levels`: (of this curve, of the other);
        `unit`: the failure probability of each limit.
        """
        own = _Points(self.out[places], self.inside[places])
        nearest, farthest = (end[1:-1] for end in own.limits(unit))
        left, right = other.limits(unit)
        begin = np.searchsorted(right, nearest, side="right") - 1
        stop = np.minimum(np.searchsorted(left, farthest, side="right"), left.size - 1)
        lowest = np.concatenate([other.inside.limits(unit)[0], [0.0]])  # of b_(j+1)
        highest = own.inside.limits(unit)[1]
        begin = np.minimum(np.maximum(begin, np.searchsorted(-lowest, -highest, side="left")), stop - 1)
        weakest = own.ends(levels[0], unit, lower=True)
        inner = other.ends(levels[1], unit, lower=False, corners=True)
        border = np.full((levels.shape[1], 1), np.inf)
        corners = np.concatenate([border, inner, border], axis=1)
        most = np.stack([corners[:, i:j].max(axis=1) for i, j in zip(begin, stop, strict=True)], axis=1)
        with np.errstate(invalid="ignore"):
            gap = (weakest - most).min(axis=0)
        return np.where(np.isnan(gap), -np.inf, gap)

    def polygon(self, edges: np.ndarray, levels: np.ndarray, unit: float, *, lower: bool) -> np.ndarray:
        """A bound of the polygon's local mu over each cell of FPRs, shape (levels, cells).
        `edges`: of the cells, as Phi^-1(FPR), increasing, shape (cells + 1,); `levels`: of the ends of the local mu;
        `unit`: the failure probability of each limit of a box or an FPR; `lower`: whether a lower bound is wanted, else
        an upper.
        """
        sign = 1.0 if lower else -1.0
        nothing = np.full((levels.size, 1), np.inf)  # (0, 1) and (1, 0) lie on the curve of every mu
        ends = np.concatenate([nothing, sign * self.ends(levels, unit, lower=lower), nothing], axis=1)
        left, right = self.limits(unit)
        begin = np.searchsorted(right, edges[:-1], side="right") - 1
        stop = np.searchsorted(left, edges[1:], side="left")
        bound = sign * np.stack(
            [ends[:, i : j + 1].min(axis=1) for i, j in zip(begin, stop, strict=True)], axis=1
        )
        bound = np.where(np.isfinite(bound), bound, -sign * np.inf)
        z = edges[:-1, None] + np.diff(edges)[:, None] * np.linspace(0.0, 1.0, _PARTS + 1)
        near, far = (z[:, :-1], z[:, 1:]) if lower else (z[:, 1:], z[:, :-1])
        with np.errstate(invalid="ignore"):
            a0, a1 = ndtr(left[begin])[:, None], ndtr(right[stop])[:, None]
            b0, b1 = ndtr(-left[begin] - bound)[..., None], ndtr(-right[stop] - bound)[..., None]
            chord = b0 + (b1 - b0) * (ndtr(near) - a0) / (a1 - a0)
            bent = sign * (sign * (-far - ndtri(chord))).min(axis=2)
        curved = (sign * bound > 0.0) & np.isfinite(bound)
        return np.where(curved, bent, bound)
