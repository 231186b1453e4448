"""The sum of independent privacy losses, between two distributions on a lattice that is refined until they agree."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np
import scipy

from mipsim._budget import spent
from mipsim.sums.lattice import Circle, Power
from mipsim.sums.loss_bounds import LossCells, bulk, optimistic, pessimistic
from mipsim.tradeoff.bounds import log_complement, lowered, raised, with_complement
from mipsim.tradeoff.loss_band import PLACES, Band, BandSide, density_over_number
from mipsim.tradeoff.loss_jump import Jump, jump
from mipsim.tradeoff.loss_plan import HEAVY, LARGEST_TILT, ROUGH, LossPlan, refined_within
from mipsim.tradeoff.step_laws import AbstractStepLaw, Capped, ReversedStep
from mipsim.tradeoff.sure_mass import SureMass

_BUDGET = 1 << 25  # places of all circles of a question: some ten seconds of a core
# of which they are a multiple, so that a coarse transform may look first; and about the most
_BLOCKS, _LEAST_BLOCKS, _MOST_BLOCKS = 1 << 6, 1 << 10, 1 << 18
_TRIES = 60  # bands that a single query may make
_HARDLY = 0.85  # a finer lattice that leaves so much of the width is no use
_HIDDEN = -8.0  # logarithm of the share of a number that is left out of a plan where no lattice resolves all
_RARE_RATE = -14.0  # logarithm of an FPR that is looked at for rare losses
_FEW_EPSILONS = 4  # epsilons of which the other direction is first bounded by itself
_SHARES = 2.0 ** np.arange(-8.0, 1.0)  # of the best tilt for it: of less steep ones lattices are coarser
_MARGIN = 0.1  # e-folds by which a planned bound is to be lower than what is wanted
_PLANNED = 64  # values of a question that are each planned for
_BETWEEN = 1e-4  # accuracy of bands between which a number is
_USELESS = 0.01  # of the logarithm of a number: more is looked for between modes
_RETAINED = 1 << 20  # places of the bands that are retained for equal requests, some 100 bytes each
_HELD = 1 << 22  # places of the bands that a question holds at a time
_PLAIN = -25.0  # logarithm of a delta that the world "in" tells without a tilt
_BESIDE = 1e-2  # of the accuracy: what is so small beside a sure mass is not looked at
_RESOLVED = 1e-6  # total probability of mixtures down to which a lattice resolves how the worlds differ
_PARTED = 8.0  # steps of a range: of fewer the next whole number is much more
_SLIGHT = 1.0 / 64.0  # of a step: a range that would take too many places


class LossSum(LossPlan):
    """The distribution of a sum of independent losses: bands around the requested losses.
    `laws`, `places`: as of `LossPlan`; `sure_masses`: those that reveal the world "in", and those that reveal the world "out".
    """

    def __init__(
        self,
        laws: Sequence[tuple[AbstractStepLaw, int]],
        sure_masses: tuple[SureMass, SureMass] = ((0.0, 0.0), (0.0, 0.0)),
        places: float = math.inf,
    ) -> None:
        super().__init__(laws, places)
        self.sure_masses = sure_masses
        with np.errstate(divide="ignore"):
            logs = np.log(sure_masses)
        self.sure = tuple(
            zip(lowered(logs[:, 0], 2.0).tolist(), raised(logs[:, 1], 2.0).tolist(), strict=True)
        )
        self._has_rare = self.total > 1 and any(law.is_gaussian and law.p != 1.0 for law, _ in laws)
        self.bands: list[Band] = []
        self._jumps: list[Jump] = []
        self.is_shared, self._left, self._share = True, [_BUDGET], 1.0
        self._cuts: dict[float, LossSum] = {}
        self._bands: dict[tuple[float, float, str, float | None], Band] = {}
        self._limits: dict[float, tuple[float, float]] = {}
        self._nothing: dict[tuple[float, str], float] = {}
        self._lines: dict[float, tuple[float, float]] = {}

    def alone(self, values: int = 1) -> LossSum:
        """The same sum without bands, for a question of so many values, which share a budget of at most four: what it refines is its
        own, so that no answer depends on earlier questions.
        """
        built = copy(self)
        built.bands, built._jumps, built.is_shared = [], [], False
        built._left = [int(min(values, 4) * _BUDGET * self._share)]
        built._cuts, built._lines = {}, {}
        return built

    def sparing(self, share: float) -> LossSum:
        """The same sum, of which each question has that share of the budget."""
        built = copy(self)
        built._share = share
        return built

    def _cut(self, log_small: float) -> LossSum:
        """The same sum, planned without single losses so rare that all together they have less than that mass of the world "in", or of "out"
        where they are negative. What lies off a band's lattice is accounted for, so that all are bands of this sum.
        """
        log_small = 10.0 * math.floor(log_small / 10.0)
        if log_small not in self._cuts:
            built = copy(self)
            built._is_cut = True
            built._bands, built._limits, built._nothing, built._cumulants, built._plans = {}, {}, {}, {}, {}
            built.outlines = [
                (line.within(log_small - math.log(count)) if law.is_gaussian else line, count)
                for (law, _), (line, count) in zip(self.laws, self.outlines, strict=True)
            ]
            self._cuts[log_small] = built
        return self._cuts[log_small]

    def _planned(
        self,
        tilt: Callable[[LossSum], float],
        log_number: Callable[[LossSum, float], float],
        at_least: float,
        accuracy: float,
        needs: str,
    ) -> LossSum:
        """What a number is refined by: the sum without the rarest losses, where these have most of the tilted mass though not of the number.

        A tilt makes a single large loss common long before many small ones reach as far. `log_number`: about the number, by a tilt
        that makes none common; `at_least`: by a single loss.
        """
        share = math.log(min(accuracy, 0.1)) - 5.0
        log_number_now, cut, theta = max(at_least, share), self, 0.0
        for _ in range(8):
            cut = self._cut(log_number_now + share)
            theta = tilt(cut)
            if abs(theta) >= 0.5 * LARGEST_TILT:
                return self
            number = max(min(log_number(cut, theta), 0.0), at_least)
            if number < log_number_now - 10.0:
                log_number_now = number
                continue
            if cut._before_jump(theta) and cut.step(theta, accuracy, needs) < cut.floor(theta):
                return self._cut(log_number_now + _HIDDEN)
            break
        (_, mean, variance), (_, own, spread) = self.cumulants(theta), cut.cumulants(theta)
        alike = spread < HEAVY * variance < HEAVY * HEAVY * spread and abs(own - mean) < math.sqrt(spread)
        return self if alike else cut

    def _by_plan(
        self, plans: list[Any], ask: Callable[[Any, np.ndarray], tuple[list[np.ndarray], np.ndarray]]
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """What is known by the plan of each value."""
        if all(plan is self for plan in plans):
            return ask(self, np.arange(len(plans)))
        known: list[np.ndarray] = []
        for plan in dict.fromkeys(plans):
            at = np.flatnonzero([other is plan for other in plans])
            result, wide = ask(plan, at)
            known = known or [np.empty(len(plans)) for _ in range(len(result) + 1)]
            for whole, part in zip(known, [*result, wide], strict=True):
                whole[at] = part
        return known[:-1], known[-1]

    # -- bands --

    def band(self, theta: float, accuracy: float, needs: str, step: float | None = None) -> Band:
        """A band around the mean of a tilt, with a step for the relative accuracy, or the given step; as fine as its circle may be."""
        key = theta, accuracy, needs, step
        if key not in self._bands:
            built = self._built(*key)
            while self._bands and sum(b.places.size for b in self._bands.values()) > _RETAINED:
                del self._bands[next(iter(self._bands))]
            self._bands[key] = built
        return self._bands[key]

    def _hold(self, band: Band) -> None:
        """Add a band to those of the question; where there is no room for all, without the coarser of the two that are nearest to each other."""
        self.bands.append(band)
        while sum(b.places.size for b in self.bands) > _HELD:
            pairs = pairwise(sorted(self.bands, key=lambda b: b.centre))
            two = min(pairs, key=lambda two: (two[1].centre - two[0].centre) / min(b.spread for b in two))
            self.bands.remove(max(two, key=lambda b: (b is not band, b.step)))

    def _pays(self, theta: float, accuracy: float, needs: str, step: float | None) -> bool:
        """Take a band's places, or what its nodes take as long as, from what is left for the question; equal questions have equal bands."""
        levels, _, low, high, _ = self._plan(theta)
        step = max(self.step(theta, accuracy, needs) if step is None else step, self.floor(theta))
        effort = sum(law.effort * level.size(step) for (law, _), level in zip(self.laws, levels, strict=True))
        if (places := int(max((high - low) / step, effort))) > self._left[0]:
            return False
        self._left[0] -= places
        return True

    def _built(self, theta: float, accuracy: float, needs: str, step: float | None) -> Band:
        value, mean, variance = self.cumulants(theta)
        spread = math.sqrt(max(variance, 1e-24))
        weight = density_over_number(theta, spread, needs)
        _, burden, low, high, shifts = self._plan(theta)
        step = self.step(theta, accuracy, needs) if step is None else step
        step = max(step, self.floor(theta))
        low, high = low - (32 + self.total * 1e-3) * step, high + (32 + self.total * 1e-3) * step
        # Chords over blocks err by about as much as cells; where the plan was off, both are refined.
        block = max(min(math.sqrt(0.3 * accuracy / weight), step * math.sqrt(0.15 * burden)), step)
        places = (high - low) / step
        stride = max(1, round(min(block / step, places / _LEAST_BLOCKS)), math.ceil(places / _MOST_BLOCKS))
        stride = int(scipy.fft.next_fast_len(stride, real=True))  # pyright: ignore[reportArgumentType]
        fitted = self._fitting(step, stride)
        some = max(math.ceil((high - low) / (fitted * stride * _BLOCKS)), _LEAST_BLOCKS // _BLOCKS)
        blocks = _BLOCKS * int(scipy.fft.next_fast_len(some, real=True))  # pyright: ignore[reportArgumentType]
        step = fitted
        cells = self._cells(theta, step)
        rounded = [
            [(side(part[k], theta), count) for part, (_, count) in zip(cells, self.laws, strict=True)]
            for k, side in enumerate((pessimistic, optimistic))
        ]
        units = (value + (1.0 - theta) * mean, value - theta * mean)
        sides = []
        for side in rounded:
            offset = sum(count * law.measure.offset for law, count in side)
            first = math.floor((0.5 * (low + high) - offset) / (step * stride)) - blocks // 2
            first *= stride
            power = Power(
                [(law.measure, count) for law, count in side], Circle(first, blocks * stride, blocks), shifts
            )
            sides.append(BandSide(power, side, units, -1.0 if sides else 1.0))
        return Band.between(step, spread, mean, sides[0], sides[1], units)

    def _cells(self, theta: float, step: float) -> list[tuple[LossCells, LossCells]]:
        """Of each distribution, on a lattice of that step: those that reveal more, and those that reveal less."""
        built = []
        for (law, _), level in zip(self.laws, self._plan(theta)[0], strict=True):
            nodes = level.nodes(law.fixed, step)
            below, above = law.cells(nodes, law.fixed, step)
            at, shift = bulk(below, theta)
            if shift > 0.0:
                nodes = np.concatenate([nodes[:1] - (below.nodes[at + 1] - below.nodes[at]), nodes])
                below, _ = law.cells(nodes, law.fixed + shift, step)
            built.append((below, above))
        return built

    def _fitting(self, step: float, stride: int) -> float:
        """A step of at most this. A whole number of them is the range of losses of a distribution with ends, where its atoms lie; of a
        single distribution a multiple of so many: the sums of its ends are then ends of blocks.
        """
        if self._parted is None:
            return step
        low, high = self.laws[self._parted][0].ends
        parts, single = (high - low) / step, len(self.laws) == 1
        if parts < (_SLIGHT if single else _PARTED):
            return step
        alike = stride if single and stride < parts / 32.0 else 1
        return (high - low) / (alike * math.ceil(parts / alike))

    # -- questions --

    def sticks(self, loss: np.ndarray, accuracy: float, needs: str) -> tuple[list[np.ndarray], np.ndarray]:
        """What `Band.sticks` tells, refined, and the relative width of what is needed: "delta", "rest" or "other"."""

        def number(plan: LossSum, theta: float) -> float:
            value, mean, _ = plan.cumulants(theta)
            return value + (1.0 - theta) * mean if needs == "delta" else value - theta * mean

        if needs == "rest" or not self._has_rare or loss.size > _PLANNED or accuracy == math.inf:
            return self._sticks(loss, accuracy, needs)

        def plan(x: float) -> LossSum | None:
            if needs == "delta" and self._jumps_to(x, accuracy):
                return None
            return self._planned(
                lambda plan: plan.tilt_of_loss(x), number, self._single(x, needs), accuracy, needs
            )

        plans = list(map(plan, loss.tolist()))

        def ask(plan: LossSum | None, at: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
            return (
                plan._sticks(loss[at], accuracy, needs) if plan else self._sticks(loss[at], math.inf, needs)
            )

        return self._by_plan(plans, ask)

    def _jumps_to(self, loss: float, accuracy: float) -> bool:
        """Whether single, large losses tell the delta at a loss, as accurately or as well as any tilt does; looked at where none has been."""
        if loss <= 0.0 or self.sure_masses != ((0.0, 0.0), (0.0, 0.0)):
            return False

        def width() -> float:
            low, high = self._by_jumps(np.array([loss]))
            return float(high[0] - low[0])

        if self._jumps and width() <= accuracy:
            return True
        if (built := jump(self, loss, accuracy)) is None:
            return False
        self._jumps.append(built)
        return width() <= max(accuracy, _BETWEEN)

    def _by_jumps(self, loss: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        ends = [each.sticks(loss) for each in self._jumps]
        return np.max([low for low, _ in ends], axis=0), np.min([high for _, high in ends], axis=0)

    def _sticks(self, loss: np.ndarray, accuracy: float, needs: str) -> tuple[list[np.ndarray], np.ndarray]:
        delta, rest, other = PLACES.values()

        def ask(band: Band) -> tuple[np.ndarray, ...]:
            return band.sticks(loss)

        def ends(bounds: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
            # 1 less delta is the rest, and so is e^loss less what the other direction has.
            known = with_complement(*bounds[rest], *bounds[delta])
            known = with_complement(*known, *bounds[other], total=loss)
            if needs == "rest":
                return known
            low, high = bounds[PLACES[needs]]
            return with_complement(low, high, *known, total=loss if needs == "other" else 0.0)

        def width(bounds: list[np.ndarray]) -> np.ndarray:
            low, high = ends(bounds)
            with np.errstate(invalid="ignore"):  # -inf at both ends is known
                wide = np.where(high == low, 0.0, high - low)
            if self.narrowest:  # relative to the smaller of a number and its complement
                number = np.minimum(high - (loss if needs == "other" else 0.0), 0.0)
                wide = wide / np.maximum(-np.expm1(number), self.narrowest)
            return np.where(np.isnan(wide), np.inf, wide)

        known = [np.full(loss.size, -np.inf if i % 2 == 0 else np.inf) for i in range(6)]
        (ahead, _), (back, _) = self.sure
        known[0], known[4] = np.full(loss.size, ahead), loss + back
        if self._jumps:
            known[:2] = self._by_jumps(loss)

        def tilt(i: int) -> float:
            theta = self._useful(self.tilt_of_loss(float(loss[i])), accuracy)
            # Where the rest is nothing beside the accuracy, a delta is 1, which a nearer tilt tells too; at the mean of a world it is a half.
            if needs == "rest" or (theta >= 1.0 if needs == "delta" else theta <= 0.0):
                return theta
            return (max if needs == "delta" else min)(theta, self._end(accuracy, needs))

        result, wide = self._refined(ask, known, width, tilt, loss.size, accuracy, needs)
        result[PLACES[needs]] = ends(result)
        return result, wide

    def _end(self, accuracy: float, needs: str) -> float:
        """A tilt at which the FNR ("delta") or the FPR ("other") is negligible beside 1."""
        if (accuracy, needs) not in self._nothing:
            small = _BESIDE * min(accuracy, 0.1)
            tilt = self.tilt_of_fnr if needs == "delta" else self.tilt_of_rate
            self._nothing[accuracy, needs] = tilt(math.log(small), math.log1p(-small))
        return self._nothing[accuracy, needs]

    def _useful(self, theta: float, accuracy: float) -> float:
        """The nearest tilt of use: farther out all that is not sure is negligible beside a mass that is."""
        if accuracy not in self._limits:
            small = math.log(_BESIDE * min(accuracy, 1.0))
            (ahead, _), (back, _) = self.sure
            self._limits[accuracy] = (
                self._tilt_of_delta(back + small, turned=True) if back > -math.inf else -math.inf,
                self._tilt_of_delta(ahead + small) if ahead > -math.inf else math.inf,
            )
        least, most = self._limits[accuracy]
        return min(max(theta, least), most)

    def log_delta(self, epsilon: np.ndarray, accuracy: float, turned: bool) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of log delta of a direction, refined; by delta itself or by its complement."""
        result, _ = self.sticks(-epsilon if turned else epsilon, accuracy, "other" if turned else "delta")
        shift = epsilon if turned else np.zeros(epsilon.shape)
        low, high = (end + shift for end in result[PLACES["other" if turned else "delta"]])
        return low, np.fmin(high, 0.0)

    def rough_other(self, epsilon: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Upper bounds of log delta of the other direction; if epsilons are few, below what is wanted where Markov's inequality can.

        Since 1 - e^-x <= t^t / (1 + t)^(1 + t) e^(t x) for x > 0, delta is at most that times E_out e^(-t (loss + epsilon)), and what
        reveals the world "out" by itself.

        Source: Canonne, Kamath, Steinke (2020), proposition 12.
        """
        least = sum(count * law.ends[0] for law, count in self.laws)
        if epsilon.size <= _FEW_EPSILONS:
            for x, most in zip(epsilon.tolist(), wanted.tolist(), strict=True):
                best = self.tilt_of_loss(-x) if -x > least else 0.0
                for theta in (self._common(best * share) for share in _SHARES):
                    if theta < 0.0 and self.cumulants(theta)[0] + _height(theta) + theta * x < most - _MARGIN:
                        if theta not in self._lines and self.reached(theta):
                            self._lines[theta] = self._line(theta)
                        break
        result = np.zeros(epsilon.shape)
        for theta, (log_height, log_only) in self._lines.items():
            line = log_height + theta * epsilon
            result = np.minimum(result, np.logaddexp(log_only, line + 1e-12 * (1.0 + np.abs(line))))
        return result

    def _line(self, theta: float, widest: float = math.inf) -> tuple[float, float]:
        """(log of what bounds the other direction's delta at the epsilon 0 by that tilt, log of the masses beside it); of tilts above 1 that
        of this direction.
        """
        step = self._fitting(max(min(self.step(theta, ROUGH, "other"), widest), self.floor(theta)), 1)
        height, only = _height(min(theta, 1.0 - theta)), -math.inf
        for (below, _), (_, count) in zip(self._cells(theta, step), self.laws, strict=True):
            law = pessimistic(below, theta)
            size = abs(law.measure.log_scale) + abs(theta) * float(
                np.abs(law.measure.offset + law.measure.step * law.measure.index).max()
            )
            height += count * (law.measure.log_scale + law.rounding + 2.0**-46 * (1.0 + size))
            own = law.log_out_only if theta < 0.0 else law.log_in_only
            only = float(np.logaddexp(only, math.log(count) + own + 1e-12))
        return height, only

    def directed(self, turned: bool) -> list[tuple[AbstractStepLaw, int]]:
        """The laws of a direction: the worlds exchanged, or not."""
        if not turned:
            return self.laws
        return [
            (law.inner if isinstance(law, ReversedStep) else ReversedStep(law), n) for law, n in self.laws
        ]

    def at_zero(self, accuracy: float) -> tuple[float, float]:
        """Bounds of log delta at 0, which both directions share: E_out (1 - e^loss)_+.

        A single loss so large that no others can bring the sum below 0 counts as if it were no larger. So rare, large losses, which
        mostly have most of the mass of "in", need no lattice. Worlds that differ with a total probability p have p times a total
        variation to at most p^2: of smaller p than a lattice resolves, a larger p tells it.
        """
        laws, sure = self.laws, self.sure_masses
        if math.isinf(sum(law.ends[0] for law, _ in laws)):
            laws, sure = self.directed(True), (sure[1], sure[0])
        if math.isinf(sum(law.ends[0] for law, _ in laws)):
            low, high = self.log_delta(np.zeros(1), accuracy, turned=False)
            return float(low[0]), float(high[0])
        p = sum(count * law.p for law, count in laws)
        factor = max(1.0, 2.0 ** math.floor(math.log2(_RESOLVED / min(p, 1.0))))
        laws = [(law.bulk(factor), count) for law, count in laws]
        least = sum(count * law.ends[0] for law, count in laws)
        built = LossSum([(Capped(law, law.ends[0] - least), count) for law, count in laws], sure, self.places)
        built._left = self._left
        low, high = (float(end[0]) for end in built.log_delta(np.zeros(1), accuracy, turned=True))
        if factor == 1.0:
            return low, high
        # In products of Q + p_i (P_i - Q) the terms of second order and higher have at most (e^(2 p) - 1 - 2 p) / 2.
        off = (1.01 * factor * p) ** 2
        off += off / factor
        low, high = (math.exp(low) - off) / factor, (math.exp(high) + off) / factor
        return math.log(low) - 1e-12 if low > 0.0 else -math.inf, math.log(high) + 1e-12

    def curve(
        self, log_fpr: np.ndarray, log_tnr: np.ndarray, accuracy: float, turned: bool
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """What `Band.curve` tells, refined, and the width of the logarithms."""
        if not self._has_rare or log_fpr.size > _PLANNED:
            return self._curve(log_fpr, log_tnr, accuracy, turned)

        def plan(fpr: float, tnr: float) -> LossSum:
            if not -math.inf < fpr < _RARE_RATE:
                return self
            return self._planned(
                lambda plan: plan._tilt_of(fpr, tnr, turned), lambda plan, theta: fpr, fpr, accuracy, "rate"
            )

        plans = list(map(plan, log_fpr.tolist(), log_tnr.tolist()))
        return self._by_plan(plans, lambda plan, at: plan._curve(log_fpr[at], log_tnr[at], accuracy, turned))

    def _curve(
        self, log_fpr: np.ndarray, log_tnr: np.ndarray, accuracy: float, turned: bool
    ) -> tuple[list[np.ndarray], np.ndarray]:
        def ask(band: Band) -> tuple[np.ndarray, ...]:
            return (band.turned() if turned else band).curve(log_fpr, log_tnr)

        def width(bounds: list[np.ndarray]) -> np.ndarray:
            with np.errstate(invalid="ignore"):
                wide = np.maximum(bounds[1] - bounds[0], bounds[3] - bounds[2])
            return np.where(
                np.isneginf(log_fpr) | np.isneginf(log_tnr), 0.0, np.where(np.isnan(wide), np.inf, wide)
            )

        def tilt(i: int) -> float:
            return self._useful(self._tilt_of(float(log_fpr[i]), float(log_tnr[i]), turned), accuracy)

        (ahead, most), (back, _) = self.sure[::-1] if turned else self.sure
        # Where no more than the mass that reveals "out" is not rejected, none of "in" is missed.
        start, none = np.isneginf(log_fpr), raised(log_tnr, 4.0) <= back
        known = [
            np.where(start, lowered(log_complement(most), 4.0), -np.inf),
            np.where(none, -np.inf, raised(log_complement(ahead), 4.0)),
            np.where(none, 0.0, ahead),
            np.where(start, most, np.inf),
        ]
        return self._refined(ask, known, width, tilt, log_fpr.size, accuracy, "rate")

    def _tilt_of(self, log_fpr: float, log_tnr: float, turned: bool) -> float:
        return (self.tilt_of_fnr if turned else self.tilt_of_rate)(log_fpr, log_tnr)

    def slopes(self, log_fpr: np.ndarray, log_tnr: np.ndarray, turned: bool) -> np.ndarray:
        """About the losses at which FPRs are reached, by the nearest band; NaN where none is near."""
        best, result = np.full(log_fpr.shape, 6.0), np.full(log_fpr.shape, np.nan)
        for band in self.bands:
            band = band.turned() if turned else band
            loss = band.threshold(log_fpr, log_tnr)
            away = np.abs(loss - band.centre) / band.spread
            result, best = np.where(away < best, loss, result), np.minimum(away, best)
        return result

    def corner(self) -> tuple[float, float] | None:
        """(FPR, FNR) of a point on the curve or above, about where its slope is -1."""
        points = []
        for band in self.bands:
            if band.less[0] < 0.0 < band.less[-1]:
                k = int(np.searchsorted(band.less, 0.0))
                with np.errstate(over="ignore", invalid="ignore"):
                    ends = np.exp([band.log_out, band.log_in]) * [band.fpr[k], band.fnr[k]] * (1.0 + 1e-14)
                points += [(float(ends[0]), float(ends[1]))] if (ends < 1.0).all() else []
        return min(points, key=sum, default=None)

    def epsilon_guess(self, log_delta: float) -> tuple[float, float, float]:
        """About the epsilon of a delta, the slope of -log delta there, and how far off it is at most, or 0 if it may be farther."""
        theta = self._tilt_of_delta(log_delta)
        _, mean, variance = self.cumulants(theta)
        slope = max(theta - 1.0, 1e-3)
        if not self._before_jump(theta) and self.sure[0][0] == -math.inf:
            return mean, slope, math.sqrt(variance)
        if log_delta < _PLAIN or not self.reached(1.0):
            return mean, slope, 0.0
        # Of a sum with two modes, as that of rare and large losses, no tilt has a mean in between: the world "in" itself knows.
        band = self.band(1.0, 0.5, "delta")
        losses = band.places[band.places >= 0.0]
        _, high, *_ = band.sticks(losses)
        at = int(np.searchsorted(-high, -log_delta))
        return min(float(losses[at]), mean) if at < losses.size else mean, slope, 0.0

    def _refined(
        self,
        ask: Callable[[Band], tuple[np.ndarray, ...]],
        known: list[np.ndarray],
        width: Callable[[list[np.ndarray]], np.ndarray],
        tilt: Callable[[int], float],
        size: int,
        accuracy: float,
        needs: str,
    ) -> tuple[list[np.ndarray], np.ndarray]:
        """What is known of each value, narrowed band by band until it is as accurate as requested, and how wide it is then.

        A greedy search: the tilts of the first and the last value that are too wide are where the next band is, or between them where
        a single band reaches both. A band near an earlier one is finer than that. A value is given up where bands no longer narrow it.
        """
        result = _narrowed(self.bands, ask, known)
        if accuracy == math.inf:
            return result, np.full(size, math.inf)
        accuracy = max(accuracy, self.narrowest)
        given_up, plain = np.zeros(size, bool), np.zeros(size, bool)
        modes: list[float] | None = None  # looked for where they are needed

        def between(some: list[int]) -> None:
            """Bands around the modes of a sum, as of rare and very large losses: no tilt has its mean in between."""
            nonlocal modes, wide
            if modes is None and (wide[some] > _USELESS).any():
                modes = [*self._before_jump(tilt(some[0])), 0.5, 0.0, 1.0]
            while modes and (wide[some] > _USELESS).any():
                theta = modes.pop(0)
                mean = self.cumulants(theta)[1]
                if any(abs(b.centre - mean) < refined_within(b.spread) for b in self.bands):
                    continue
                rough = max(accuracy, _BETWEEN)
                if self.reached(theta) and self._pays(theta, rough, needs, None):
                    self._hold(band := self.band(theta, rough, needs))
                    result[:] = _narrowed([band], ask, result)
                    wide = width(result)

        def fail(some: list[int]) -> None:
            """Refine no further: first by eased tilts, then at all."""
            between(some)
            given_up[some] |= plain[some]
            plain[some] = True

        wide = width(result)
        for _ in range(_TRIES):
            pending = np.flatnonzero((wide > accuracy) & ~given_up)
            if not pending.size or spent():
                break
            first, last = sorted((int(pending[0]), int(pending[-1])), key=tilt)
            ends = [first, last]
            theta = tilt(first)
            _, mean, variance = self.cumulants(theta)
            if first != last:
                reach, end = 3.0 * math.sqrt(variance), self.cumulants(tilt(last))[1]
                if end - mean < 2.0 * reach:
                    theta = self.tilt_of_loss(0.5 * (mean + end))
                else:
                    ends, theta = [first], self.tilt_of_loss(mean + reach)
            theta = self._common(theta)
            if self._has_rare and not plain[ends].any():
                theta = self._eased(theta)
            _, mean, variance = self.cumulants(theta)
            if not self.bounds_both_sides(theta):  # as near as can be bounded at a single side, and at both
                given_up[ends] = True
                for enough in (self.reached, self.bounds_both_sides):
                    while not enough(theta) and abs(theta - 0.5) > 1e-3:
                        theta = 0.5 + 0.8 * (theta - 0.5)
                    mean = self.cumulants(theta)[1]
                    if self.reached(theta) and not any(abs(b.centre - mean) < b.spread for b in self.bands):
                        self._hold(band := self.band(theta, accuracy, needs))
                        result = _narrowed([band], ask, result)
                        wide = width(result)
                continue
            near = [b for b in self.bands if abs(b.centre - mean) < refined_within(b.spread)]
            step = None
            worst = float(wide[pending].max())
            if near:
                finest = min(b.step for b in near)
                plan = self.step(theta, accuracy, needs)
                step = plan
                if plan >= 0.7 * finest:
                    finer = min(0.6, max(0.1, math.sqrt(0.6 * accuracy / worst)))
                    step = finest * 2.0 ** (math.floor(2.0 * math.log2(finer)) / 2.0)
                if self.floor(theta) > 0.95 * finest:
                    fail(ends)
                    continue
                step = max(step, self.floor(theta))
            if not self._pays(theta, accuracy, needs, step):
                fail(ends)
                continue
            band = self.band(theta, accuracy if first == last else 0.5 * accuracy, needs, step)
            self._hold(band)
            result = _narrowed([band], ask, result)
            # a narrow band replaces no wide one, which other answers may rest on
            close = refined_within(band.spread)
            for coarse in [b for b in near if b.step > band.step and abs(b.centre - mean) < close]:
                rest = [b for b in self.bands if b is not coarse]
                # A finer band may tell less, such as where its tilt is another: what an answer rests on stays.
                if all(map(np.array_equal, _narrowed(rest, ask, known), result)):
                    self.bands[:] = rest
            before, wide = wide, width(result)
            if near:  # the width should fall as the square of the step
                hardly = min(_HARDLY, math.sqrt(band.step / min(b.step for b in near)))
                if not (wide[pending] < hardly * before[pending]).any():
                    fail(ends)
        return result, wide


def _height(theta: float) -> float:
    """Log of the least c for which 1 - e^-x <= c e^(-theta x) for all x > 0; theta < 0."""
    return -theta * math.log(theta / (theta - 1.0)) - math.log1p(-theta)


def _narrowed(
    bands: list[Band], ask: Callable[[Band], tuple[np.ndarray, ...]], known: list[np.ndarray]
) -> list[np.ndarray]:
    """What is known, lower and upper bounds in turn, narrowed by the bands."""
    for band in bands:
        known = [
            (np.fmin if i % 2 else np.fmax)(x, part)
            for i, (x, part) in enumerate(zip(known, ask(band), strict=True))
        ]
    return known
