"""The curve of two mixtures of unit normal distributions from their parts, between proven bounds."""

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import field
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from mipsim._roots import least_float
from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, probit_of_log

Parts = list[tuple[float, Fraction]]
"""(shift, probability > 0) of each part, by rising shift; exact, since what both worlds have in common cancels."""
_WEIGHTS = 1e-14  # relative: what rounding leaves open of a probability, such as a binomial
_LEAST = 1e-100  # distance of two parts
_NARROW = 1e-9  # a relative width of delta above which it is looked at as of any curve too


def vector(name: str, high: float = math.inf, **how: Any) -> Any:
    """A field that holds a vector of numbers in [0, high], or says that it is none; `how` may hold a `default`."""

    def checked(value: object) -> tuple[float, ...]:
        array = finite_vector(name, value)
        if (bad := (array < 0.0) | (array > high)).any():
            raise ValueError(f"{name} holds {array[bad][0]:g}; it must hold numbers in [0, {high:g}]")
        return tuple(array.tolist())

    return field(metadata={"converter": checked}, **how)


def parts_of(shifts: tuple[float, ...], weights: tuple[float, ...], unit: float = 1.0) -> Parts:
    """Shifts in a unit, each with its share in the sum of all weights.

    >>> parts_of((4.0, 0.0, 4.0), (0.25, 0.5, 0.25), 2.0)
    [(0.0, Fraction(1, 2)), (2.0, Fraction(1, 2))]
    """
    shares, total = dict[float, Fraction](), sum(map(Fraction, weights))
    for shift, weight in zip(shifts, weights, strict=True):
        place = shift / unit + 0.0  # no -0.0
        shares[place] = shares.get(place, 0) + Fraction(weight) / total
    return sorted((place, share) for place, share in shares.items() if share)


class AbstractGaussianParts(AbstractTradeOff):
    """Telling two mixtures of normal distributions with the same noise, by their parts."""

    @property
    @abstractmethod
    def _worlds(self) -> tuple[Parts, Parts]:
        """The parts of "out", and those of "in", shifts in units of the noise."""

    def parts(self, *, inside: bool) -> list[tuple[float, float]]:
        """(shift in units of the noise, probability > 0) of each part of a world, by rising shift.

        Examples:
            >>> import mipsim as mi
            >>> mi.GaussianMixtureTradeOff([2.0, 0.0], [0.5, 0.5], noise=4.0).parts(inside=True)
            [(0.0, 0.5), (0.5, 0.5)]
        """
        return [(shift, float(share)) for shift, share in self._worlds[inside]]

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return curve_of(*self._worlds, np.asarray(log_fpr, np.float64))

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x = np.asarray(epsilon, np.float64).ravel()
        low, high = log_delta_of(*self._worlds, x)
        if (wide := ~(high <= low + _NARROW)).any():
            least, most = super()._log_delta(x[wide])
            low[wide], high[wide] = np.maximum(low[wide], least), np.minimum(high[wide], most)
        return low.reshape(np.shape(epsilon)), high.reshape(np.shape(epsilon))

    def is_convex(self) -> bool:
        return True

    def largest_loss_bounds(self) -> tuple[float, float]:
        (far, base), (most, last) = (side[-1] for side in self._worlds)
        if most > far:
            return math.inf, math.inf
        loss = math.log(last) - math.log(base)  # far out both worlds are their parts at 0
        return max(loss - 2.0 * _WEIGHTS, 0.0), max(loss + 2.0 * _WEIGHTS, 0.0)

    def mu_ceiling(self) -> float:
        out, inside = self._worlds
        return (inside[-1][0] - out[0][0]) * (1.0 + 4.0 * EPS)

    def least_mu_bounds(self) -> tuple[float, float]:
        """The largest distance of two parts is enough; where a world has a single part, the rarest rates need as much."""
        out, inside = self._worlds
        needed = max(inside[-1][0] - out[-1][0], inside[0][0] - out[0][0])
        return needed * (1.0 - 4.0 * EPS), self.mu_ceiling()


def curve_of(out: Parts, inside: Parts, x: np.ndarray) -> CurveBounds:
    """Of the tests "outcome > y", at logarithms of FPRs.

    >>> curve = curve_of([(0.0, 1.0)], [(0.0, 0.5), (1.0, 0.5)], np.log([0.5]))
    >>> np.exp(curve.log_tpr_low).round(6).tolist()  # (0.5 + 0.841345) / 2
    [0.670672]
    """
    z, shifts = -probit_of_log(x), [shift for shift, _ in out]
    if len(shifts) == 1:
        off = 16.0 * EPS * (np.where(np.isfinite(z), np.abs(z), 0.0) + inside[-1][0] - shifts[0])
        low, high = z + shifts[0] - off, z + shifts[0] + off
    else:
        rare, rest = x < -math.log(2.0), log_complement(x)

        def reached(y: np.ndarray, end: int) -> np.ndarray:
            """Whether the FPR at y is at most the requested, so far as an end of its bounds tells."""
            tail, other = _log_tail(out, y, True)[end], _log_tail(out, y, False)[1 - end]
            return np.where(rare, tail <= x, other >= rest)

        low, high = _crossing(z + shifts[0], z + shifts[-1], reached)
    fnr, tpr = ([_log_tail(inside, y, upper) for y in (low, high)] for upper in (False, True))
    result = CurveBounds(fnr[0][0], fnr[1][1], tpr[1][0], tpr[0][1]).tightened()
    return result.ended(x, start=True)


def log_delta_of(out: Parts, inside: Parts, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the log of the tail of p - e^epsilon q above its zero, part by part: what both worlds have in common cancels, so that
    rare parts keep their digits. Where the density ratio rises it is delta. `x`: epsilons >= 0, shape (m,).

    >>> ends = log_delta_of([(0.0, 1.0)], [(1.0, 1.0)], np.array([1.0]))
    >>> [round(float(np.exp(end[0])), 8) for end in ends]
    [0.12693674, 0.12693674]
    """
    shares = dict(inside), dict(out)
    shifts = np.array(sorted({**shares[0], **shares[1]}))
    gap = float(np.diff(shifts).min(initial=math.inf))
    # squares of what is farther are no floats
    if not (gap >= _LEAST and np.abs(shifts).max() <= 1.0 / _LEAST):
        return np.full(x.shape, -np.inf), np.zeros(x.shape)
    with np.errstate(divide="ignore"):
        log_p, log_q = (np.log([[float(share.get(s, 0.0))] for s in shifts.tolist()]) for share in shares)
    scale = np.maximum(log_p, log_q + x)
    value = np.exp(log_p - scale) - np.exp(log_q + x - scale)
    off = np.full(value.shape, 2.0 * _WEIGHTS) + 8.0 * EPS * x
    if shares[0].get(0.0) == shares[1].get(0.0):
        value[shifts == 0.0] = np.expm1(-x)
        off[shifts == 0.0] = -_WEIGHTS * np.expm1(-x)
    coefficients = value - off, value + off, scale
    column = shifts[:, None]

    def above(y: np.ndarray, end: int) -> np.ndarray:
        """Whether p is surely above e^epsilon q, or not surely below."""
        exponents = column * y - 0.5 * column**2
        ends = _signed_sum(coefficients, exponents, exponents, np.abs(column * y) + column**2)
        return ends[0][0] > 0.0 if end else ~(ends[1][0] < 0.0)

    reach = (np.abs(x) + 1600.0) / gap + np.abs(shifts).max()
    with np.errstate(all="ignore"):  # what is no number bounds nothing
        low, high = _crossing(-reach, reach, above)
        middle = np.where(np.isfinite(high), high, low)
        tails = [log_ndtr(column - y) for y in (low, high, middle)]
        sizes = [np.where(np.isneginf(tail), 0.0, np.abs(tail)) for tail in tails]
        least, scale = _signed_sum(coefficients, tails[2], tails[2], sizes[2])[0]
        most, wider = _signed_sum(coefficients, tails[1], tails[0], np.maximum(sizes[0], sizes[1]))[1]
        return (
            np.where(least > 0.0, scale + np.log(least), -np.inf),
            np.where(most <= 0.0, -np.inf, np.fmin(wider + np.log(most), 0.0)),
        )


def _crossing(
    low: np.ndarray, high: np.ndarray, holds: Callable[[np.ndarray, int], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of where something begins to hold: not yet where `holds` of the end 0 is false, and from where that of the end 1 is true."""
    start, ends = least_float(lambda y: holds(y, 0), low, high), []
    for sign, end in ((-1.0, 0), (1.0, 1)):
        y, step = start, 4.0 * EPS * (1.0 + np.where(np.isfinite(start), np.abs(start), 0.0))
        for _ in range(60):
            if not (wrong := holds(y, end) != (end == 1)).any():
                break
            y, step = np.where(wrong, y + sign * step, y), 2.0 * step
        ends.append(np.where(holds(y, end) == (end == 1), y, sign * np.inf))
    return ends[0], ends[1]


def _signed_sum(
    coefficients: tuple[np.ndarray, ...], low: np.ndarray, high: np.ndarray, size: np.ndarray
) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
    """Bounds of the sum over parts, axis 0, of a coefficient times e^log, each (multiple, scale), of logarithms between `low` and `high`,
    which are off by some roundings of `size`.
    """
    least, most, scale = coefficients
    off = (16.0 + 4.0 * len(least)) * EPS * (1.0 + size + np.abs(scale))
    top = np.max(scale + high, axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    low, high = np.exp(scale + low - off - top), np.exp(scale + high + off - top)
    ends = (
        np.sum(np.where(least > 0.0, least * low, least * high), axis=0),
        np.sum(np.where(most > 0.0, most * high, most * low), axis=0),
    )
    return (ends[0], top), (ends[1], top)


def _log_tail(parts: Parts, y: np.ndarray, upper: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of log P(outcome > y) of a mixture if `upper`, else of log P(outcome <= y)."""
    logs = [math.log(weight) + log_ndtr(shift - y if upper else y - shift) for shift, weight in parts]
    value = np.minimum(np.logaddexp.reduce(logs, axis=0), 0.0)
    size = np.where(np.isneginf(value), 0.0, np.abs(value))
    off = _WEIGHTS + (16.0 + 4.0 * len(logs)) * EPS * (1.0 + size)
    return value - off, np.minimum(value + off, 0.0)
