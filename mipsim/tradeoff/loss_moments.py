"""Bounds of the epsilon of very many steps by moments of the losses, where no lattice holds their sum."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from mipsim._validation import UndefinedError
from mipsim.sums.loss_bounds import LossCells, optimistic, pessimistic
from mipsim.tradeoff.step_laws import AbstractStepLaw

_CELLS = 1 << 16  # of a single step: some milliseconds for each tilt
_ORDERS = np.geomspace(1e-10, 1e3, 66)  # moments that are tried, by tilts of the world "in"
_BESIDE = 10.0  # e-folds that what lies off the cells is less than delta
_ROUNDED = 2.0**-46  # of a logarithm of a sum, and twice that of its masses beside what these state


def epsilon_by_moments(laws: Sequence[tuple[AbstractStepLaw, int]], log_delta: float) -> tuple[float, float]:
    """(lower, upper) bound of the epsilon of a delta < 1 of the world "in" against "out"; 0 and inf where moments tell nothing.

    The upper bound is Markov's for e^(t loss), as in the accounting of moments. The lower bound is Cantelli's: with mean m and variance v
    the sum exceeds m - r with probability at least r^2 / (v + r^2).

    `laws`: of the single losses, and how often each is added.

    Source: Abadi et al. (2016), theorem 2; Boucheron, Lugosi, Massart (2013), exercise 2.3.

    >>> from mipsim.tradeoff.step_laws import MixedGaussian
    >>> low, high = epsilon_by_moments([(MixedGaussian(0.1, 1.0), 100)], math.log(1e-5))
    >>> low < 4.3772 < high < 5.4  # that of a Gaussian shift by 1
    True
    """
    try:
        parts = [(_cells(law, log_delta - math.log(count) - _BESIDE), count) for law, count in laws]
    except UndefinedError:  # of so little noise that a step has too many cells
        return 0.0, math.inf
    return _least(parts, log_delta), _most(parts, log_delta)


def _cells(law: AbstractStepLaw, log_small: float) -> tuple[LossCells, LossCells]:
    """Masses of a step in many cells between losses beyond which the world "in" has at most so much."""
    line = law.outline
    held = np.flatnonzero(np.maximum(line.log_in, line.log_out) > log_small - 8.0)
    low, high = (float(line.losses[k]) for k in (held[[0, -1]] if held.size else (0, -1)))
    step = max(high - low, 1e-12) / _CELLS
    first, last = math.floor((low - law.fixed) / step) - 2, math.ceil((high - law.fixed) / step) + 2
    return law.cells(np.arange(first, last + 1), law.fixed, step)


def _most(parts: Sequence[tuple[tuple[LossCells, LossCells], int]], log_delta: float) -> float:
    best = math.inf
    for order, moment, only in _moments(parts, _ORDERS):
        left = math.exp(log_delta) - math.exp(only)
        if left > 0.0 and math.isfinite(moment):
            best = min(best, (moment - math.log(left)) / order)
    return max(best * (1.0 + 1e-12), 0.0)


def _moments(
    parts: Sequence[tuple[tuple[LossCells, LossCells], int]], orders: np.ndarray
) -> Iterator[tuple[float, float, float]]:
    """Orders t, bounds of log E_in e^(t loss), and bounds of the log of the mass beside it that reveals the world "in"."""
    for order in orders.tolist():
        moment, only = 0.0, -math.inf
        for (worse, _), count in parts:
            # Of cells too wide for a tilt nothing is known.
            with np.errstate(over="ignore", invalid="ignore"):
                law = pessimistic(worse, 1.0 + order)
            moment += count * (law.measure.log_scale + law.rounding + _ROUNDED)
            only = float(np.logaddexp(only, math.log(count) + law.log_in_only + 1e-12))
        yield order, moment, only


def _least(parts: Sequence[tuple[tuple[LossCells, LossCells], int]], log_delta: float) -> float:
    mean, variance, log_mass = 0.0, 0.0, 0.0
    for (_, better), count in parts:
        law = optimistic(better, 1.0)
        losses, weights = law.measure.offset + law.measure.index * law.measure.step, law.measure.weights
        own = float(weights @ losses)
        off = law.rounding + _ROUNDED
        mean += count * (own - 2.0 * off * float(weights @ np.abs(losses)))
        variance += count * float(weights @ (losses - own) ** 2) * (1.0 + 4.0 * off)
        log_mass += count * (law.measure.log_scale - off)
    # Beyond epsilon + 1 the world "out" pays at most 1 / e of what the world "in" has.
    share = math.exp(min(log_delta - min(log_mass, 0.0), 1.0)) / -math.expm1(-1.0)  # above 1 it says nothing
    if not share < 1.0:
        return 0.0
    return max(mean - math.sqrt(variance * share / (1.0 - share)) * (1.0 + 1e-9) - 1.0, 0.0)
