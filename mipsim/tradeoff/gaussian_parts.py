"""Rates and hockey sticks of two mixtures of unit normal distributions, between proven bounds."""

import math
from collections.abc import Callable

import numpy as np
from scipy.special import log_ndtr

from mipsim._roots import least_float
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, probit_of_log

Parts = list[tuple[float, float]]
"""(shift, probability > 0) of each part, by rising shift."""
WEIGHTS = 1e-14
"""Relative: what rounding leaves open of a probability, such as a binomial."""
_LEAST = 1e-100  # distance of two parts


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


def log_delta_of(out: Parts, inside: Parts, x: np.ndarray, *, is_even: bool) -> tuple[np.ndarray, np.ndarray]:
    """Bounds of the log of the tail of p - e^epsilon q above its zero, part by part: what both worlds have in common cancels, so that
    rare parts keep their digits. Where the density ratio rises it is delta. `x`: epsilons >= 0, shape (m,); `is_even`: whether the
    parts at 0 have equal probabilities.

    >>> ends = log_delta_of([(0.0, 1.0)], [(1.0, 1.0)], np.array([1.0]), is_even=False)
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
        log_p, log_q = (np.log([[share.get(s, 0.0)] for s in shifts.tolist()]) for share in shares)
    scale = np.maximum(log_p, log_q + x)
    value = np.exp(log_p - scale) - np.exp(log_q + x - scale)
    off = np.full(value.shape, 2.0 * WEIGHTS) + 8.0 * EPS * x
    if is_even:
        value[shifts == 0.0] = np.expm1(-x)
        off[shifts == 0.0] = -WEIGHTS * np.expm1(-x)
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
    off = WEIGHTS + (16.0 + 4.0 * len(logs)) * EPS * (1.0 + size)
    return value - off, np.minimum(value + off, 0.0)
