"""A proven bound on the characteristic function of a discrete score at large frequencies."""

from dataclasses import dataclass

import numpy as np

_LEVELS = 4
_FEW = 64
_BLOCKS = (1, 4, 16, 64, 256)
_SHRINK = 1e-12


@dataclass(frozen=True)
class Phases:
    """-log |phi(t)| >= sum_g strengths_g dist(frequencies_g t, 2 pi Z)^2, for one record.

    A sum of discrete terms has a characteristic function that comes back near 1, since at some frequency all phases are
    near multiples of 2 pi together. `quiet_until` proves that this does not happen before a given frequency. If
    |phi(t)|^n > exp(-level), any whole combinations v_i = sum c_ig frequencies_g that share no frequency obey, by Cauchy
    and Schwarz, sum_i dist(v_i t, 2 pi Z)^2 / cost_i <= 1 with cost_i = level sum_g c_ig^2 / (n strengths_g). So t is not
    in [e / min v, (2 pi - e) / max v] for e^-2 = sum_i 1 / cost_i. Frequencies, their differences, and differences of
    these give blocks of combinations v of every scale, and their intervals join up.

    Attributes:
        frequencies: > 0, shape (G,).
        strengths: > 0, shape (G,).
        kept: where a record takes part with this probability only: -log |phi| >= kept (1 - exp(-that sum)).

    Examples:
        >>> rng = np.random.default_rng(0)
        >>> phases = Phases(rng.uniform(1, 2, 500), np.full(500, 0.05))
        >>> phases.quiet_until(1.0, 1000, 40.0) > 1e6  # many unlike frequencies
        True
        >>> print(round(Phases(np.ones(500), np.full(500, 0.05)).quiet_until(1.0, 1000, 40.0), 2))  # 2 pi: a lattice
        6.24
    """

    frequencies: np.ndarray
    strengths: np.ndarray
    kept: float = 1.0

    def quiet_until(self, start: float, rows: int, level: float) -> float:
        """The largest t1 for which |phi(t)|^rows <= exp(-level) is proven for every t in [start, t1]; at least start."""
        merged, group = np.unique(self.frequencies, return_inverse=True)
        each = level / rows
        if self.kept < 1.0:
            if each >= self.kept:
                return start
            each = -np.log1p(-each / self.kept)
        with np.errstate(divide="ignore"):
            costs = each / np.bincount(group, self.strengths)
        useful = (merged > 0) & np.isfinite(costs)
        values, costs = merged[useful], costs[useful]
        rounding = 2.0**-50 * values.max(initial=0.0)  # a smaller difference is none
        intervals = _blocked(values, costs)
        if values.size <= _FEW:
            # Euclid's algorithm on few frequencies: a term may be used again and again.
            v, c = values, costs
            for _ in range(_LEVELS):
                v, c = (np.concatenate(pair) for pair in zip((v, c), _shared(v, c, rounding), strict=True))
            intervals.append((np.sqrt(c) / v, (2 * np.pi - np.sqrt(c)) / v))
        for _ in range(_LEVELS):
            for k in range(1, 12):
                if 4**k < values.size:
                    intervals += _blocked(*_disjoint(values, costs, 4**k, rounding))
            values, costs = _disjoint(values, costs, 1, rounding)
            intervals += _blocked(values, costs)
        low, high = (np.concatenate(part) for part in zip(*intervals, strict=True))
        # Values and ends are right to a few 2^-52: intervals that only rounding joins are not joined.
        return _sweep(start, low * (1 + _SHRINK), high * (1 - _SHRINK))


def _blocked(values: np.ndarray, costs: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The quiet intervals of blocks of neighbouring combinations that share no frequency."""
    order = np.argsort(values)
    values, inverse = values[order], 1.0 / costs[order]
    found = []
    for size in _BLOCKS:
        count = values.size // size
        if count == 0:
            break
        edge = np.arange(count) * size
        error = 1.0 / np.sqrt(np.add.reduceat(inverse[: count * size], edge))
        low, high = error / values[edge], (2 * np.pi - error) / values[edge + size - 1]
        keep = low < high
        found.append((low[keep], high[keep]))
    return found


def _disjoint(
    values: np.ndarray, costs: np.ndarray, stride: int, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of disjoint pairs, `stride` apart in order: each term is used once, so the costs add."""
    order = np.argsort(values)
    values, costs = values[order], costs[order]
    first = np.arange(max(0, values.size - stride))
    first = first[first // stride % 2 == 0]
    gap, cost = values[first + stride] - values[first], costs[first + stride] + costs[first]
    keep = gap > least
    return gap[keep], cost[keep]


def _shared(values: np.ndarray, costs: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Differences of neighbours that may share terms: lengths add, so roots of costs do."""
    order = np.argsort(values)[: 16 * _FEW]
    values, root = values[order], np.sqrt(costs[order])
    gap, cost = np.diff(values), (root[1:] + root[:-1]) ** 2
    keep = (cost < np.pi**2) & (gap > least)
    return gap[keep], cost[keep]


def _sweep(until: float, low: np.ndarray, high: np.ndarray) -> float:
    """Join intervals from `until` on."""
    order = np.argsort(low)
    low, high = low[order], np.maximum.accumulate(high[order])
    while True:
        index = int(np.searchsorted(low, until, side="right")) - 1
        if index < 0 or high[index] <= until:
            return until
        until = float(high[index])
