"""A proven bound on the characteristic function of a discrete score at large frequencies."""

from dataclasses import dataclass

import numpy as np

_LEVELS = 4
_FEW = 64


@dataclass(frozen=True)
class Phases:
    """-log |phi(t)| >= sum_g strengths_g dist(frequencies_g t, 2 pi Z)^2, for one record.

    A sum of discrete terms has a characteristic function that comes back near 1, since at some frequency all phases are
    near multiples of 2 pi together. `quiet_until` proves that this does not happen before a given frequency: if
    |phi(t)|^n > eta, then by Cauchy and Schwarz any whole combination v = sum c_g frequencies_g has
    dist(v t, 2 pi Z) <= e_v = sqrt(log(1/eta) sum c_g^2 / (n strengths_g)), so t is not in
    [e_v / v, (2 pi - e_v) / v]. Differences of frequencies, and differences of these, give combinations v of every scale,
    and their intervals join up.

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
        useful = (merged > 0) & (costs < np.pi**2)
        values, costs = merged[useful], costs[useful]
        rounding = 2.0**-50 * values.max(initial=0.0)  # a smaller difference is none
        found = [(values, costs)]
        if values.size <= _FEW:
            for _ in range(
                _LEVELS
            ):  # Euclid's algorithm on few frequencies: a term may be used again and again
                pairs = _shared(*(np.concatenate(part) for part in zip(*found, strict=True)), rounding)
                found.append(pairs)
        for _ in range(_LEVELS):
            found += [_disjoint(values, costs, 4**k, rounding) for k in range(1, 12) if 4**k < values.size]
            values, costs = _disjoint(values, costs, 1, rounding)
            found.append((values, costs))
        joined, cost = (np.concatenate(part) for part in zip(*found, strict=True))
        return _sweep(start, joined, cost)


def _disjoint(
    values: np.ndarray, costs: np.ndarray, stride: int, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of disjoint pairs, `stride` apart in order: each term is used once, so the costs add."""
    order = np.argsort(values)
    values, costs = values[order], costs[order]
    first = np.flatnonzero(np.arange(values.size - stride) // stride % 2 == 0) if values.size > stride else []
    first = np.asarray(first, int)
    gap, cost = values[first + stride] - values[first], costs[first + stride] + costs[first]
    keep = (cost < np.pi**2) & (gap > least)
    return gap[keep], cost[keep]


def _shared(values: np.ndarray, costs: np.ndarray, least: float) -> tuple[np.ndarray, np.ndarray]:
    """Differences of neighbours that may share terms: lengths add, so roots of costs do."""
    order = np.argsort(values)[: 16 * _FEW]
    values, root = values[order], np.sqrt(costs[order])
    gap, cost = np.diff(values), (root[1:] + root[:-1]) ** 2
    keep = (cost < np.pi**2) & (gap > least)
    return gap[keep], cost[keep]


def _sweep(until: float, values: np.ndarray, costs: np.ndarray) -> float:
    """Join the intervals [e / v, (2 pi - e) / v] from `until` on."""
    if values.size == 0:
        return until
    error = np.sqrt(costs)
    low, high = error / values, (2.0 * np.pi - error) / values
    order = np.argsort(low)
    low, high = low[order], np.maximum.accumulate(high[order])
    while True:
        index = int(np.searchsorted(low, until, side="right")) - 1
        if index < 0 or high[index] <= until:
            return until
        until = float(high[index])
