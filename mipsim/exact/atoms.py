"""The law of a score with few possible values: every atom, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mipsim._powers import repeated
from mipsim.exact.rounding import EPS
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

MOST_ATOMS = 2**20
"""The most atoms that are stored."""

_UNDERFLOW = 1e-290  # what may be lost of a probability where products underflow
# relative error of a term: a few roundings of its weight or of its logarithm, and some to spare
_ROUNDED = 32.0 * EPS
_ALIKE = 16.0  # terms whose errors differ by less are summed before others are added


@dataclass(frozen=True)
class TermTable:
    """Possible values of a single term of a score with their probabilities in both worlds; -inf allowed."""

    values: np.ndarray  # shape (K,)
    # out, inside: shape (K,)
    out: np.ndarray
    inside: np.ndarray
    near: np.ndarray  # a bound on the error of each value, shape (K,)
    lost: float = 0.0  # a bound on the total error of either row of probabilities
    relative: float = 0.0  # a bound on the relative error of each probability
    floor: float = 0.0  # what may be lost besides to underflow; 0 where nothing is
    unordered: np.ndarray | None = None
    """Which values stand for several unequal ones whose order is not known, shape (K,); None if none does."""


@dataclass(frozen=True)
class AtomsLaw(AbstractScoreLaw):
    """A discrete law by its atoms. Sums of positive numbers only: every tail has its full relative accuracy."""

    score: np.ndarray  # the atoms, increasing, shape (A,); the first may be -inf
    # out, inside: their probabilities, shape (A,)
    out: np.ndarray
    inside: np.ndarray
    # a bound on the error of each atom, a number or shape (A,); a threshold as near to an atom is on it
    near: np.ndarray | float = 0.0
    lost: float = 0.0  # a bound on the total error of either row of probabilities
    relative: float = np.inf  # a bound on the relative error of each probability; inf where none is known
    floor: float = _UNDERFLOW  # what may be lost of rates besides, to underflow
    # which atoms are several unequal scores whose order rounding hides, shape (A,); None if none is
    hidden: np.ndarray | None = None

    @cached_property
    def _sums(self) -> tuple[np.ndarray, np.ndarray]:
        """P(score <= atom) and P(score > atom) after 0, 1, ... A atoms, shape (2, A + 1)."""
        both = np.stack([self.out, self.inside])
        none = np.zeros((2, 1))
        return (
            np.concatenate([none, np.cumsum(both, axis=1)], axis=1),
            np.concatenate([np.cumsum(both[:, ::-1], axis=1)[:, ::-1], none], axis=1),
        )

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.minimum(np.log(self._sums[int(upper)][int(inside), self._below(threshold)]), 0.0)

    def threshold_at(self, alpha: object) -> np.ndarray:
        a = np.asarray(alpha, float)
        above = self._sums[1][0]
        count = above.size - np.searchsorted(above[::-1], a * (1 + 4e-16), side="right")
        return np.where(count == 0, -np.inf, self.score[np.maximum(count - 1, 0)])

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        below = np.maximum(self._below(threshold) - 1, 0)
        with np.errstate(divide="ignore"):
            return np.minimum(np.log(self._sums[int(upper)][int(inside), below]), 0.0)

    def unordered(self, threshold: Thresholds) -> np.ndarray:
        place = np.maximum(self._below(threshold) - 1, 0)
        return super().unordered(threshold) if self.hidden is None else self.hidden[place]

    def support(self) -> np.ndarray:
        return self.score

    @property
    def error_bound(self) -> float:
        """That of the probabilities, and 2^-53 of the sum for each term added.

        It holds at thresholds farther than `near` from every atom; nearer ones are on the atom, as a score computed in float64
        may be.
        """
        return self.lost + float(self.score.size + 4) * 2.0**-53

    @property
    def relative_error(self) -> float:
        """That of the probabilities, and 2^-53 for each term added: all are positive."""
        return self.relative + float(self.score.size + 8) * 2.0**-53

    @property
    def least_rate(self) -> float:
        return self.floor

    def _below(self, threshold: Thresholds) -> np.ndarray:
        """How many atoms are <= threshold; a threshold within rounding of an atom is on it."""
        return np.searchsorted(self._starts, np.asarray(threshold, float), side="right")

    @cached_property
    def _starts(self) -> np.ndarray:
        """The least threshold that is on each atom or above it, and above the atom before."""
        after = np.concatenate([[-np.inf], np.nextafter(self.score[:-1], np.inf)])
        return np.maximum.accumulate(np.maximum(self.score - self.near, after))


def convolve(tables: Sequence[TermTable], offset: float = 0.0) -> AtomsLaw | None:
    """The law of an offset and a sum of independent terms, or None if it has more than `MOST_ATOMS` atoms.

    Scores with a term in common are ordered by their other terms. So the terms that are known to the fewest digits come last:
    what is ordered before stays so.
    """
    item = np.ones(1)
    total: TermTable | None = TermTable(np.zeros(1), item, item, np.zeros(1))
    moved = [TermTable(np.array([offset]), item, item, 2.0 * EPS * np.abs([offset]))] if offset else []
    for like in [*_by_size(tables), moved]:
        each: TermTable | None = None
        for table in like:
            each = table if each is None else _sum(each, table, 16 * MOST_ATOMS)
        total = total if not like else _sum(total, each, 16 * MOST_ATOMS)
        if total is None or total.values.size > MOST_ATOMS:
            return None
    score = _rising(total.values)
    with np.errstate(invalid="ignore"):
        near = total.near + np.where(np.isfinite(score), score - total.values, 0.0)
    rest = total.lost, total.relative, total.floor, total.unordered
    return AtomsLaw(score, total.out, total.inside, near, *rest)


def _by_size(tables: Sequence[TermTable]) -> list[list[TermTable]]:
    """Groups of tables whose values are known to about as many digits after the point, the finest first."""
    result: list[list[TermTable]] = []
    for table in sorted(tables, key=lambda each: float(each.near.max())):
        if not result or float(table.near.max()) > _ALIKE * float(result[-1][0].near.max()):
            result.append([])
        result[-1].append(table)
    return result


def _rising(values: np.ndarray) -> np.ndarray:
    """Values in order, moved up by as little as makes each a float of its own.
    >>> _rising(np.array([-np.inf, 1.0, 1.0])) - 1.0
    array([          -inf, 0.00000000e+00, 2.22044605e-16])
    """
    bits = (values + 0.0).view(np.int64)
    rank = np.where(bits < 0, np.iinfo(np.int64).min - bits, bits)  # rises as the floats do
    place = np.arange(rank.size)
    rank = np.maximum.accumulate(rank - place) + place
    return np.where(rank < 0, np.iinfo(np.int64).min - rank, rank).view(np.float64)


def _sum(first: TermTable | None, second: TermTable | None, most: int = 4 * MOST_ATOMS) -> TermTable | None:
    """The law of a sum of two independent terms; None if it has too many atoms."""
    if first is None or second is None or first.values.size * second.values.size > most:
        return None
    values = np.add.outer(first.values, second.values).ravel()
    near = np.add.outer(first.near, second.near).ravel() + EPS * np.where(
        np.isfinite(values), np.abs(values), 0.0
    )
    hidden = [np.zeros(t.values.size, bool) if t.unordered is None else t.unordered for t in (first, second)]
    return without_ties(
        values,
        np.multiply.outer(first.out, second.out).ravel(),
        np.multiply.outer(first.inside, second.inside).ravel(),
        near,
        first.lost + second.lost + EPS,
        first.relative + second.relative + EPS,
        first.floor + second.floor + (0.0 if _least(first) * _least(second) > _UNDERFLOW else _UNDERFLOW),
        unordered=np.logical_or.outer(*hidden).ravel(),
        terms=np.stack([part.ravel() for part in np.indices((first.values.size, second.values.size))]),
    )


def _least(table: TermTable) -> float:
    """The least positive probability."""
    return float(min(p[p > 0.0].min(initial=1.0) for p in (table.out, table.inside)))


def without_ties(
    values: np.ndarray,  # shape (K,)
    out: np.ndarray,  # their probabilities in the "out" world, shape (K,)
    inside: np.ndarray,  # their probabilities in the "in" world, shape (K,)
    near: np.ndarray,  # a bound on the error of each value, shape (K,); 0 for -inf
    lost: float = 0.0,  # a bound on the error of the probabilities
    relative: float = 0.0,  # a bound on the relative error of each
    floor: float = 0.0,  # what may be lost besides to underflow
    unordered: np.ndarray | None = None,  # which values stand for several unequal ones already, shape (K,)
    terms: np.ndarray | None = None,  # which value of either term each sum has, shape (2, K)
) -> TermTable:
    """Sort the values and add up what differs by rounding only; impossible values are left out.

    Values tie where their own errors can make them equal: a value that is large, or improbable, says nothing of others. Of tied
    values the most accurate value stands. Sums with a common term are not equal, since the values of the other term are not:
    alone they stay apart, in the order of that term; where rounding hides their order among other sums, the value that stands is
    marked, and its error reaches all of them. Probabilities given to `lost` in total gain a rounding of 2^-53 for each that is
    added to others.
    """
    keep = np.flatnonzero((out > 0) | (inside > 0))
    order = keep[np.argsort(values[keep], kind="stable")]
    values, near = values[order], near[order]
    first = ties(values, near)
    if terms is not None:
        terms = terms[:, order]
        first |= _in_order(first, values, terms)
    group = np.cumsum(first) - 1
    count = int(group[-1]) + 1
    most = int(np.bincount(group).max())
    sharp = np.flatnonzero(near == np.minimum.reduceat(near, np.flatnonzero(first))[group])
    sharp = sharp[np.concatenate([[True], np.diff(group[sharp]) > 0])]
    known, hidden = near[sharp], np.zeros(count, bool)
    if unordered is not None:
        hidden |= np.bincount(group, unordered[order], count) > 0
    if terms is not None and most > 1:
        for term in terms:
            size = int(term.max()) + 1
            pairs = np.sort(group * size + term)
            hidden[pairs[1:][pairs[1:] == pairs[:-1]] // size] = True
    hidden &= np.isfinite(values[sharp])
    if hidden.any():
        at = np.flatnonzero(hidden[group])
        reach = np.zeros(count)
        np.maximum.at(reach, group[at], near[at] + np.abs(values[at] - values[sharp][group[at]]))
        known = np.maximum(known, reach)
    return TermTable(
        values[sharp],
        np.bincount(group, out[order], count),
        np.bincount(group, inside[order], count),
        known,
        lost + (most - 1) * EPS,
        relative + (most - 1) * EPS,
        floor,
        hidden if hidden.any() else None,
    )


def _in_order(first: np.ndarray, values: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Sums all of whose group have a common term, a mask: they are in the order of the other term, however near they are."""
    starts = np.flatnonzero(first)
    common = [np.minimum.reduceat(t, starts) == np.maximum.reduceat(t, starts) for t in terms]
    return (np.any(common, axis=0) & np.isfinite(values[starts]))[np.cumsum(first) - 1]


def ties(values: np.ndarray, near: np.ndarray | float) -> np.ndarray:
    """Where groups of sorted values begin, a mask: the intervals value - near to value + near of a group have a point in common.
    `values`: increasing, shape (K,); infinite values form a single group; `near`: the error of each, a number or shape
    (K,).

    >>> ties(np.array([-np.inf, -np.inf, 0.0, 0.75, 1.5, 2.0]), 0.5)
    array([ True, False,  True, False,  True, False])
    """
    low, high = values - near, values + near
    first = np.concatenate([[True], low[1:] > high[:-1]])
    starts = np.flatnonzero(first)
    ends = np.append(starts[1:], values.size)
    long = np.maximum.reduceat(low, starts) > np.minimum.reduceat(high, starts)
    for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True):
        # A chain of near values begins anew where no point is common to all of it.
        least, most = low[start], high[start]
        for k in range(start + 1, end):
            least, most = max(least, low[k]), min(most, high[k])
            if least > most:
                first[k] = True
                least, most = low[k], high[k]
    return first


Masses = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Values, their probabilities and bounds on their errors."""


def beside(out: Masses, inside: Masses, lost: float, relative: float, floor: float) -> TermTable:
    """A single table of the values of both worlds; a value that a world does not take has probability 0 there."""
    nothing = [np.zeros(world[0].size) for world in (inside, out)]
    values, near = (np.concatenate([out[part], inside[part]]) for part in (0, 2))
    masses = np.concatenate([out[1], nothing[0]]), np.concatenate([nothing[1], inside[1]])
    return without_ties(values, *masses, near, lost, relative, floor)


def rounding(sizes: np.ndarray | float) -> np.ndarray:
    """A bound on the error of values that have been computed in a few steps, of which `sizes` is the largest; 0 for infinite ones.
    >>> rounding(np.array([1.0, np.inf])) < 1e-14
    array([ True,  True])
    """
    return np.where(np.isfinite(sizes), _ROUNDED * np.abs(sizes), 0.0)


def power_of(values: np.ndarray, probabilities: np.ndarray, copies: int) -> TermTable | None:
    """The law of a sum of `copies` >= 1 independent values, in both worlds alike; None if it has too many atoms."""
    given = 2.0 * EPS  # probabilities that have been normalised
    item = without_ties(values, probabilities, probabilities, rounding(values), given, given)
    return repeated(item, copies, _sum)


def alike(*tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are the same in every table: the first row of each kind, and the kind of every row, shape (g,).
    `tables`: of shape (g, K) each.

    >>> first, kind = alike(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
    >>> print(first, kind)
    [0 1] [0 1 0]
    """
    count = tables[0].shape[0]
    # no two are alike, which is quickly seen
    if np.unique(tables[0] @ np.cos(np.arange(tables[0].shape[1]))).size == count:
        return np.arange(count), np.arange(count)
    kinds: dict[bytes, int] = {}
    rows = np.concatenate(tables, axis=1)
    kind = np.array([kinds.setdefault(row.tobytes(), len(kinds)) for row in rows])
    return np.unique(kind, return_index=True)[1], kind
