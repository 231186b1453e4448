"""The law of a score with few possible values: every atom, exactly."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mipsim._powers import repeated
from mipsim.exact.law import AbstractScoreLaw, Thresholds
from mipsim.exact.rounding import EPS

MOST_ATOMS = 2**20
"""The most atoms that are kept."""

_MERGE = 1e-12  # of the largest score: values nearer are one atom, as scores computed in float64 may be


@dataclass(frozen=True)
class Table:
    """Possible values of one term of a score with their probabilities in both worlds; -inf allowed.

    Attributes:
        values: shape (K,).
        out, inside: shape (K,).
        lost: a bound on the total error of either row of probabilities.
        moved: how far a value may be from where it is said to be.
    """

    values: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    lost: float = 0.0
    moved: float = 0.0


@dataclass(frozen=True)
class AtomsLaw(AbstractScoreLaw):
    """A discrete law by its atoms. Sums of positive numbers only: every tail has its full relative accuracy.

    Attributes:
        score: the atoms, increasing, shape (A,); the first may be -inf.
        out, inside: their probabilities, shape (A,).
        lost: a bound on the total error of either row of probabilities.
        moved: how far an atom may be from where it is said to be.

    Examples:
        >>> law = AtomsLaw(np.array([0.0, 1.0]), np.array([0.75, 0.25]), np.array([0.5, 0.5]))
        >>> print(law.sf(0.5, inside=False), law.cdf(0.0, inside=True), law.threshold_at([0.1, 0.25, 0.3]))
        0.25 0.5 [1. 0. 0.]
    """

    score: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    lost: float = 0.0
    moved: float = 0.0

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

    def previous(self, threshold: Thresholds) -> np.ndarray:
        possible = self.score[self.out > 0.0]
        at = np.searchsorted(possible, self.score[np.maximum(self._below(threshold) - 1, 0)], side="left") - 1
        return np.where(at >= 0, possible[np.maximum(at, 0)], -np.inf)

    @property
    def error_bound(self) -> float:
        """That of the probabilities, and 2^-53 of the sum for each term added.

        It holds at thresholds farther than `near` from every atom; nearer ones are on the atom, as a score computed in float64
        may be.
        """
        return self.lost + float(self.score.size + 4) * 2.0**-53

    def _below(self, threshold: Thresholds) -> np.ndarray:
        """How many atoms are <= threshold; a threshold within rounding of an atom is on it."""
        x = np.asarray(threshold, float)
        return np.searchsorted(self.score, x + np.where(np.isfinite(x), self.near, 0.0), side="right")

    @cached_property
    def near(self) -> float:
        """How near to an atom a threshold is taken to be on it: 1e-12 of the largest score, or as far as the atom may be off."""
        return max(
            _MERGE * float(np.abs(self.score[np.isfinite(self.score)]).max(initial=1e-300)), self.moved
        )


def convolve(tables: Sequence[Table]) -> AtomsLaw | None:
    """The law of a sum of independent terms, or None if it has more than `MOST_ATOMS` atoms.

    Examples:
        >>> coin = Table(np.array([0.0, 1.0]), np.array([0.5, 0.5]), np.array([0.0, 1.0]))
        >>> print(convolve([coin, coin]).out)
        [0.25 0.5  0.25]
    """
    total = Table(np.zeros(1), np.ones(1), np.ones(1))
    for table in tables:
        if total.values.size * table.values.size > 16 * MOST_ATOMS:
            return None
        total = without_ties(
            np.add.outer(total.values, table.values).ravel(),
            np.multiply.outer(total.out, table.out).ravel(),
            np.multiply.outer(total.inside, table.inside).ravel(),
            total.lost + table.lost + EPS,
            total.moved + table.moved,
        )
        if total.values.size > MOST_ATOMS:
            return None
    # Each value is a product and a sum over rows, and d of them are added up.
    sizes = [np.abs(table.values[np.isfinite(table.values)]).max(initial=0.0) for table in tables]
    moved = total.moved + EPS * (32.0 + 2.0 * len(tables)) * float(np.sum(sizes))
    return AtomsLaw(total.values, total.out, total.inside, total.lost, moved)


def without_ties(
    values: np.ndarray, out: np.ndarray, inside: np.ndarray, lost: float = 0.0, moved: float = 0.0
) -> Table:
    """Sort the values and add up what differs by rounding only; impossible values are left out.

    Probabilities given to `lost` in total gain a rounding of 2^-53 for each that is added to others, and values that were
    `moved` are moved by the widest group more, which is narrower than 1e-12 of the largest.
    """
    keep = (out > 0) | (inside > 0)
    values, out, inside = values[keep], out[keep], inside[keep]
    order = np.argsort(values, kind="stable")
    values = values[order]
    size = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    first, widest = ties(values, _MERGE * size)
    group = np.cumsum(first) - 1
    count = int(group[-1]) + 1
    most = int(np.bincount(group).max())
    return Table(
        values[first],
        np.bincount(group, out[order], count),
        np.bincount(group, inside[order], count),
        lost + (most - 1) * EPS,
        moved + widest,
    )


def ties(values: np.ndarray, near: float) -> tuple[np.ndarray, float]:
    """Where groups of sorted values begin, a mask, and how wide the widest is: none is wider than `near`, infinities are one.

    Examples:
        >>> ties(np.array([-np.inf, -np.inf, 0.0, 0.75, 1.5, 2.0]), 1.0)
        (array([ True, False,  True, False,  True, False]), 0.75)
    """
    with np.errstate(invalid="ignore"):  # inf less inf
        first = np.concatenate([[True], ~(np.diff(values) <= near) & (values[1:] != values[:-1])])
        starts = np.flatnonzero(first)
        ends = np.append(starts[1:], values.size)
        long = values[ends - 1] - values[starts] > near
        for start, end in zip(starts[long].tolist(), ends[long].tolist(), strict=True):
            # A chain of near values begins anew where it would grow wider than allowed.
            while (
                start := start + int(np.searchsorted(values[start:end], values[start] + near, "right"))
            ) < end:
                first[start] = True
        starts = np.flatnonzero(first)
        widths = values[np.append(starts[1:], values.size) - 1] - values[starts]
    return first, float(np.nanmax(widths, initial=0.0))


Masses = tuple[np.ndarray, np.ndarray]
"""Values and their probabilities."""


def beside(out: Masses, inside: Masses, lost: float) -> Table:
    """One table of the values of both worlds; a value that one world does not take has probability 0 there."""
    nothing = [np.zeros(world[0].size) for world in (inside, out)]
    values = np.concatenate([out[0], inside[0]])
    return without_ties(
        values, np.concatenate([out[1], nothing[0]]), np.concatenate([nothing[1], inside[1]]), lost
    )


def power_of(values: np.ndarray, probabilities: np.ndarray, copies: int) -> Table | None:
    """The law of a sum of `copies` >= 1 independent values, in both worlds alike; None if it has too many atoms."""
    return repeated(without_ties(values, probabilities, probabilities), copies, _sum)


def _sum(first: Table | None, second: Table | None) -> Table | None:
    if first is None or second is None or first.values.size * second.values.size > 4 * MOST_ATOMS:
        return None
    p = np.multiply.outer(first.out, second.out).ravel()
    values = np.add.outer(first.values, second.values).ravel()
    return without_ties(values, p, p, first.lost + second.lost + EPS, first.moved + second.moved)


def alike(*tables: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows are the same in every table: the first row of each kind, and the kind of every row, shape (g,).

    Args:
        tables: of shape (g, K) each.

    Examples:
        >>> first, kind = alike(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 2.0]]))
        >>> print(first, kind)
        [0 1] [0 1 0]
    """
    count = tables[0].shape[0]
    if (
        np.unique(tables[0] @ np.cos(np.arange(tables[0].shape[1]))).size == count
    ):  # no two are alike, which is quickly seen
        return np.arange(count), np.arange(count)
    kinds: dict[bytes, int] = {}
    rows = np.concatenate(tables, axis=1)
    kind = np.array([kinds.setdefault(row.tobytes(), len(kinds)) for row in rows])
    return np.unique(kind, return_index=True)[1], kind
