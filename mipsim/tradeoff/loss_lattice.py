"""Runs whose loss takes either of two values, a length apart, that the releases before may choose: recursions on a lattice of losses."""

from __future__ import annotations

import math

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mipsim.tradeoff.bounds import EPS

SLACK = 64.0 * EPS
"""Relative, of the rates of a run."""
_FINEST, _COARSEST, _COST = 256, 8, 4e7
"""Places of the lattice for each length, and places times runs times values that take about a second; with the fewest places five times as many."""
_REACH = 10.8  # by Hoeffding's bound the losses of runs are that many root runs lengths above their mean with at most e^-233


def places(length: float, runs: int) -> int:
    """How many places a length has on the lattice; 0 where the lattice would be too long, or the losses too small for its error bound.
    >>> places(0.1, 100), places(0.1, 100_000), places(100.0, 100), places(1e-5, 2)
    (32, 0, 0, 0)
    """
    fine = _FINEST
    while fine > _COARSEST and runs * fine * _reach(length, runs, fine) > _COST:
        fine //= 2
    cheap = runs * fine * _reach(length, runs, fine) <= 5.0 * _COST
    return fine if cheap and length >= 1e-4 and runs * length**2 <= 100.0 else 0


def _reach(length: float, runs: int, fine: int) -> int:
    return min(runs * fine, math.ceil(fine * (runs * length / 8.0 + _REACH * math.sqrt(runs))))


class LossLattice:
    """Losses x of runs, from 0 up, and losses t of a run, from 0 to the length. What is below 0 follows, since the curve is symmetric.

    >>> round(float(LossLattice(0.1, 1).largest_delta()[0]), 6)  # (e^(length / 2) - 1) / (e^(length / 2) + 1)
    0.024995
    """

    def __init__(self, length: float, runs: int) -> None:
        self.length, self.runs, fine = length, runs, places(length, runs)
        step, self.back = length / fine, np.arange(fine, 0, -1)
        self.x, t = step * np.arange(_reach(length, runs, fine) + 1), step * np.arange(fine + 1)[:, None]
        self.ratio, (self.own, self.other) = np.exp(-t), self._chances(t)

    def largest_delta(self) -> np.ndarray:
        """The largest delta of all runs at x, rounded up; chords in e^x between are above it."""
        left, right, c = self.ratio[:-1], self.ratio[1:], -1.0 / math.expm1(-self.length)
        most = np.zeros(self.x.size)
        for _ in range(self.runs):
            first, second = self._deltas(most, most[-1])
            # In each gap between two t the chords of both values of the loss, by e^-t.
            below, other_below = first[1:], second[1:]
            with np.errstate(all="ignore"):
                rise, other_rise = (
                    np.diff(row, axis=0) / np.diff(self.ratio, axis=0) for row in (first, second)
                )
                square = -c * math.exp(-self.length) * (below - other_below - (rise - other_rise) * right)
                best = np.sqrt(square / (other_rise + c * (rise - other_rise)))
            best = np.where(np.isfinite(best), np.clip(best, right, left), right)
            own, other = self._chances(-np.log(best))
            inner = np.clip(own, 0.0, 1.0) * (below + rise * (best - right))
            inner += other * (other_below + other_rise * (best - right))
            inner += 4.0 * SLACK * c * first[:-1]  # the best place is rounded
            ends = (self.own * first + self.other * second)[1:]
            largest = np.maximum(np.maximum(ends, inner).max(axis=0), most)
            most = np.minimum.accumulate(largest * (1.0 + SLACK))
        return most

    def best_tests(self) -> tuple[np.ndarray, np.ndarray]:
        """FPR and TPR of the tests "loss > x" of all runs, each with the t between 0 and the length on the lattice that makes its delta largest."""
        j, (less, fpr, tpr) = np.arange(self.x.size), np.zeros((3, self.x.size))
        for _ in range(self.runs):
            first, second = self._deltas(less, 0.0)
            means = self.own * first + self.other * second
            at = means[1:-1].argmax(axis=0) + 1
            less, own, other = means[at, j], self.own[at, 0], self.other[at, 0]
            seen, seen_beyond = self._around(1.0 - fpr[self.back], tpr, 0.0)
            false, false_beyond = self._around(1.0 - tpr[self.back], fpr, 0.0)
            tpr = own * seen[at, j] + other * seen_beyond[at, j]
            both = own * false[at, j] + math.exp(self.length) * other * false_beyond[at, j]
            fpr = self.ratio[at, 0] * both
        return fpr, tpr

    def _chances(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Of the losses t and t - length, in the world "in"."""
        return np.expm1(t - self.length) / math.expm1(-self.length), np.expm1(t) / math.expm1(self.length)

    def _deltas(self, values: np.ndarray, beyond: float) -> tuple[np.ndarray, np.ndarray]:
        near = self.x[self.back]
        return self._around(-np.expm1(-near) + np.exp(-near) * values[self.back], values, beyond)

    def _around(self, before: np.ndarray, values: np.ndarray, beyond: float) -> tuple[np.ndarray, np.ndarray]:
        """Values at x - t and at x - t + length, a row for each t; those before 0, from 0 up, and beyond the last x."""
        fine, values = self.back.size, np.concatenate([before, values, np.full(self.back.size, beyond)])
        rows = sliding_window_view(values, self.x.size)
        return rows[fine::-1], rows[2 * fine : fine - 1 : -1]
