"""A proven bound on the characteristic function of a discrete score at large frequencies."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

_LEVELS = 4  # differences of differences: each reaches about a hundred times farther
_FEW = 64  # frequencies; of more, disjoint pairs suffice
_BLOCKS = (1, 4, 16, 64, 256, 1024, 4096)  # combinations a block: some entry is within twice the best
_SHRINK = 1e-12  # of an interval: rounding of its ends
_FAR = 1e11  # times the start: the remaining sum is then below 1e-10 of the height
_WEAK = 1e-100  # a term so weak proves nothing, and its cost overflows

QUIET_LEVELS = (40.0, 36.0, 32.0, 28.0, 24.0, 20.0, 16.0, 12.0, 8.0)
"""The levels that are tried: -log of the modulus."""
Array = np.ndarray


@dataclass(frozen=True)
class Phases:
    """-log |phi(t)| >= sum_g strengths_g dist(frequencies_g t, 2 pi Z)^2, for a single record.

    A sum of discrete terms has a characteristic function that comes back near 1, since at some frequency all phases are
    near multiples of 2 pi together. `quiet_until` proves that this does not happen before a given frequency. If
    |phi(t)|^n > exp(-level), any whole combinations v_i = sum c_ig frequencies_g that share no frequency obey, by Cauchy
    and Schwarz, sum_i dist(v_i t, 2 pi Z)^2 / cost_i <= 1 with cost_i = level sum_g c_ig^2 / (n strengths_g). So t is not
    in [e / min v, (2 pi - e) / max v] for e^-2 = sum_i 1 / cost_i. Frequencies, their differences, and differences of
    these give blocks of combinations v of every scale, and their intervals join up.
    """

    frequencies: np.ndarray  # > 0, shape (G,)
    strengths: np.ndarray  # > 0, shape (G,)
    # where a record takes part with this probability only: -log |phi| >= inclusion (1 - exp(-that sum))
    inclusion: float = 1.0

    def quiet_until(self, start: float, rows: int, level: float) -> float:
        """The largest t1 for which |phi(t)|^rows <= exp(-level) is proven for every t in [start, t1]; at least start."""
        each = level / rows
        if self.inclusion < 1.0:
            if each >= self.inclusion:
                return start
            each = -np.log1p(-each / self.inclusion)
        intervals = [self._blocks.at(each)]
        values, inverse = self._merged
        if values.size <= _FEW:
            # Euclid's algorithm on few frequencies: a term may be used again and again.
            v, c = values, each / inverse
            for _ in range(_LEVELS):
                v, c = (np.concatenate(pair) for pair in zip((v, c), _shared(v, c, self._least), strict=True))
            intervals.append((np.sqrt(c) / v, (2 * np.pi - np.sqrt(c)) / v))
        low, high = (np.concatenate(part) for part in zip(*intervals, strict=True))
        if not low.size:
            return start
        # Values and ends are right to a few 2^-52: intervals that only rounding joins are not joined.
        return max(start, _sweep(start, low * (1 + _SHRINK), high * (1 - _SHRINK)))

    def levels(self, start: float, rows: int) -> list[tuple[float, float]]:
        """(level, t1) as of `quiet_until`, from the highest level down to a level that reaches far enough."""
        result: list[tuple[float, float]] = []
        for level in QUIET_LEVELS:
            if result and result[-1][1] > _FAR * start:
                break  # lower levels reach farther, at a price in height
            result.append((level, self.quiet_until(start, rows, level)))
        return result

    def share_of(self, other: "Phases") -> float:
        """The largest f with this sum at least f times the other sum at every t; 0 if their frequencies differ.
        >>> first, second = (Phases(np.ones(2), np.array(s)) for s in ([0.1, 0.2], [0.2, 0.25]))
        >>> first.share_of(second)
        0.5
        """
        same = self.inclusion == other.inclusion == 1.0 and np.array_equal(
            self.frequencies, other.frequencies
        )
        if not same or not (other.strengths > 0.0).all():
            return 0.0
        return float((self.strengths / other.strengths).min())

    @cached_property
    def _merged(self) -> tuple[np.ndarray, np.ndarray]:
        """Different frequencies and their strengths."""
        merged, group = np.unique(self.frequencies, return_inverse=True)
        strength = np.bincount(group.ravel(), self.strengths, merged.size)
        useful = (merged > 0) & (strength > _WEAK) & np.isfinite(merged)
        return merged[useful], strength[useful]

    @property
    def _least(self) -> float:
        """A smaller difference is rounding only."""
        return 2.0**-50 * self._merged[0].max(initial=0.0)

    @cached_property
    def _blocks(self) -> "_Blocks":
        """Blocks of neighbouring combinations; a cost is each / inverse, so that they serve every level."""
        values, inverse = self._merged
        result = _blocked(values, inverse)
        for _ in range(_LEVELS):
            for k in range(1, 12):
                if 4**k < values.size:
                    result += _blocked(*_disjoint(values, inverse, 4**k, self._least))
            values, inverse = _disjoint(values, inverse, 1, self._least)
            result += _blocked(values, inverse)
        return _Blocks(*(np.concatenate(part) for part in zip(*result, strict=True)))


@dataclass(frozen=True)
class _Blocks:
    """The smallest and largest combination of each block, and the sum of inverse costs where each = 1."""

    least: np.ndarray
    most: np.ndarray
    inverse: np.ndarray

    def at(self, each: float) -> tuple[np.ndarray, np.ndarray]:
        """The quiet intervals."""
        error = np.sqrt(each / self.inverse)
        low, high = error / self.least, (2 * np.pi - error) / self.most
        keep = low < high
        return low[keep], high[keep]


def _blocked(values: np.ndarray, inverse: np.ndarray) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Blocks of neighbouring combinations that share no frequency."""
    order = np.argsort(values)
    values, inverse = values[order], inverse[order]
    result = [(np.zeros(0), np.zeros(0), np.zeros(0))]
    for size in _BLOCKS:
        count = values.size // size
        if count == 0:
            break
        edge = np.arange(count) * size
        result.append((values[edge], values[edge + size - 1], np.add.reduceat(inverse[: count * size], edge)))
    return result


def _disjoint(values: Array, inverse: Array, stride: int, least: float) -> tuple[Array, Array]:
    """Differences of disjoint pairs, `stride` apart in order: each term is used once, so the costs add."""
    order = np.argsort(values)
    values, inverse = values[order], inverse[order]
    first = np.arange(max(0, values.size - stride))
    first = first[first // stride % 2 == 0]
    gap, cost = values[first + stride] - values[first], 1.0 / inverse[first + stride] + 1.0 / inverse[first]
    keep = gap > least
    return gap[keep], 1.0 / cost[keep]


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
