"""Where the sum of independent privacy losses is looked at, and on which lattice; none of it need be exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from scipy.special import log_ndtr

from mipsim._budget import memory
from mipsim.sums.loss_bounds import LIGHTEST, Levels
from mipsim.tradeoff.loss_band import density_over_number
from mipsim.tradeoff.step_laws import AbstractStepLaw, Outline

_EASE = 2.0  # e-folds of accuracy that are as good as a circle of e times the length
_TAIL = 34.0  # e^-34 of the tilted mass may lie off the circle at either side
_REACH = 5.0  # standard deviations on either side of its tilt that a band is requested
_PLACE = 256  # bytes that a place of a circle may take in all arrays of a question; some 120 do
_FAR = 300.0  # nats from the mean of a band up to which slopes are used
_JUMP = 10.0  # times the variance without a tilt: what a tilt has that makes rare losses common
HEAVY = 1.5  # times the variance that a tilt has without rare losses
LARGEST_TILT = 1e6
ROUGH = 0.3  # relative width by which the direction is looked at that is mostly the better direction
_MOST_BURDEN = 4.0  # mean square of the widths of cells, in steps: wider cells would cost more places than they save cells
_LEAST_BURDEN = 0.02  # the same of distributions that are all but atoms on nodes
_FINEST = 2.0**-40  # of a loss: what lies closer to it is the same atom
_MOST_DECAY = 1e6  # tilt times range of a single loss, of which each e-fold takes a cell or two
# of a tilt, by which Chernoff's inequality is tried; in inverse standard deviations
_SHIFTS = np.geomspace(0.05, 200.0, 24)


class LossPlan:
    """Tilts of a sum, and lattices for them.
    `laws`: of the single losses, and how often each is added; `places`: the most lattice points that a circle may have, within the budget of memory.
    """

    def __init__(self, laws: Sequence[tuple[AbstractStepLaw, int]], places: float) -> None:
        self.laws, self.narrowest = list(laws), max((law.narrowest for law, _ in laws), default=0.0)
        places = min(places, 1 << 20) if self.narrowest else places
        self.places = int(min(places, 2.0 ** math.floor(math.log2(memory() / _PLACE))))
        # The commonest distribution with ends, both of which lie on each lattice.
        parted = [(count, i) for i, (law, count) in enumerate(laws) if 0.0 < np.ptp(law.ends) < math.inf]
        self._parted = max(parted)[1] if parted else None
        self.total = sum(count for _, count in laws)
        self._is_cut = False
        self._cumulants: dict[float, tuple[float, float, float]] = {}
        self._plans: dict[float, tuple[list[Levels], float, float, float, tuple[float, float]]] = {}

    @cached_property
    def outlines(self) -> list[tuple[Outline, int]]:
        """Of the distributions, in coarse cells: of a sum that no question reaches they take the most time."""
        return [(law.outline, count) for law, count in self.laws]

    def _before_jump(self, theta: float) -> list[float]:
        """A tilt that makes no rare, large losses common, where this tilt does."""
        low, high = (1.0 if theta > 1.0 else 0.0), theta
        least = self.cumulants(low)[2]
        if self.cumulants(high)[2] < _JUMP * least:
            return []
        for _ in range(40):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if self.cumulants(middle)[2] <= HEAVY * least else (low, middle)
        return [low]

    def cumulants(self, theta: float) -> tuple[float, float, float]:
        """About log E_out e^(theta loss), its slope (the tilted mean) and its curvature (the tilted variance)."""
        if theta not in self._cumulants:
            value = mean = variance = 0.0
            for line, count in self.outlines:
                exponent = line.log_out + theta * line.losses
                top = float(exponent.max())
                weights = np.exp(exponent - top)
                mass = float(weights.sum())
                first = float(weights @ line.losses) / mass
                value += count * (top + math.log(mass))
                mean += count * first
                variance += count * float(weights @ (line.losses - first) ** 2) / mass
            self._cumulants[theta] = value, mean, variance
        return self._cumulants[theta]

    def _root(self, above: Callable[[float], bool]) -> float:
        """Where a condition that holds for large tilts begins to, in [-1e6, 1e6]."""
        low, high = -1.0, 2.0
        while above(low):
            low *= 2.0
            if low < -LARGEST_TILT:
                return low
        while not above(high):
            high *= 2.0
            if high > LARGEST_TILT:
                return high
        for _ in range(60):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if above(middle) else (middle, high)
            narrow = high - low < 1e-4 * max(1e-3, abs(middle))
            if narrow and self.cumulants(high)[1] - self.cumulants(low)[1] < 0.1 * _FAR:
                break
        return 0.5 * (low + high)

    def _common(self, theta: float) -> float:
        """A tilt whose mean is within a quarter of a standard deviation: nearby questions share it, and so its bands."""
        variance = max(self.cumulants(theta)[2], 1e-24)
        apart = 2.0 ** math.floor(math.log2(2.0 * refined_within(math.sqrt(variance)) / variance))
        return apart * round(theta / apart)

    def tilt_of_loss(self, loss: float) -> float:
        """The tilt with that mean."""
        return self._root(lambda theta: self.cumulants(theta)[1] >= loss)

    def tilt_of_rate(self, log_fpr: float, log_tnr: float) -> float:
        """The tilt whose mean is about the threshold of that FPR."""

        def above(theta: float) -> bool:
            value, mean, variance = self.cumulants(theta)
            # P(loss > mean), by the saddle point: (value - theta mean) + log of a Mills ratio.
            root = math.sqrt(max(variance, 1e-300))
            tail = value - theta * mean + 0.5 * theta * theta * variance + float(log_ndtr(-abs(theta) * root))
            return tail <= log_fpr if theta >= 0.0 else tail >= log_tnr

        return self._root(above)

    def tilt_of_fnr(self, log_fnr: float, log_tpr: float) -> float:
        """The tilt whose mean is about the threshold of that FNR."""

        def above(theta: float) -> bool:
            value, mean, variance = self.cumulants(theta)
            turned = 1.0 - theta
            tail = value + turned * mean + 0.5 * turned * turned * variance
            tail += float(log_ndtr(-abs(turned) * math.sqrt(max(variance, 1e-300))))
            return tail >= log_fnr if turned >= 0.0 else tail <= log_tpr

        return self._root(above)

    def _tilt_of_delta(self, log_delta: float, *, turned: bool = False) -> float:
        """The tilt whose mean is about the loss of that delta, which no sure mass counts to; or that of the other direction's."""

        def above(theta: float) -> bool:
            value, mean, variance = self.cumulants(theta)
            spread = math.sqrt(max(variance, 1e-24))
            log_density = value + (1.0 - theta) * mean - math.log(spread * math.sqrt(2.0 * math.pi))
            log_height = log_density - math.log(
                density_over_number(theta, spread, "other" if turned else "delta")
            )
            return log_height - mean >= log_delta if turned else log_height <= log_delta

        if log_delta > -1.0:
            return self._root(above)
        if turned:  # the mean of a world is passed too often, and farther out densities fall again
            return min(0.0, self._root(lambda theta: theta >= 0.0 or above(theta)))
        return max(1.0, self._root(lambda theta: theta >= 1.0 and above(theta)))

    def _plan(self, theta: float) -> tuple[list[Levels], float, float, float, tuple[float, float]]:
        """(where each distribution is needed, mean square of a sum's cells in steps, both ends of the circle, shifts of the tilt)."""
        if theta not in self._plans:
            spread = math.sqrt(max(self.cumulants(theta)[2], 1e-24))
            levels = [self._levels(i, theta, spread) for i in range(len(self.laws))]
            burden = sum(count * level.burden for (_, count), level in zip(self.laws, levels, strict=True))
            self._plans[theta] = levels, burden, *self._window(theta, levels, spread)
        return self._plans[theta]

    def reached(self, theta: float) -> bool:
        """Whether the outlines reach as far as the tilt leads, and a circle is fine enough for it."""
        for (law, _), (line, _) in zip(self.laws, self.outlines, strict=True):
            exponent = line.log_out + theta * line.losses
            top = float(exponent.max())
            if not self._is_cut and (
                (math.isinf(law.ends[1]) and exponent[-1] > top - 40.0)
                or (math.isinf(law.ends[0]) and exponent[0] > top - 40.0)
            ):
                return False
        steep = max(1.0, abs(theta), abs(1.0 - theta))
        if steep * max(float(np.ptp(level.losses)) for level in self._plan(theta)[0]) > _MOST_DECAY:
            return False
        return self.floor(theta) * steep < 1.0

    def bounds_both_sides(self, theta: float) -> bool:
        """Whether also what a band leaves out, as too light under the tilt, is less than the number that it is made for."""
        value, mean, _ = self.cumulants(theta)
        sign = 1.0 if theta > 0.5 else -1.0
        for (_, count), (line, _) in zip(self.laws, self.outlines, strict=True):
            exponent = line.log_out + theta * line.losses
            light = (exponent < exponent.max() + LIGHTEST) & (sign * (line.losses - mean / self.total) > 0.0)
            masses, unit = (line.log_in, 1.0 - theta) if sign > 0.0 else (line.log_out, -theta)
            if light.any() and np.logaddexp.reduce(masses[light]) + math.log(count) > value + unit * mean:
                return False
        return self.reached(theta)

    def _eased(self, theta: float) -> float:
        """A tilt nearer to 1/2 where that leaves the sum in a shorter circle, and the mean of this sum still in its midst.

        Where single losses are rare and large, a tilt makes them common long before its mean is far.
        """
        value, mean, _ = self.cumulants(theta)

        def cost(tilt: float) -> float:
            slack = self.cumulants(tilt)[0] - value + (theta - tilt) * mean  # of Chernoff's bound at the mean
            _, _, low, high, _ = self._plan(tilt)
            return (high - low) * math.exp(min(slack / _EASE, 600.0))

        best, least = theta, cost(theta)
        for share in (0.75, 0.5, 0.25, 0.0):
            tilt = 0.5 + share * (theta - 0.5)
            if (now := cost(tilt)) > least:
                break
            best, least = tilt, now
        return best

    def floor(self, theta: float) -> float:
        """The finest step for which a circle and the nodes of each distribution have room, and that float64 resolves at single losses."""
        levels, _, low, high, _ = self._plan(theta)
        ends = [
            np.append(level.losses[[0, -1]], law.fixed)
            for (law, _), level in zip(self.laws, levels, strict=True)
        ]
        size = max(float(np.abs(end).max()) for end in ends)
        least = max(1.05 * (high - low) / self.places, _FINEST * size)
        room = memory() / (_PLACE * len(levels))
        return max(level.finest(least, room) for level in levels)

    def step(self, theta: float, accuracy: float, needs: str) -> float:
        """The step that about gives a relative accuracy."""
        spread = math.sqrt(max(self.cumulants(theta)[2], 1e-24))
        burden = self._plan(theta)[1]
        widest = 1.0 / max(1.0, abs(theta), abs(1.0 - theta))  # over wider cells a tilt says nothing
        if spread < self.floor(theta):  # all but an atom, which a lattice of any step goes through
            return widest
        return min(
            math.sqrt(2.0 * accuracy / (burden * density_over_number(theta, spread, needs))),
            spread / 16.0,
            widest,
        )

    def _levels(self, i: int, theta: float, spread: float) -> Levels:
        """Where a distribution is needed, in cells of which width."""
        line, count = self.outlines[i]
        value, mean, _ = self.cumulants(theta)
        tilted = line.log_out + theta * line.losses
        top = float(tilted.max())
        weights = np.exp(tilted - top)
        log_mass = math.log(float(weights.sum()))
        weights /= weights.sum()
        gaps = np.maximum(np.gradient(line.losses), 1e-300) if line.losses.size > 1 else np.ones(1)
        density = weights / gaps
        heavy = weights > 1e-3 / weights.size
        some = np.sort(density[heavy]) if heavy.any() else density.max(keepdims=True)
        peak = float(some[int(0.9 * some.size)])
        width = np.ones(weights.shape)
        for _ in range(64):  # a law with a very dense part is not cut as finely as that everywhere
            with np.errstate(divide="ignore", over="ignore"):
                wish = np.maximum(1.0, 0.5 * (peak / np.maximum(density, 1e-300)) ** (1.0 / 3.0))
            width = np.exp2(np.floor(np.log2(np.minimum(wish, 2.0**40))))
            if float(weights @ np.minimum(width, 1e6) ** 2) <= _MOST_BURDEN:
                break
            peak /= 8.0
        above = np.cumsum(weights[::-1])[::-1]
        below = np.cumsum(weights)
        with np.errstate(divide="ignore"):
            in_above = np.logaddexp.accumulate(line.log_in[::-1])[::-1] + math.log(count)
            out_below = np.logaddexp.accumulate(line.log_out) + math.log(count)
        far = min(2.0, 40.0 / max(1.0, abs(theta))) + _REACH * spread
        floor_in = value + (1.0 - theta) * mean - abs(1.0 - theta) * far - 26.0
        floor_out = value - theta * mean - abs(theta) * far - 26.0
        faint = 1e-17 / count
        needed = ((above > faint) | (in_above > floor_in)) & ((below > faint) | (out_below > floor_out))
        chosen = np.flatnonzero(needed)
        part = slice(int(chosen[0]), int(chosen[-1]) + 1)
        steep = (
            np.abs(np.gradient(np.log(np.maximum(density, 1e-300)))) / gaps if gaps.size > 1 else np.ones(1)
        )
        widest = np.minimum(line.widest, 0.4 / np.maximum(steep, max(1.0, abs(theta), abs(1.0 - theta))))
        # An atom on a node stays where it is.
        law, losses = self.laws[i][0], line.losses[part]
        nodes = law.ends if i == self._parted and law.fixed in law.ends else (law.fixed,)
        moved = np.where(np.isin(losses, nodes), 0.0, weights[part])
        held = float(weights[part].sum() - moved.sum())
        burden = max(float(moved @ np.minimum(width[part], 1e6) ** 2), 1.0 - held, _LEAST_BURDEN)
        return Levels(losses, width[part], widest[part], (tilted - top - log_mass)[part], burden)

    def _window(
        self, theta: float, levels: list[Levels], spread: float
    ) -> tuple[float, float, tuple[float, float]]:
        """Losses between which the tilted sum lies but for e^-34 at either side, and the shifts of tilt that show it."""
        shifts = _SHIFTS / spread
        ends = []
        for sign in (-1.0, 1.0):
            log_ratio = np.zeros(shifts.shape)
            for (_, count), level in zip(self.laws, levels, strict=True):
                exponent = sign * shifts[:, None] * level.losses + level.log_weights
                top = exponent.max(axis=1)
                log_ratio += count * (top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)))
            reach = (log_ratio + _TAIL) / shifts
            best = int(reach.argmin())
            ends.append((sign * float(reach[best]), float(shifts[best])))
        (low, down), (high, up) = ends
        parts = [(count, level.losses) for (_, count), level in zip(self.laws, levels, strict=True)]
        least, most = (sum(count * float(losses[end]) for count, losses in parts) for end in (0, -1))
        return max(low, least), min(high, most), (down, up)

    def _single(self, loss: float, needs: str) -> float:
        """About the logarithm of the mass, of "in" above a loss or of "out" below it, that a single loss makes."""
        result = -math.inf
        for line, count in self.outlines:
            beyond = line.losses > loss if needs == "delta" else line.losses < loss
            masses = (line.log_in if needs == "delta" else line.log_out)[beyond]
            result = max(result, math.log(count) + float(np.logaddexp.reduce(masses, initial=-np.inf)))
        return result


def refined_within(spread: float) -> float:
    """How far a mean may be from that of a band which is refined instead: float64 holds the slopes of its losses."""
    return min(0.25 * spread, _FAR)
