"""The trade-off function of two mixtures of Gaussians with the same noise: what random participation in a noisy sum leaks."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import log_ndtr

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, probit_of_log
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff

_SUM = 1e-9  # by which probabilities may miss 1: they are divided by their sum
_NARROW = 1e-9  # a relative width of delta above which it is looked at as of any curve too
_LEAST = 1e-100  # distance of two parts, in units of the noise
_WEIGHTS = 1e-14  # relative: what rounding leaves open of a probability, such as a binomial


def _vector(name: str, high: float = math.inf, **how: Any) -> Any:
    def checked(value: object) -> tuple[float, ...]:
        array = np.asarray(finite_vector(name, value), np.float64)
        if (bad := (array < 0.0) | (array > high)).any():
            raise ValueError(f"{name} holds {array[bad][0]:g}; it must hold numbers in [0, {high:g}]")
        return tuple(array.tolist())

    return field(metadata={"converter": checked}, **how)


class GaussianMixtureTradeOff(AbstractTradeOff):
    """Telling sum_j q_j N(-t_j, s^2), the world "out", from sum_i p_i N(s_i, s^2), the world "in".

    *It dominates every sum of noise N(0, s^2 I) and random contributions.* In the world "in" these are x_i with probability p_i and
    |x_i| <= s_i; in "out" they are y_j with probability q_j and |y_j| <= t_j, in any dimension; all else is the same in both, and may
    be random. No test has a larger TPR - e^epsilon FPR than the best of this curve, nor with the worlds exchanged. Steps that may use
    all releases before are dominated by the composition of the curves. It is reached where all x_i and y_j lie on a line, the y_j opposite.

    Proof. Let s = 1. With Z ~ N(0, I) and the pairs (X_i, Y_j) = (<x_i, Z>, <y_j, Z>), divide both densities by that of Z: the largest
    TPR - a FPR is E h(A - a B), A = sum_i p_i e^(X_i - Var X_i / 2), B = sum_j q_j e^(Y_j - Var Y_j / 2), h(u) = max(u, 0), or a smooth convex
    function near it. Move the covariances K of (X, Y) along a line to those of x_i = s_i, y_j = -t_j. For Gaussian vectors the
    derivative of E g is half the sum over pairs (u, v) of K'_uv E d^2 g / du dv; the terms in h' and Var' cancel. What remains has the sign of
    K' h'' >= 0 for two of the same mixture and of -K' h'' for an X and a Y. By Cauchy and Schwarz the former covariances rise,
    the latter fall: it is never negative. What is random in both worlds is averaged over: E h is convex in the pair of laws.

    Args:
        sensitivities: s_i >= 0, shape (m,).
        probabilities: p_i, shape (m,), of sum 1.
        noise: s > 0.
        opposite: t_j >= 0, shape (k,); by default a single 0.
        opposite_probabilities: q_j, shape (k,), of sum 1.

    Source: Choquette-Choo et al. (2024), "Privacy amplification for matrix mechanisms", section 4, for "out" N(0, s^2 I); Kahane (1985), "Sur
    le chaos multiplicatif", for the inequality; Zhu, Dong and Wang (2022), theorem 10, for steps that use those before.

    Examples:
        >>> group = GaussianMixtureTradeOff([0.0, 1.0, 2.0], [0.81, 0.18, 0.01], noise=1.5)
        >>> [round(bound, 9) for bound in group.delta_bounds(0.5)]
        [0.002038556, 0.002038556]
        >>> GaussianMixtureTradeOff([1.0], [0.5])
        Traceback (most recent call last):
        ...
        ValueError: probabilities has the sum 0.5; it must be 1
    """

    sensitivities: tuple[float, ...] = _vector("sensitivities")
    probabilities: tuple[float, ...] = _vector("probabilities", 1.0)
    noise: float = within("noise", 0.0, low_open=True, default=1.0)
    opposite: tuple[float, ...] = _vector("opposite", default=(0.0,))
    opposite_probabilities: tuple[float, ...] = _vector("opposite_probabilities", 1.0, default=(1.0,))

    def __check_init__(self) -> None:
        for name, other in (("probabilities", "sensitivities"), ("opposite_probabilities", "opposite")):
            given, size = getattr(self, name), len(getattr(self, other))
            if len(given) != size:
                raise ValueError(
                    f"{name} has {len(given)} entries; it must have an entry for each of {other}, {size}"
                )
            if abs(math.fsum(given) - 1.0) > _SUM:
                raise ValueError(f"{name} has the sum {math.fsum(given):.9g}; it must be 1")

    def parts(self, *, inside: bool) -> list[tuple[float, float]]:
        """(shift in units of the noise, probability > 0) of each part of a world, by rising shift.

        Examples:
            >>> GaussianMixtureTradeOff([2.0, 0.0], [0.5, 0.5], noise=4.0).parts(inside=True)
            [(0.0, 0.5), (0.5, 0.5)]
        """
        sign = 1.0 if inside else -1.0
        return sorted(
            (sign * shift / self.noise + 0.0, share) for shift, share in self._shares(inside).items()
        )

    def _shares(self, inside: bool) -> dict[float, float]:
        shifts, weights = (
            (self.sensitivities, self.probabilities)
            if inside
            else (self.opposite, self.opposite_probabilities)
        )
        total, together = math.fsum(weights), dict.fromkeys(shifts, 0.0)
        for shift, weight in zip(shifts, weights, strict=True):
            together[shift] += weight / total
        return {shift: share for shift, share in together.items() if share}

    def simplest(self) -> AbstractTradeOff:
        """The same curve as a Gaussian shift, sub-sampled or not, where it is that; else itself.

        Examples:
            >>> GaussianMixtureTradeOff([0.0, 2.0], [0.75, 0.25]).simplest()
            MixtureTradeOff(inner=GaussianTradeOff(mu=2.0), sampling_rate=0.25)
        """
        inside, out = self._shares(True), self._shares(False)
        full = GaussianTradeOff.of_noise(max(inside) + max(out), self.noise)
        if len(out) == len(inside) == 1:
            return full
        if len(inside) == 2 and min(inside) == 0.0 and list(out) == [0.0]:
            return MixtureTradeOff(full, inside[max(inside)])
        return self

    @cached_property
    def _out(self) -> list[tuple[float, float]]:
        return self.parts(inside=False)

    @cached_property
    def _is_even(self) -> bool:
        """Whether both worlds have the part at 0 equally often, as real numbers."""
        sides = (
            zip(self.sensitivities, self.probabilities, strict=True),
            zip(self.opposite, self.opposite_probabilities, strict=True),
        )
        pairs = [[(shift, Fraction(weight)) for shift, weight in side] for side in sides]
        first, second = (
            sum(w for shift, w in side if shift == 0.0) / sum(w for _, w in side) for side in pairs
        )
        return first == second

    @cached_property
    def _inside(self) -> list[tuple[float, float]]:
        return self.parts(inside=True)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64)
        low, high = self._threshold(x)
        fnr, tpr = ([_log_tail(self._inside, y, upper) for y in (low, high)] for upper in (False, True))
        result = CurveBounds(fnr[0][0], fnr[1][1], tpr[1][0], tpr[0][1]).tightened()
        for end, row in ((-np.inf, (0.0, 0.0, -np.inf, -np.inf)), (0.0, (-np.inf, -np.inf, 0.0, 0.0))):
            result = CurveBounds(*(np.full(x.shape, v) for v in row)).where(x == end, result)
        return result

    def _threshold(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the outcome above which "out" has this FPR."""
        z, shifts = -probit_of_log(x), [shift for shift, _ in self._out]
        if len(shifts) == 1:
            off = 16.0 * EPS * (np.where(np.isfinite(z), np.abs(z), 0.0) + self.mu_ceiling())
            return z + shifts[0] - off, z + shifts[0] + off
        rare, rest = x < -math.log(2.0), log_complement(x)

        def above(y: np.ndarray, end: int) -> np.ndarray:
            """Whether the FPR at y is above the requested, so far as an end of its bounds tells."""
            tail, other = _log_tail(self._out, y, True)[end], _log_tail(self._out, y, False)[1 - end]
            return np.where(rare, tail > x, other < rest)

        return _crossing(z + min(shifts), z + max(shifts), lambda y, end: ~above(y, end))

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The tail of p - e^epsilon q above its zero, part by part: what both worlds have in common cancels, so that rare parts keep
        their digits.
        """
        x = np.asarray(epsilon, np.float64).ravel()
        shares = [defaultdict[float, float](float), defaultdict[float, float](float)]
        for share, parts in zip(shares, (self._inside, self._out), strict=True):
            for shift, weight in parts:  # two sensitivities may be the same number of units of the noise
                share[shift] += weight
        shifts = np.array(sorted({**shares[0], **shares[1]}))
        gap = float(np.diff(shifts).min(initial=math.inf))
        if not (
            gap >= _LEAST and np.abs(shifts).max() <= 1.0 / _LEAST
        ):  # squares of what is farther are no floats
            return super()._log_delta(epsilon)
        rows = []
        for s in shifts.tolist():
            p, q = (math.log(share[s]) if share[s] else -math.inf for share in shares)
            rows.append(_difference(p, q, x, same=p == q and s == 0.0 and self._is_even))
        coefficients = tuple(np.array(part) for part in zip(*rows, strict=True))
        column = shifts[:, None]

        def above(y: np.ndarray, end: int) -> np.ndarray:
            """Whether p is surely above e^epsilon q, or surely below."""
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
            known = [
                np.where(least > 0.0, scale + np.log(least), -np.inf),
                np.where(most <= 0.0, -np.inf, np.fmin(wider + np.log(most), 0.0)),
            ]
            wide = ~(known[1] - known[0] <= _NARROW)
        if wide.any():
            for end, other, best in zip(
                known, super()._log_delta(x[wide]), (np.maximum, np.minimum), strict=True
            ):
                end[wide] = best(end[wide], other)
        return known[0].reshape(np.shape(epsilon)), known[1].reshape(np.shape(epsilon))

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return GaussianMixtureTradeOff(
            self.opposite, self.opposite_probabilities, self.noise, self.sensitivities, self.probabilities
        )

    def largest_loss_bounds(self) -> tuple[float, float]:
        if self._inside[-1][0] > self._out[-1][0]:
            return math.inf, math.inf
        # Far out both worlds are their parts at 0.
        loss = math.log(self._inside[-1][1]) - math.log(self._out[-1][1])
        return max(loss - 2.0 * _WEIGHTS, 0.0), max(loss + 2.0 * _WEIGHTS, 0.0)

    def mu_ceiling(self) -> float:
        return (self._inside[-1][0] - self._out[0][0]) * (1.0 + 4.0 * EPS)

    def least_mu_bounds(self) -> tuple[float, float]:
        """The largest distance of two parts is enough; where a world has a single part, the rarest rates need as much."""
        needed = (self._inside[-1][0] - self._out[-1][0], self._inside[0][0] - self._out[0][0])
        return max(needed) * (1.0 - 4.0 * EPS), self.mu_ceiling()


def _crossing(
    low: np.ndarray, high: np.ndarray, above: Callable[[np.ndarray, int], np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of where something begins to hold, by what is surely so: before it nothing at the end 0, after it all at the end 1."""
    for _ in range(64):
        middle = 0.5 * (low + high)
        more = above(middle, 0)
        low, high = np.where(more, low, middle), np.where(more, middle, high)
    ends = []
    for sign, end in ((-1.0, 0), (1.0, 1)):
        y, step = 0.5 * (low + high), 4.0 * EPS * (1.0 + np.where(np.isfinite(low), np.abs(low), 0.0))
        for _ in range(60):
            if not (wrong := above(y, end) != (end == 1)).any():
                break
            y, step = np.where(wrong, y + sign * step, y), 2.0 * step
        ends.append(np.where(above(y, end) == (end == 1), y, sign * np.inf))
    return ends[0], ends[1]


def _difference(
    log_p: float, log_q: float, x: np.ndarray, *, same: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The difference p - e^x q: between which multiples of e^scale it lies, and the scale; `same`: whether p = q."""
    scale = np.maximum(log_p, log_q + x)
    if same:
        value = -np.expm1(-np.abs(x)) * np.sign(-x)
        off = _WEIGHTS * np.abs(value)
    else:
        value = np.exp(log_p - scale) - np.exp(log_q + x - scale)
        off = np.full(x.shape, 2.0 * _WEIGHTS) + 8.0 * EPS * np.abs(x)
    return value - off, value + off, scale


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


def _log_tail(
    parts: Sequence[tuple[float, float]], y: np.ndarray, upper: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of log P(outcome > y) of a mixture if `upper`, else of log P(outcome <= y)."""
    logs = [math.log(weight) + log_ndtr(shift - y if upper else y - shift) for shift, weight in parts]
    value = np.minimum(np.logaddexp.reduce(logs, axis=0), 0.0)
    size = np.where(np.isneginf(value), 0.0, np.abs(value))
    off = _WEIGHTS + (16.0 + 4.0 * len(logs)) * EPS * (1.0 + size)
    return value - off, np.minimum(value + off, 0.0)
