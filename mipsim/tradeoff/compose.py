"""The composition of trade-off functions: all mechanisms run on the same data, all outputs are seen."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import field
from typing import Any

import numpy as np

from mipsim._budget import noted, spent
from mipsim._printed import ceiling, enough, floor
from mipsim._validation import number, whole
from mipsim._words import kind_of
from mipsim.tradeoff.any_step import any_step_tests, epsilon_of, log_delta_of
from mipsim.tradeoff.approx_dp import ApproxDPTradeOff
from mipsim.tradeoff.base import AbstractTradeOff, answered, checked_curves, rates
from mipsim.tradeoff.bounds import (
    EPS,
    CurveBounds,
    completed,
    log_complement,
    log_difference,
    lowered,
    raised,
)
from mipsim.tradeoff.convex_hull import ConvexHullTradeOff, convex_hull
from mipsim.tradeoff.enclosing import enclosing_laws
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_mixture import GaussianMixtureTradeOff
from mipsim.tradeoff.inverse import InverseTradeOff
from mipsim.tradeoff.laplace import LaplaceTradeOff
from mipsim.tradeoff.loss_moments import epsilon_by_moments
from mipsim.tradeoff.loss_plan import ROUGH
from mipsim.tradeoff.loss_sum import LossSum
from mipsim.tradeoff.mixture import MixtureTradeOff
from mipsim.tradeoff.polygons import SummedLosses, as_polygon, exact_power, product
from mipsim.tradeoff.sampled import SampledTradeOff
from mipsim.tradeoff.step_laws import (
    AbstractStepLaw,
    MixedGaussian,
    MixedGaussians,
    MixedLaplace,
    Polygons,
    ReversedStep,
    Symmetrized,
)
from mipsim.tradeoff.sure_mass import SureMass, of_any

Pairs = list[tuple[AbstractTradeOff, int]]
Known = dict[int, tuple[AbstractTradeOff, AbstractStepLaw]]
"""Distributions of losses by the curve that they are of, which is held here so that no other takes its place."""
ACCURACY, EPSILON_ACCURACY = 1e-6, 1e-4
MOST_STEPS = 10**9
_RATES = 10.0  # times the accuracy of delta is that of an FNR or a TPR, relative
_RATE_PLACES = 1 << 20  # places of a lattice for rates: a fifth of a second for each stretch of them
_LEAST_LOG = math.log(1e-300)
_AT_THE_END = 1e-9  # of the largest loss, relative: there delta is below 1e-8, and no lattice is used
_SAMPLES = 1 << 15  # of a curve that is neither a polygon nor known by name
_EXACT = 1e-9  # relative error up to which a polygon counts as exact
_WAYS = {"forward": (False,), "inverse": (True,), "both": (False, True)}  # whether the worlds are exchanged
_DIGITS = 27.0  # e-folds below a sure mass at which bounds of delta still tell the rest
_SLACK = 1e-12  # relative: rounding of the logarithms of priors and slopes
_RARELY = -30.0  # logarithm of a sum of deltas up to which it is what any of them reveals, to rounding
_NEARER = {"epsilon": "a larger delta", "delta": "a smaller epsilon"}
# about a guess a root is looked for
_AROUND = np.concatenate([-(2.0 ** np.arange(28.0)), [0.0], 2.0 ** np.arange(28.0)])
_NEXT = 5e-3  # of the width that is aimed at: how far beyond a root its end may lie
_WIDE = 1.1  # ratio of the ends of an epsilon up to which moments, whose ends are farther apart, take time for nothing
_FIRST = 0.9  # of the width that is aimed at: what a first lattice is planned for
_UNSEEN = 1e-25  # rates whose samples are few


class ComposedTradeOff(AbstractTradeOff):
    """The curve of several mechanisms together, refined at each requested point until its bounds agree.

    Attributes:
        curves: of the single mechanisms.
        copies: how often each takes part.
        direction: "forward", "inverse" (the worlds exchanged), or "both" (the worse of the two at each delta or epsilon).
        accuracy: relative width of delta that is aimed at.
        epsilon_accuracy: width of epsilon that is aimed at; of an epsilon above 10 that times epsilon / 10.

    Examples:
        >>> from mipsim.tradeoff import LaplaceTradeOff
        >>> ten = compose(LaplaceTradeOff(0.1), copies=10)
        >>> low, high = ten.delta_bounds(0.5)
        >>> round(high, 6), (high - low) / high < 1e-6
        (0.008938, True)
    """

    curves: tuple[AbstractTradeOff, ...]
    copies: tuple[int, ...]
    direction: str
    accuracy: float
    epsilon_accuracy: float
    losses: LossSum = field(repr=False)
    rates: LossSum = field(repr=False)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        if self.rates.is_shared:
            return self._alone(np.size(log_fpr)).enclosure(log_fpr)
        flat = np.asarray(log_fpr, np.float64).ravel()
        log_tnr = log_complement(flat)
        if self.direction == "both":
            bounds = self._worse_curve(flat, log_tnr)
        else:
            result, _ = self.rates.curve(flat, log_tnr, _RATES * self.accuracy, self.direction == "inverse")
            bounds = CurveBounds(*result)
        # No ratio of rates is beyond the largest losses.
        most, back = self.largest_loss_bounds()[1], self.inverse_loss_bounds()[1]
        with np.errstate(invalid="ignore"):
            tpr_high = np.fmin(bounds.log_tpr_high, raised(flat + most, 16.0))
            fnr_low = np.fmax(bounds.log_fnr_low, lowered(log_tnr - back, 16.0))
        bounds = bounds._replace(log_tpr_high=tpr_high, log_fnr_low=fnr_low)
        return CurveBounds(*(x.reshape(np.shape(log_fpr)) for x in completed(bounds, flat, log_tnr)))

    def _worse_curve(self, log_fpr: np.ndarray, log_tnr: np.ndarray) -> CurveBounds:
        """The hull of both directions: below it the lines of slopes at which both deltas are known."""
        ways = [
            self.rates.curve(log_fpr, log_tnr, _RATES * self.accuracy, turned)[0] for turned in (False, True)
        ]
        fnr_high = np.minimum(ways[0][1], ways[1][1])
        tpr_low = np.maximum(ways[0][2], ways[1][2])
        low, high = np.full(log_fpr.shape, -np.inf), np.zeros(log_fpr.shape)
        start = np.isneginf(log_fpr)  # there the hull is the lower of both
        low[start] = np.minimum(ways[0][0], ways[1][0])[start]
        # At the slope -1 the two change places.
        slopes = [self.rates.slopes(log_fpr, log_tnr, turned) for turned in (False, True)]
        for slope in (*slopes, np.zeros(log_fpr.shape)):
            seen = np.isfinite(slope) & np.isfinite(log_fpr) & np.isfinite(log_tnr)
            where = slope[seen]
            known = self._both_sticks(self.rates, where, 100.0 * self.accuracy)
            with np.errstate(invalid="ignore", divide="ignore"):
                tpr = np.logaddexp(known[0], where + log_fpr[seen])
                gap = where + log_fpr[seen] - known[1]
                fnr = np.where(gap < 0.0, known[1] + log_complement(np.minimum(gap, 0.0)), -np.inf)
                gap = known[2] - where - log_tnr[seen]
                other = np.where(
                    gap < 0.0, where + log_tnr[seen] + log_complement(np.minimum(gap, 0.0)), -np.inf
                )
            high[seen] = np.fmin(high[seen], raised(tpr, 16.0))
            low[seen] = np.fmax(low[seen], lowered(np.fmax(fnr, other), 64.0))
        # Between the points of slope -1 of both directions the hull is their chord.
        corner = self.rates.corner()
        if corner is not None:
            first, last = sorted(corner)
            total = corner[0] + corner[1]
            with np.errstate(over="ignore"):
                fpr = np.exp(log_fpr)
            between = (fpr > first) & (fpr < last)
            chord = np.log(np.maximum(total - fpr, 1e-300)) + 1e-14
            fnr_high = np.where(between, np.minimum(fnr_high, chord), fnr_high)
        return CurveBounds(low, fnr_high, tpr_low, high).tightened()

    def _both_sticks(
        self, losses: LossSum, at: np.ndarray, accuracy: float
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Upper bounds of log delta of the worse direction, lower ones of log (1 - delta), upper ones of log (delta - 1 + e^loss)."""
        item, _ = losses.sticks(at, accuracy, "delta")
        result = item[1].copy(), item[2].copy(), item[5].copy()
        # The other direction at the loss l: its delta is e^l times `other` at -l, its complement e^l times `rest` there. Beyond its largest
        # loss it reveals nothing; where its delta is surely the lower, it changes none of the three.
        near = at < self._in_direction("inverse").largest_loss_bounds()[1]
        for wanted in (math.inf, max(accuracy, ROUGH), accuracy):
            if not near.any():
                return result
            two, _ = losses.sticks(-at[near], wanted, "other")
            ahead = ~(two[5] + at[near] <= item[0][near])
            two, near[near] = [end[ahead] for end in two], ahead
        for known, end, better in zip(result, (5, 2, 1), (np.maximum, np.minimum, np.maximum), strict=True):
            known[near] = better(known[near], two[end] + at[near])  # pyright: ignore[reportPossiblyUnboundVariable]
        return result

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        if self.direction == "both":
            return self
        return self._in_direction("inverse" if self.direction == "forward" else "forward")

    def at_accuracy(self, accuracy: float, epsilon_accuracy: float | None = None) -> ComposedTradeOff:
        """The same with another accuracy, by default a hundredfold for epsilon; it shares what has been computed.

        Examples:
            >>> from mipsim.tradeoff import LaplaceTradeOff
            >>> compose(LaplaceTradeOff(0.1), copies=10).at_accuracy(1e-3).accuracy
            0.001
        """
        own = 100.0 * accuracy if epsilon_accuracy is None else epsilon_accuracy
        return ComposedTradeOff(
            self.curves, self.copies, self.direction, accuracy, own, self.losses, self.rates
        )

    def _sparing(self, share: float) -> ComposedTradeOff:
        """The same curve, with that share of the budget of each question: of many questions all together have an end."""
        parts = self.curves, self.copies, self.direction, self.accuracy, self.epsilon_accuracy
        return ComposedTradeOff(*parts, self.losses.sparing(share), self.rates.sparing(share))

    def _alone(self, values: int = 1) -> ComposedTradeOff:
        """The same curve for a single question of so many values."""
        parts = self.curves, self.copies, self.direction, self.accuracy, self.epsilon_accuracy
        return ComposedTradeOff(*parts, self.losses.alone(values), self.rates.alone(values))

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        ahead, back = self.losses.sure_masses
        if self.direction == "both":
            return max(ahead[0], back[0]), max(ahead[1], back[1])
        return ahead if inside == (self.direction == "forward") else back

    def symmetrized(self) -> AbstractTradeOff:
        """Of both directions the worse: the hull of the curve and its inverse.

        Examples:
            >>> from mipsim.tradeoff import MixtureTradeOff
            >>> three = compose(MixtureTradeOff(GaussianTradeOff(1.0), 0.5), copies=3)
            >>> three.symmetrized().delta(1.0) == max(three.delta(1.0), three.inverse().delta(1.0))
            True
        """
        return self._in_direction("both")

    def _one_way(self) -> AbstractTradeOff | None:
        return self._in_direction("forward") if self.direction == "both" else None

    def _in_direction(self, direction: str) -> ComposedTradeOff:
        return ComposedTradeOff(
            self.curves, self.copies, direction, self.accuracy, self.epsilon_accuracy, self.losses, self.rates
        )

    def largest_loss_bounds(self) -> tuple[float, float]:
        ahead = [curve.largest_loss_bounds() for curve in self.curves]
        back = [curve.inverse_loss_bounds() for curve in self.curves]
        sums = [
            tuple(sum(n * pair[k] for n, pair in zip(self.copies, ends, strict=True)) for k in (0, 1))
            for ends in (ahead, back)
        ]
        if self.direction == "both":
            return max(sums[0][0], sums[1][0]), max(sums[0][1], sums[1][1])
        low, high = sums[self.direction == "inverse"]
        return low * (1.0 - 1e-14), high * (1.0 + 1e-14)

    def mu_ceiling(self) -> float:
        return math.sqrt(
            sum(n * curve.mu_ceiling() ** 2 for n, curve in zip(self.copies, self.curves, strict=True))
        )

    def least_mu_bounds(self) -> tuple[float, float]:
        """Of Gaussian steps, sub-sampled or mixed, that of full ones is enough, and mostly needed.

        At the rarest FPRs the TPR is at least that of steps with the largest shift times the probability that all have it, which shifts no
        probit there. So steps of which each is sub-sampled, in the same direction, need as much as full ones.
        """
        laws = self.losses.laws
        if all(law.is_gaussian for law, _ in laws):
            needed = (math.sqrt(math.fsum(n * law.needed[k] ** 2 for law, n in laws)) for k in (0, 1))
            return max(needed) * (1.0 - 1e-14), self.mu_ceiling() * (1.0 + 1e-14)
        return super().least_mu_bounds()

    def bayes_risk_bounds(self, prior: object) -> tuple[Any, Any]:
        wanted = rates("prior", prior)
        if self.losses.is_shared:
            return self._alone(wanted.size).bayes_risk_bounds(prior)
        flat = wanted.ravel()
        blind = np.minimum(flat, 1.0 - flat)
        ends = [blind.copy(), blind.copy()]
        every = np.clip(flat, 1e-300, 1.0 - 1e-16)
        slopes = np.log1p(-every) - np.log(every)
        # Beyond the largest losses no test is better than a guess.
        some = (slopes < self.largest_loss_bounds()[1]) & (-slopes < self.inverse_loss_bounds()[1])
        if some.any():
            p, slope, risks = every[some], slopes[some], []
            for turned in _WAYS[self.direction]:
                result, _ = self.losses.sticks(-slope if turned else slope, self.accuracy, "rest")
                # The error of the slope itself moves the risk by as much, relatively.
                risks.append([result[k] + (np.log1p(-p) if turned else np.log(p)) for k in (2, 3)])
            low, high = (np.exp(np.min([risk[k] for risk in risks], axis=0)) for k in (0, 1))
            # As a concave function of the prior, the risk of a lesser prior is at least that share of the risk at p.
            low *= np.minimum(flat[some] / p, 1.0)
            ends[0][some] = np.minimum(low * (1.0 - _SLACK), blind[some])
            ends[1][some] = np.minimum(high * (1.0 + _SLACK), blind[some])
        return answered(prior, tuple(end.reshape(wanted.shape) for end in ends))  # pyright: ignore[reportArgumentType]

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._alone(np.size(epsilon))._bounded(epsilon, self.accuracy, "delta")

    def _bounded(
        self, epsilon: np.ndarray, accuracy: float, what: str | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log delta; `what` is named where they are wider than they should be."""
        ways = _WAYS[self.direction]
        flat = np.asarray(epsilon, np.float64).ravel()
        ends = [self._directed(flat, accuracy, ways[0], at_zero=what is not None)]
        if len(ways) > 1:
            # Mostly the first is the worse direction: of the other a rough bound will do. At 0 both are equal.
            low, high = np.full(flat.shape, -np.inf), np.full(flat.shape, -np.inf)
            near = (flat > 0.0) & (self.losses.rough_other(flat, ends[0][0]) > ends[0][0])
            if near.any():
                low[near], high[near] = self._directed(flat[near], max(accuracy, ROUGH), True)
            if (worse := high > ends[0][0]).any():
                low[worse], high[worse] = self._directed(flat[worse], accuracy, True)
            ends.append((low, high))
        low, high = (np.max([end[k] for end in ends], axis=0) for k in (0, 1))
        if what is not None:
            with np.errstate(invalid="ignore"):
                # Of what no float64 is, or lies at the largest loss, the upper end says enough.
                end = self.largest_loss_bounds()[1] * (1.0 - _AT_THE_END)
                enough = np.isneginf(low) & ((high < _LEAST_LOG) | (flat >= end))
                width = np.where(enough | np.isneginf(high), 0.0, high - low)
            if (wide := ~(width <= 1.001 * accuracy)).any():
                least = [log_delta_of(tests, flat[wide]) for tests in self._any_step(ways)]
                high[wide] = np.minimum(high[wide], self._sum_of_deltas(flat[wide], ways))
                low[wide] = np.minimum(np.maximum(low[wide], np.max(least, axis=0)), high[wide])
                width[wide] = high[wide] - low[wide]
            self._warn(what, float(width.max(initial=0.0)), accuracy)
        return low.reshape(np.shape(epsilon)), high.reshape(np.shape(epsilon))

    def _any_step(self, ways: tuple[bool, ...]) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each kind of step and each direction the tests that reject where any of its copies does."""
        return [any_step_tests(curve, count) for turned in ways for curve, count in self._steps(turned)]

    def _steps(self, turned: bool) -> list[tuple[AbstractTradeOff, int]]:
        """The curves of a direction, each with its number of copies."""
        curves = [curve.inverse() if turned else curve for curve in self.curves]
        return list(zip(curves, self.copies, strict=True))

    def _sum_of_deltas(self, epsilon: np.ndarray, ways: tuple[bool, ...]) -> np.ndarray:
        """An upper bound of log delta: all steps have an equal share of epsilon, and none reveals all but with 1 - prod (1 - delta_i).

        Source: Kairouz, Oh, Viswanath (2015), theorem 3.3, and its section 3.1 for the pair that dominates a step.
        """
        share, logs = epsilon / sum(self.copies) * (1.0 - 4.0 * EPS), []
        for turned in ways:
            deltas = [(n, curve._log_delta(share)[1]) for curve, n in self._steps(turned)]
            total = np.logaddexp.reduce([math.log(n) + delta for n, delta in deltas])
            none = np.sum([n * log_complement(np.minimum(delta, 0.0)) for n, delta in deltas], axis=0)
            none *= 1.0 + (32.0 + len(deltas)) * EPS
            logs.append(np.where(total > _RARELY, np.minimum(total, log_complement(none)), total))
        return raised(np.max(logs, axis=0), 16.0)

    def _directed(
        self, epsilon: np.ndarray, accuracy: float, turned: bool, *, at_zero: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """`at_zero`: whether 0 is looked at by itself, which leaves nothing for a root nearby."""
        _, most = self._in_direction("inverse" if turned else "forward").largest_loss_bounds()
        low, high = np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
        # A loss L is at most that: delta = E (1 - e^(epsilon - L))_+ is hardly above 0 next to it.
        some = epsilon < most * (1.0 - _AT_THE_END)
        with np.errstate(divide="ignore"):
            high[~some] = np.log(-np.expm1(np.minimum(epsilon[~some] - most, 0.0)))
        # Beyond the largest finite loss, rounded up, nothing is left but what is sure.
        finite = sum(
            n * (step.at_epsilon if isinstance(step, ApproxDPTradeOff) else step.largest_loss_bounds()[1])
            for step, n in self._steps(turned)
        )
        only = some & (epsilon > finite * (1.0 + _AT_THE_END))
        low[only], high[only] = self.losses.sure[turned]
        some &= ~only
        if (zero := (epsilon == 0.0) & at_zero).any():
            low[zero], high[zero] = self.losses.at_zero(accuracy)
        if (some := some & ~zero).any():
            low[some], high[some] = self.losses.log_delta(epsilon[some], accuracy, turned)
        return low, high

    def _warn(self, what: str, width: float, accuracy: float) -> None:
        if spent():
            noted(what, (0.0, width), accuracy)
        elif not width <= 1.001 * accuracy:
            digits = enough(width, accuracy, 1)
            warnings.warn(
                f"{what} is known to {ceiling(width, digits)} only, not to {floor(accuracy, digits)}, on {self.losses.places:,} places; both "
                f"bounds hold, and are nearer at {_NEARER[what]}, with more noise or fewer steps",
                stacklevel=6,
            )

    def _epsilon(self, log_delta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = np.asarray(log_delta, np.float64).ravel().tolist()
        groups: dict[str, list[float]] = {}  # a delta comes rounded up and down: both are the same question
        for log in flat:
            groups.setdefault(f"{log:.12g}", []).append(log)
        known = {name: self._alone()._epsilon_at(max(logs), min(logs)) for name, logs in groups.items()}
        roots = [known[f"{log:.12g}"] for log in flat]
        ends = np.array(roots).reshape(-1, 2).T
        low, high = (end.reshape(np.shape(log_delta)) for end in ends)
        wide = ends[:, ends[0] < ends[1]].T.tolist()
        if wide:
            least, most = max(wide, key=lambda pair: (pair[1] - pair[0]) / self._aim(pair[0]))
            self._warn("epsilon", most - least, self._aim(least))
        return low, high

    def _aim(self, epsilon: float) -> float:
        """The width at which an epsilon is narrow."""
        return self.epsilon_accuracy * max(1.0, epsilon / 10.0)

    def _epsilon_at(self, log_delta: float, least: float) -> tuple[float, float]:
        """Bounds of the epsilons of all deltas from e^least to e^log_delta, which hardly differ: the roots of both bounds of delta,
        refined where they end up.
        """
        if least >= 0.0:
            return 0.0, 0.0
        if log_delta == -math.inf:
            return self.largest_loss_bounds()
        # A sure mass stays at every epsilon: what is looked for is where the rest has fallen to what is left of delta.
        with np.errstate(divide="ignore"):
            sure = float(np.log(self._sure_mass()[0]))
        if log_delta < lowered(sure, 2.0):
            return math.inf, math.inf
        left = float(log_difference(np.asarray(log_delta), np.asarray(min(sure, log_delta))))
        at, slope, off = self.losses.epsilon_guess(
            max(left, sure - _DIGITS) if sure > -math.inf else log_delta
        )
        _, most = self.largest_loss_bounds()
        at, accuracy, step = min(max(at, 0.0), most), max(_FIRST * self._aim(at) * slope, 1e-10), 1.0
        low, high, best, stalled = 0.0, math.inf, (0.0, math.inf), 0
        for turn in range(24):
            if (turn == 0 and not off) or (turn == 1 and not abs(0.5 * (low + high) - at) < off):
                at, accuracy = self._nearby(log_delta, at, slope, most), 0.5
            at = min(max(at, 0.0), most)
            self._bounded(np.array([at]), accuracy, None)
            low, high = self._roots(log_delta, least, at)
            aim = self._aim(low)
            if high - low <= aim or accuracy < 1e-10 or spent():
                break
            narrower = math.isfinite(high) and not high - low > 0.9 * (best[1] - best[0])
            stalled = 0 if narrower else stalled + 1
            if stalled > 4:
                break  # a finer grid does not help any more, such as very close below the largest loss
            best = max(low, best[0]), min(high, best[1])
            if math.isfinite(high):
                shift, at = abs(0.5 * (low + high) - at), 0.5 * (low + high)
                if shift < 0.1 * aim or accuracy == 0.5:
                    slope = self._steepness(at)
                    accuracy = min(0.3 * accuracy, max(0.5 * aim * slope, 1e-10))
            elif at < most:
                at, step = max(at, low) + step, 2.0 * step
            else:
                break
        low, high = max(low, best[0]), min(high, best[1], most)
        if high - low > self._aim(low):
            ways = _WAYS[self.direction]
            low = max(low, *(epsilon_of(tests, log_delta) for tests in self._any_step(ways)))
            if high > _WIDE * low:
                moments = [epsilon_by_moments(self.losses.directed(turned), least) for turned in ways]
                low = max(low, *(end for end, _ in moments))
                high = min(high, max(end for _, end in moments))
            high = max(high, low)
        return low, high

    def _nearby(self, log_delta: float, at: float, slope: float, most: float) -> float:
        """An epsilon at which delta is about this, from a first guess and a slope of -log delta there, on coarse bounds."""
        low, high, factor = 0.0, most, 1.0
        for _ in range(60):
            first, last = (float(end[0]) for end in self._bounded(np.array([at]), 0.5, None))
            if last <= log_delta:
                high = at
            elif first > log_delta:
                low = at
            else:
                return at
            if high - low <= 1e-3 * max(1.0, low):
                return high
            # Bounds far beyond the place may cost much more than near it.
            step = min(factor * (last - log_delta) / slope, at + 1.0)
            near = abs(step) < 0.5 * (high - low) and low < at + step < high
            at, factor = (at + step, 2.0 * factor) if near else (0.5 * (low + high), factor)
        return at

    def _steepness(self, at: float) -> float:
        """About the slope of -log delta."""
        step = 1e-3 * max(1.0, at)
        ends = [float(self._known(np.array([x]))[1][0]) for x in (at, at + step)]
        slope = (ends[0] - ends[1]) / step
        return slope if math.isfinite(slope) and slope > 1e-6 else 1.0

    def _known(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log delta by what has been computed."""
        return self._bounded(epsilon, math.inf, None)

    def _roots(self, log_delta: float, least: float, near: float) -> tuple[float, float]:
        """Where the bounds of log delta fall to two values: a loss at which the lower is above `log_delta`, or 0, and a loss at which the
        upper is not above `least`.
        """
        low, high, scale, roots, ends = 0.0, math.inf, 1e-3 * max(1.0, near), [near], [0.0, math.inf]
        for _ in range(40):
            places = np.append(ends, np.add.outer(roots, scale * _AROUND))
            places = np.unique(places[(places >= min(ends)) & (places <= max(ends)) & (places < math.inf)])
            first, last = self._known(places)  # many at a time take hardly longer than a single loss
            k = int(np.flatnonzero(first > log_delta).max(initial=-1))
            n = int(np.append(np.flatnonzero(last <= least), places.size)[0])
            low, high = max([low, *places[k : k + 1]]), min([high, *places[n : n + 1]])
            scale, roots, ends = _NEXT * self._aim(low), [], []
            for at, bound, level in ((k, first, log_delta), (n - 1, last, least)):
                bracket = places[max(at, 0) : at + 2].tolist()
                ends += bracket
                if len(bracket) == 2 and bracket[1] - bracket[0] > max(1.01 * scale, 1e-15 * bracket[1]):
                    with np.errstate(invalid="ignore"):  # of infinite bounds
                        share = (bound[at] - level) / (bound[at] - bound[at + 1])
                    roots.append(float(np.interp(share if 0.0 < share < 1.0 else 0.5, [0.0, 1.0], bracket)))
            if not roots:
                break
        return low, high


def compose(
    *curves: AbstractTradeOff,
    copies: int | Sequence[int] = 1,
    accuracy: float = ACCURACY,
    epsilon_accuracy: float = EPSILON_ACCURACY,
) -> AbstractTradeOff:
    """The trade-off function of the product of the mechanisms behind the curves, f_1 (x) f_2 (x) ...

    Of curves that are the worse of two directions (`symmetrized`, `subsampled`, `dpsgd`) the directions are composed apart,
    and the worse is taken of the results: the mechanisms see the same two neighbours.

    Gaussian curves compose in closed form, G_mu with mu^2 = sum mu_i^2; polygons with few distinct losses (such as
    (epsilon, delta)) atom by atom. All else is the distribution of a sum of privacy losses, between two distributions on a lattice, which is
    refined at each request until the bounds agree; both worlds are stored, so that the inverse is as narrow.

    Args:
        *curves: at least 1, convex; they need not be symmetric.
        copies: how often each is composed, a number for all or a number for each, from 1 to 10^9.
        accuracy: relative width of delta at which refining ends, in [1e-9, 0.1].
        epsilon_accuracy: width of epsilon at which it ends, in [1e-7, 1]; of an epsilon above 10 that times epsilon / 10.

    Returns:
        A `GaussianTradeOff`, a `SampledTradeOff` (exact but for rounding), or a `ComposedTradeOff`. A width that its lattice
        does not allow, or the budget of a question (some ten seconds of a core), is warned of; the bounds hold all the same.

    Source: Dong, Roth and Su (2022), definition 3.1, corollary 3.3; Doroshenko et al. (2022), "Connect the dots".

    Examples:
        >>> from mipsim.tradeoff import ApproxDPTradeOff, LaplaceTradeOff
        >>> compose(GaussianTradeOff(3.0), GaussianTradeOff(4.0))
        GaussianTradeOff(mu=5.0)
        >>> ten = compose(LaplaceTradeOff(0.1), copies=10)
        >>> [round(bound, 6) for bound in ten.advantage_bounds()]
        [0.122131, 0.122131]
    """
    checked_curves(curves)
    counts = _counts(copies, len(curves))
    relative = number("accuracy", accuracy, 1e-9, 0.1)
    absolute = number("epsilon_accuracy", epsilon_accuracy, 1e-7, 1.0)
    for curve in curves:
        if not curve.is_convex():
            raise ValueError(
                f"curves holds {kind_of(curve)}, which is not known to be convex; compose its `convexified()`"
            )
    return _composed(list(zip(curves, counts, strict=True)), (relative, absolute), {})


def _composed(pairs: Pairs, accuracies: tuple[float, float], known: Known) -> AbstractTradeOff:
    """`compose` of what is right; `known` gains the distributions between polygons, which cost much."""
    ways = [curve._one_way() for curve, _ in pairs]
    if any(way is not None for way in ways):
        return pairs[0][0] if pairs[0][1] == len(pairs) == 1 else _both_ways(pairs, ways, accuracies, known)
    pairs = _without_blind(_gaussians_together(_flat(pairs)))
    if len(pairs) == 1 and (pairs[0][1] == 1 or isinstance(pairs[0][0], GaussianTradeOff)):
        curve, count = pairs[0]
        return GaussianTradeOff.of_squares([(curve, count)]) if isinstance(curve, GaussianTradeOff) else curve
    for curve, _ in pairs:
        if (corners := as_polygon(curve)) is not None and corners.corners[0] == 0.0:
            return curve  # it tells all
    ahead, back = (
        of_any((curve._sure_mass(inside=inside), count) for curve, count in pairs) for inside in (True, False)
    )
    if (exact := _exactly(pairs, (ahead, back))) is not None:
        return exact
    laws = [(step_law(curve, known), count) for curve, count in pairs]
    return ComposedTradeOff(
        tuple(curve for curve, _ in pairs),
        tuple(count for _, count in pairs),
        "forward",
        *accuracies,
        LossSum(laws, (ahead, back)),
        LossSum(laws, (ahead, back), _RATE_PLACES),
    )


def _both_ways(
    pairs: Pairs, ways: list[AbstractTradeOff | None], accuracies: tuple[float, float], known: Known
) -> AbstractTradeOff:
    """The worse of two compositions, each of a single direction of the curves that stand for two; `ways`: the first of each."""

    def together(turned: bool) -> AbstractTradeOff:
        parts = [
            (curve if way is None else way.inverse() if turned else way, count)
            for (curve, count), way in zip(pairs, ways, strict=True)
        ]
        return _composed(parts, accuracies, known)

    if all(way is not None or curve.inverse() is curve for (curve, _), way in zip(pairs, ways, strict=True)):
        return together(False).symmetrized()
    return convex_hull(together(False), together(True))


def _flat(pairs: Pairs) -> Pairs:
    """Compositions taken apart, and mixtures of which all or nothing takes part."""
    built: Pairs = []
    for curve, count in pairs:
        if isinstance(curve, GaussianMixtureTradeOff) and (same := curve.simplest()) is not curve:
            built += _flat([(same, count)])
        elif isinstance(curve, MixtureTradeOff) and curve.sampling_rate in (0.0, 1.0):
            built += _flat([(curve.inner if curve.sampling_rate else GaussianTradeOff(0.0), count)])
        elif isinstance(curve, ComposedTradeOff):
            parts = curve.curves if curve.direction == "forward" else [c.inverse() for c in curve.curves]
            built += [(part, count * n) for part, n in zip(parts, curve.copies, strict=True)]
        else:
            built.append((curve, count))
    return _counted(built)


def _is_same(first: AbstractTradeOff, second: AbstractTradeOff) -> bool:
    """Whether two curves are equal; of a user's class only where they are the same object, since its fields may not tell."""
    ours = (
        type(first) is type(second) and type(first).__module__.partition(".")[0] == __name__.partition(".")[0]
    )
    return first is second or (ours and first == second)


def _counted(pairs: Pairs) -> Pairs:
    """Equal curves as copies of a single curve."""
    built: Pairs = []
    for curve, count in pairs:
        at = next((k for k, (other, _) in enumerate(built) if _is_same(other, curve)), None)
        if at is None:
            built.append((curve, count))
        else:
            built[at] = built[at][0], built[at][1] + count
    return built


def step_law(curve: AbstractTradeOff, known: Known) -> AbstractStepLaw:
    """The distribution of the privacy loss of a convex curve: in closed form if that is known, else between polygons, each curve's once."""
    if isinstance(curve, InverseTradeOff):
        return ReversedStep(step_law(curve.inner, known))
    if (
        isinstance(curve, ConvexHullTradeOff)
        and curve.symmetric
        and isinstance(curve.curves[0], MixtureTradeOff)
        and curve.curves[0].sampling_rate < 1.0
    ):
        ahead = step_law(curve.curves[0], known)
        # of others no cells that end at the loss 0 are known
        if isinstance(ahead, (MixedGaussian, MixedLaplace)):
            return Symmetrized(ahead)
    if isinstance(curve, GaussianMixtureTradeOff):
        return MixedGaussians(curve.parts(inside=False), curve.parts(inside=True))
    inner, rate = (curve.inner, curve.sampling_rate) if isinstance(curve, MixtureTradeOff) else (curve, 1.0)
    if isinstance(inner, GaussianTradeOff) and inner.mu and rate:
        return MixedGaussian(inner.mu, rate)
    if isinstance(inner, LaplaceTradeOff) and inner.mu and rate:
        return MixedLaplace(inner.mu, rate)
    if id(curve) in known:
        return known[id(curve)][1]
    lower, upper, rounding = enclosing_laws(curve, _SAMPLES, _UNSEEN)
    below, above = (
        (law.losses, law.out_masses, law.in_masses, law.out_only, law.in_only) for law in (lower, upper)
    )
    law = Polygons(
        below,
        below if lower is upper else above,
        rounding,
        sampled=lower is not upper and as_polygon(curve) is None,
    )
    known[id(curve)] = curve, law
    return law


def _counts(copies: int | Sequence[int], size: int) -> list[int]:
    if (
        getattr(copies, "ndim", 1)
        and isinstance(copies, (Sequence, np.ndarray))
        and not isinstance(copies, (str, bytes))
    ):
        if len(copies) != size:
            raise ValueError(f"copies has {len(copies)} entries; it must have an entry per curve, {size}")
        return [whole("copies", c, 1, MOST_STEPS) for c in copies]
    return [whole("copies", copies, 1, MOST_STEPS)] * size


def _gaussians_together(pairs: Pairs) -> Pairs:
    parts = [(c, n) for c, n in pairs if isinstance(c, GaussianTradeOff)]
    rest = [(c, n) for c, n in pairs if not isinstance(c, GaussianTradeOff)]
    if len(parts) == len(pairs) == 1 or not parts:
        return pairs
    return [(GaussianTradeOff.of_squares(parts), 1), *rest]


def _without_blind(pairs: Pairs) -> Pairs:
    """Without curves that reveal nothing; with only the first if there is no other."""
    telling = [(c, n) for c, n in pairs if not (isinstance(c, GaussianTradeOff) and c.mu == 0.0)]
    return telling or pairs[:1]


def _exactly(pairs: Pairs, sure: tuple[SureMass, SureMass]) -> SampledTradeOff | None:
    total: SummedLosses | None = None
    for curve, count in pairs:
        corners = as_polygon(curve)
        power = corners and exact_power(SummedLosses.of(corners), count)
        if power is None or (total := power if total is None else product(total, power)) is None:
            return None
    built = total and total.tradeoff(sure)
    return built if built and built.slack <= _EXACT else None
