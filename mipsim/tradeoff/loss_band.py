"""What a lattice of a given step says of a sum of privacy losses near a tilt."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mipsim.sums.lattice import Power
from mipsim.sums.loss_bounds import Rounded
from mipsim.tradeoff.bounds import TINY, CurveBounds, log_complement

PLACES = {"delta": slice(0, 2), "rest": slice(2, 4), "other": slice(4, 6)}
"""Where `Band.sticks` has the bounds of each number."""
_BEYOND = 8.0, 20.0, 40.0  # nats above a loss at which the TPR bounds delta where slopes are of no use
_NO_MATTER = -36.0  # logarithm of a share that rounding hides
_LARGEST = 1e307  # about the largest float64
_DEVIATIONS = np.linspace(0.0, 12.0, 601)[1:]
_BELL = np.exp(-0.5 * _DEVIATIONS**2)


class BandSide:
    """Bounds of the masses above and below places of the lattice, in both worlds, as (low, high) in units of the band.
    `way`: 1 where the distribution reveals more, so that what a world alone has is rounded up, -1 where it reveals less.
    """

    def __init__(
        self, power: Power, rounded: Sequence[tuple[Rounded, int]], units: tuple[float, float], way: float
    ) -> None:
        theta, (unit_in, unit_out) = power.theta, units
        self.losses = power.losses
        slack = 3.0 * math.expm1(min(sum(count * law.rounding for law, count in rounded), 50.0))
        # Slopes are e^(loss - centre), right to as many roundings as that is large.
        reach = min(float(np.abs(power.losses - power.centre).max()), 700.0)
        slack += (
            8.0 * 2.0**-53 * (abs(power.log_scale) + (1.0 + abs(theta)) * abs(power.centre) + reach + 4.0)
        )
        log_in = (1.0 - theta) * power.centre + power.log_scale - unit_in
        log_out = -theta * power.centre + power.log_scale - unit_out
        self.out_up, self.out_down = (_scaled(*tail, log_out, slack) for tail in power.tails(-theta))
        self.in_up, self.in_down = (_scaled(*tail, log_in, slack) for tail in power.tails(1.0 - theta))
        self.in_only = _any_of([(law.log_in_only, n) for law, n in rounded], unit_in, way, slack)
        self.out_only = _any_of([(law.log_out_only, n) for law, n in rounded], unit_out, way, slack)
        missing, rejected = [(law.log_in_missing, count) for law, count in rounded], []
        for k in range(max(len(law.lost) for law, _ in rounded)):
            accept, reject = ([(law.lost[k][i], count) for law, count in rounded] for i in (0, 1))
            # What matters less beside the FNR or the FPR there; the rate whose tail is not small is about 1.
            beside_fnr = _log_total(accept) - (unit_in if theta < 1.0 else 0.0)
            beside_fpr = _log_total(reject) - (unit_out if theta > 0.0 else 0.0)
            # Of two that do not matter here: what matters far from here, where the other rate is rare.
            no_matter = beside_fnr < _NO_MATTER and beside_fpr < _NO_MATTER
            if theta >= 0.5 if no_matter else beside_fnr <= beside_fpr:
                missing += accept
            else:
                rejected += reject
        self.in_missing = _any_of(missing, unit_in, 1.0, slack)
        self.out_missing = _any_of(rejected, unit_out, 1.0, slack)
        self.log_in_missing, self.log_out_missing = (
            _log_total(masses) + slack + 1e-12 for masses in (missing, rejected)
        )
        self.in_surplus = _more_by([(law.log_in_surplus, n) for law, n in rounded], unit_in, slack)
        self.out_surplus = _more_by([(law.log_out_surplus, n) for law, n in rounded], unit_out, slack)


Logs = Sequence[tuple[float, int]]
"""Masses, each by its logarithm and how often it is there."""


def _scaled(
    value: np.ndarray, error: np.ndarray, log_unit: float, slack: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of what is known to an error, times e^log_unit."""
    if abs(log_unit) > 600.0:  # the plan was far off: nothing is known
        return np.zeros(value.shape), np.full(value.shape, np.inf)
    scale = math.exp(log_unit)
    with np.errstate(invalid="ignore", over="ignore"):
        low = np.maximum(value - error, 0.0) * (scale * (1.0 - slack))
        high = (value + error) * (scale * (1.0 + slack))
    return np.nan_to_num(low, nan=0.0), np.nan_to_num(high, nan=np.inf, posinf=np.inf)


def _any_of(masses: Logs, log_unit: float, way: float, slack: float) -> float:
    """A bound on the probability that any of the masses occurs, from above (way 1) or below (-1); in units."""
    rare = _log_total(masses)
    if rare > -30.0:
        retained = sum(count * float(log_complement(log)) for log, count in masses)
        rare = math.log(-math.expm1(retained)) if retained < 0.0 else -math.inf
    if way > 0.0 and rare - log_unit > 705.0:  # no float64 is above it
        return math.inf
    return math.exp(min(rare - log_unit, 705.0)) * (1.0 + way * (slack + 1e-12))


def _more_by(masses: Logs, log_unit: float, slack: float) -> float:
    """A bound on what additional masses of each term add to the sum; in units."""
    more = _log_total(masses)
    if more > -30.0:
        more = math.log(math.expm1(math.exp(more))) if more < 6.0 else math.inf
    return math.exp(more - log_unit) * (1.0 + slack + 1e-12) if more - log_unit < 705.0 else math.inf


def _log_total(masses: Logs) -> float:
    """Log of the sum of masses."""
    most = max((log for log, _ in masses), default=-math.inf)
    if most == -math.inf:
        return most
    return math.log(sum(count * math.exp(log - most) for log, count in masses)) + most


@dataclass(frozen=True, eq=False)
class Band:
    """Bounds around a single loss.

    All masses are in units: e^log_in in the world "in", e^log_out in the world "out"; slopes are in e^centre.
    """

    # step, spread, centre: step of the lattice, standard deviation of the tilted sum, its mean
    step: float
    spread: float
    centre: float
    # log_in, log_out: logarithms of the units
    log_in: float
    log_out: float
    places: np.ndarray  # increasing losses at which the next three are given, shape (m,)
    # slope, delta, rest, other: e^place; upper bounds of delta, lower bounds of 1 - delta, and upper bounds of e^place
    # times the delta of the other direction, at these places; each is linear in the slope, or safe so, in between
    slope: np.ndarray
    delta: np.ndarray
    rest: np.ndarray
    other: np.ndarray
    less: np.ndarray
    # fpr, tnr, fnr, tpr: corners on or above the curve, by falling FPR: upper bounds of the first and the third, lower
    # ones of the others
    fpr: np.ndarray
    tnr: np.ndarray
    fnr: np.ndarray
    tpr: np.ndarray
    # log_missing: logarithms of bounds on the masses of "out" that each FPR, and of "in" that each FNR, has beyond its corner's
    log_missing: tuple[float, float]

    @classmethod
    def between(
        cls,
        step: float,
        spread: float,
        centre: float,
        worse: BandSide,
        better: BandSide,
        units: tuple[float, float],
    ) -> Band:
        """From the tails of a distribution that reveals more and another that reveals less."""
        with np.errstate(over="ignore", invalid="ignore"):
            slope = np.exp(np.clip(worse.losses - centre, -700.0, 700.0))
            far = np.abs(worse.losses - centre) > 700.0
            delta = worse.in_only + worse.in_up[1] - slope * worse.out_up[0]
            surplus = np.minimum(worse.in_surplus, slope * worse.out_surplus)
            rest = np.maximum(worse.in_down[0] + slope * worse.out_up[0] - surplus, 0.0)
            other = slope * (worse.out_down[1] + worse.out_only) - worse.in_down[0]
            # Where no float64 holds the slope: what the world "in" tells alone, and that all masses of "out" are at most 1.
            delta, rest, other = (
                np.where(far, worse.in_only + worse.in_up[1], delta),
                np.where(far, np.maximum(worse.in_down[0] - worse.in_surplus, 0.0), rest),
                np.where(
                    far, np.exp(worse.losses - units[0]) * (1.0 + 1e-9) + TINY - worse.in_down[0], other
                ),
            )
            corners = (
                better.out_up[1] + better.out_missing,
                better.out_down[0] + better.out_only,
                better.in_down[1] + better.in_missing,
                better.in_up[0] + better.in_only,
            )

        def sound(values: np.ndarray) -> np.ndarray:
            return np.maximum(np.nan_to_num(values, nan=np.inf, posinf=np.inf), 0.0)

        return cls(
            step,
            spread,
            centre,
            units[0],
            units[1],
            worse.losses,
            slope,
            # All three are monotone in the loss.
            np.minimum.accumulate(sound(delta)),
            np.maximum.accumulate(np.nan_to_num(rest, nan=0.0, posinf=0.0)),
            np.minimum.accumulate(sound(other)[::-1])[::-1],
            better.losses,
            *corners,
            (better.log_out_missing, better.log_in_missing),
        )

    def turned(self) -> Band:
        """The worlds exchanged."""
        with np.errstate(over="ignore", invalid="ignore"):
            slope = 1.0 / self.slope
            delta, rest, other = (
                np.nan_to_num(part * slope, nan=np.inf, posinf=np.inf)
                for part in (self.other, self.rest, self.delta)
            )
            # What was cut off of a slope is on the safe side, or nothing is known.
            up, down = self.places - self.centre > 700.0, self.places - self.centre < -700.0
            delta, other = (np.where(down, np.inf, part) for part in (delta, other))
            rest = np.where(up | np.isinf(rest), 0.0, rest)
        back = slice(None, None, -1)
        return Band(
            self.step,
            self.spread,
            -self.centre,
            self.log_out,
            self.log_in,
            -self.places[back],
            slope[back],
            delta[back],
            rest[back],
            other[back],
            -self.less[back],
            self.fnr[back],
            self.tpr[back],
            self.fpr[back],
            self.tnr[back],
            (self.log_missing[1], self.log_missing[0]),
        )

    def sticks(self, loss: np.ndarray) -> tuple[np.ndarray, ...]:
        """Logs of (low, high) of delta at losses, of 1 - delta, and of e^loss times the other direction's delta at -loss."""
        slope = np.exp(np.clip(loss - self.centre, -700.0, 700.0))
        far = np.abs(loss - self.centre) > 700.0
        at = np.clip(np.searchsorted(self.places, loss, side="right") - 1, 0, self.places.size - 2)
        left, right = self.slope[at], self.slope[at + 1]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.clip((slope - left) / (right - left), 0.0, 1.0)
            below, above = loss < self.places[0], loss > self.places[-1]

            # The last two are 0 at the slope 0: below the first place the chord to it bounds them too.
            start = slope / self.slope[0]

            def chord(ends: np.ndarray, before: np.ndarray | float, after: float) -> np.ndarray:
                value = (1.0 - share) * ends[at] + share * ends[at + 1]
                value = np.where(np.isnan(value), 0.0 if ends is self.rest else np.inf, value)
                return np.log(np.where(below, before, np.where(above, after, value)))

            # Slopes that no float64 holds have no chords: delta falls, and the others rise.
            steep = (
                far | (self.places[at + 1] - self.centre > 700.0) | (self.places[at] - self.centre < -700.0)
            )
            steep &= ~below & ~above
            delta_high = np.where(steep, np.log(self.delta[at]), chord(self.delta, np.inf, self.delta[-1]))
            other_high = np.where(
                steep,
                np.log(self.other[at + 1]),
                chord(self.other, self.other[0] * start * (1.0 + 1e-12), np.inf),
            )
            rest_low = np.where(
                steep,
                np.log(self.rest[at]),
                chord(self.rest, np.where(far, 0.0, self.rest[0] * start * (1.0 - 1e-12)), self.rest[-1]),
            )
            near = np.clip(np.searchsorted(self.less, loss), 1, self.less.size - 1)
            delta, other = np.zeros(loss.shape), np.zeros(loss.shape)
            rest = np.full(loss.shape, np.inf)
            late = loss - self.centre > 700.0  # of an earlier loss the slope is at most that
            for k in (near - 1, near):
                delta = np.fmax(delta, np.where(late, 0.0, self.tpr[k] - slope * self.fpr[k]))
                rest = np.fmin(rest, np.where(late, np.inf, self.fnr[k] + slope * self.fpr[k]))
                turned = np.minimum(slope * self.tnr[k], _LARGEST)
                other = np.fmax(other, np.where(far, 0.0, turned - self.fnr[k]))
            # Beyond a loss that is larger by d the FPR is at most e^-(loss + d) times the TPR, and what is missing.
            paid = np.exp(np.minimum(loss + self.log_missing[0] - self.log_in, 700.0))
            for more in _BEYOND:
                k = np.clip(np.searchsorted(self.less, loss + more), 0, self.less.size - 1)
                gap = self.less[k] - loss
                beyond = self._beyond[k] * -np.expm1(-gap) - paid
                delta = np.where(far & (gap > 0.0), np.fmax(delta, beyond), delta)
            lows = np.log(delta), np.log(other)
            rest_high = np.log(rest)
        u, edge = self.log_in, 8.0 * 2.0**-53 * (4.0 + abs(self.log_in))
        ends = lows[0], delta_high, rest_low, rest_high, lows[1], other_high
        with np.errstate(invalid="ignore"):  # of an infinite end
            return tuple(
                np.where(np.isinf(end), end, end + u + way * (edge + 8.0 * 2.0**-53 * np.abs(end)))
                for end, way in zip(ends, (-1.0, 1.0) * 3, strict=True)
            )

    def threshold(self, log_fpr: np.ndarray, log_tnr: np.ndarray) -> np.ndarray:
        """About the losses at which FPRs are reached."""
        with np.errstate(over="ignore"):
            fpr, tnr = (np.exp(np.minimum(rate - self.log_out, 700.0)) for rate in (log_fpr, log_tnr))
        by_fpr, by_tnr = np.searchsorted(-self.fpr, -fpr), np.searchsorted(self.tnr, tnr)
        return self.less[np.clip(np.where(log_fpr < log_tnr, by_fpr, by_tnr), 0, self.less.size - 1)]

    def _slope_times(self, k: np.ndarray, log_rate: np.ndarray, rate: np.ndarray, way: float) -> np.ndarray:
        """A rate times the slope at a place, which may be no float64 itself; bounded from above (way 1) or below (-1)."""
        far = np.abs(self.places[k] - self.centre) > 690.0
        finite = np.where(np.isinf(log_rate), 0.0, log_rate)
        off = 8.0 * 2.0**-53 * (8.0 + np.abs(self.places[k]) + np.abs(finite) + abs(self.log_in))
        exponent = self.places[k] + log_rate - self.log_in + way * off
        product = np.exp(np.where(exponent > 709.0, np.inf, exponent)) + max(way, 0.0) * TINY
        return np.where(far, product, self.slope[k] * rate)

    @cached_property
    def _beyond(self) -> np.ndarray:
        """The largest of the TPRs from each corner on: it falls with the loss, and is known best in the midst."""
        return np.maximum.accumulate(np.nan_to_num(self.tpr, nan=0.0)[::-1])[::-1]

    @cached_property
    def _by_fpr(self) -> np.ndarray:
        """The FPRs of the corners with the sign changed, rising."""
        return np.maximum.accumulate(np.nan_to_num(-self.fpr, nan=-np.inf, posinf=np.inf))

    @cached_property
    def _by_tnr(self) -> np.ndarray:
        return np.maximum.accumulate(np.nan_to_num(self.tnr, nan=-np.inf, posinf=np.inf))

    def curve(self, log_fpr: np.ndarray, log_tnr: np.ndarray) -> tuple[np.ndarray, ...]:
        """Logs of (FNR low, FNR high, TPR low, TPR high) at FPRs."""
        u, unit = self.log_in, 2.0**-53
        edge = 8.0 * unit * (4.0 + abs(self.log_in) + abs(self.log_out))
        with np.errstate(over="ignore", under="ignore", divide="ignore", invalid="ignore"):
            logs = [rate - self.log_out for rate in (log_fpr, log_tnr)]
            # Relative errors of the rates in units of the band; a rate that underflows is up to the least float.
            off = [
                8.0 * unit * (8.0 + np.abs(np.where(np.isinf(x), 0.0, x)) + abs(self.log_out)) for x in logs
            ]
            least = [np.exp(np.minimum(x, 700.0)) * (1.0 - m) for x, m in zip(logs, off, strict=True)]
            most = [
                np.where(np.isneginf(x), 0.0, np.exp(np.where(x > 700.0, np.inf, x)) * (1.0 + m) + TINY)
                for x, m in zip(logs, off, strict=True)
            ]
            low, high = np.zeros(log_fpr.shape), np.full(log_fpr.shape, np.inf)
            fnr, tpr = np.full(log_fpr.shape, np.inf), np.zeros(log_fpr.shape)
            last = self.slope.size - 1
            # Chords are read at a smaller FPR.
            for rate, corners, sign, ordered in (
                (least[0], self.fpr, -1.0, self._by_fpr),
                (most[1], self.tnr, 1.0, self._by_tnr),
            ):
                at = np.clip(np.searchsorted(ordered, sign * rate) - 1, 0, corners.size - 2)
                start, end = corners[at], corners[at + 1]
                share = (rate - start) / (end - start)
                fine = (share >= 0.0) & (share <= 1.0)  # not where it is no number
                # A corner of no larger FPR bounds the FNR too.
                passed = [sign * corners[k] >= sign * rate for k in (at, at + 1)]
                for ends, way in ((self.fnr, 1.0), (self.tpr, -1.0)):
                    value = (1.0 - share) * ends[at] + share * ends[at + 1]
                    value = value + way * (8.0 * unit * np.maximum(ends[at], ends[at + 1]) + TINY)
                    none, better = (np.inf, np.fmin) if way > 0.0 else (0.0, np.fmax)
                    value = np.where(fine, value, none)
                    for k, below in zip((at, at + 1), passed, strict=True):
                        value = better(value, np.where(below, ends[k], none))
                    if way > 0.0:
                        fnr = np.fmin(fnr, value)
                    else:
                        tpr = np.fmax(tpr, value)
                middle = np.searchsorted(self.places, self.less[at])
                for shift in (-1, 0, 1, 2):
                    k = np.clip(middle + shift, 0, last)
                    paid, saved = (
                        self._slope_times(k, log_fpr, most[0], 1.0),
                        self._slope_times(k, log_tnr, least[1], -1.0),
                    )
                    less, more = 1.0 - 8.0 * unit, 1.0 + 8.0 * unit
                    below = self.rest[k] * less - paid * more - TINY
                    # A lower bound that overflows is cut off, lest it were infinite.
                    other = np.minimum(saved, _LARGEST) * less - self.other[k] * more - TINY
                    low = np.fmax(low, np.fmax(below, other))
                    high = np.fmin(high, (self.delta[k] + paid) * more + TINY)
            logs = [np.log(value) + u for value in (low, fnr + TINY, tpr, high)]
            result = CurveBounds(
                *(
                    np.minimum(
                        end + way * (edge + 4.0 * unit * np.abs(np.where(np.isinf(end), 0.0, end))), 0.0
                    )
                    for end, way in zip(logs, (-1.0, 1.0, -1.0, 1.0), strict=True)
                )
            )
        return tuple(result.tightened())


def density_over_number(theta: float, spread: float, needs: str) -> float:
    """About the density of the world "in" at the mean of the tilt over the number that is needed."""
    t = spread * _DEVIATIONS

    def mean(slope: float, weight: np.ndarray | float = 1.0) -> float:
        with np.errstate(over="ignore"):
            return float((_BELL * np.exp(np.clip(slope * t, -700.0, 300.0)) * weight).sum()) * float(
                t[1] - t[0]
            )

    if needs in ("delta", "other"):
        result = mean(1.0 - theta if needs == "delta" else theta, -np.expm1(-t))
    elif needs == "rest":
        result = mean(theta - 1.0) + mean(-theta)
    else:
        result = min(map(mean, (1.0 - theta, theta - 1.0, theta, -theta)))
    return 1.0 / max(result, 1e-300)
