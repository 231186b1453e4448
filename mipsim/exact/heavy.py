"""The likeliest values of a sum of independent terms, one by one: what no smooth method can see."""

from dataclasses import dataclass

import numpy as np
import scipy

from mipsim._powers import convolution_error, repeated
from mipsim.exact.atoms import ties
from mipsim.exact.independent import Independent, Stack
from mipsim.exact.rounding import UNIT

_MERGE = 1e-12  # of the largest value: nearer ones are one, as they are to an attack computed in float64
_TINY = 1e-17  # masses below a tenth of the rounding of 1; what is dropped is counted


Array = np.ndarray


@dataclass(frozen=True)
class Heavy:
    """Some atoms of a sum: their values and at most their probabilities; the rest of the law is called light.

    Attributes:
        values: increasing, shape (A,).
        out, inside: probability of each in the two worlds, shape (A,).
        slack: a bound on the error of the values.
        error: a bound on the error of the probabilities, summed, in either world.
    """

    values: np.ndarray
    out: np.ndarray
    inside: np.ndarray
    slack: float
    error: float


def heavy_atoms(total: Independent, least: float, most: int) -> Heavy:
    """Multiply the tables out and go on with products of at least `least` only, the `most` likeliest of them.

    A product of probabilities never grows, so that nothing that is likely in the end is left out on the way, but for ties
    of many unlikely outcomes. Every number is a sum of products of positive numbers.

    Examples:
        >>> coin = Stack(np.array([[0.0, 1.0]]), np.full((2, 1, 2), 0.5), np.array([[2], [2]]))
        >>> found = heavy_atoms(Independent((coin,), np.zeros(2)), 1e-9, 100)
        >>> print(found.values, found.out)
        [0. 1. 2.] [0.25 0.5  0.25]
    """
    each = [_world(total, world, least, most) for world in (0, 1)]
    values = np.concatenate([each[0][0], each[1][0]])
    masses = np.asarray(scipy.linalg.block_diag(each[0][1], each[1][1]))
    values, masses, span = _merged(values, masses, total.rounding)
    steps = sum(int(s.copies.max(axis=0).sum()) for s in total.stacks)
    slack = max(each[0][2], each[1][2]) + span + total.rounding
    error = 4.0 * UNIT * (steps + each[0][3]) * float(masses.sum(1).max())
    return Heavy(values, masses[0], masses[1], slack, error)


def _world(total: Independent, world: int, least: float, most: int) -> tuple[Array, Array, float, int]:
    values, mass, slack, added = np.array([total.offset[world]]), np.ones((1, 1)), 0.0, 0
    for stack in total.stacks:
        for row in range(stack.values.shape[0]):
            kept = stack.probability[world, row] > 0.0
            copies = int(stack.copies[world, row])
            base = stack.values[row][kept], stack.probability[world, row][kept][None, :], 0.0
            while copies:
                if copies & 1:
                    values, mass, span = _sum((values, mass), base[:2], total.rounding, least, most)
                    slack += span + base[2]
                copies >>= 1
                if copies:
                    v, m, span = _sum(base[:2], base[:2], total.rounding, min(least, _TINY), 4 * most)
                    base = v, m, span + 2.0 * base[2]
                added += max(values.size, base[0].size)
    return values, mass[0], slack, added


def _sum(
    first: tuple[Array, Array], second: tuple[Array, Array], scale: float, least: float, most: int
) -> tuple[Array, Array, float]:
    wanted = 16 * most  # ties are merged below, so that more are kept than wanted
    i, j = _pairs(first[1][0], second[1][0], wanted)
    mass = first[1][0][i] * second[1][0][j]
    kept = np.flatnonzero(mass >= least)
    if kept.size > wanted:
        kept = kept[np.argpartition(mass[kept], -wanted)[-wanted:]]
    values, merged, span = _merged(first[0][i[kept]] + second[0][j[kept]], mass[kept][None, :], scale)
    if values.size > most:
        best = np.sort(np.argpartition(merged[0], -most)[-most:])
        values, merged = values[best], merged[:, best]
    return values, merged, span


def _pairs(first: Array, second: Array, wanted: int) -> tuple[Array, Array]:
    """Places (i, j) of the pairs among which the `wanted` largest products are; all of them where those are not many more.

    The k-th largest of one times the l-th largest of the other has at least k l - 1 products that are as large, so that only pairs with
    k l <= wanted count: some wanted log(wanted) of them, however long the two are.
    """
    if first.size * second.size <= 16 * wanted:
        i, j = np.divmod(np.arange(first.size * second.size), second.size)
        return i, j
    order, other = np.argsort(-first, kind="stable"), np.argsort(-second, kind="stable")
    ranks = np.arange(1, min(first.size, wanted) + 1)
    length = np.minimum(second.size, wanted // ranks)
    i = np.repeat(ranks - 1, length)
    j = np.arange(i.size) - np.repeat(np.cumsum(length) - length, length)
    return order[i], other[j]


def _merged(values: np.ndarray, masses: np.ndarray, rounding: float) -> tuple[np.ndarray, np.ndarray, float]:
    """Sorted values, ties together, and the widest span of values that were taken to be one: no more than nearness."""
    if values.size == 0:
        return values, masses, 0.0
    order = np.argsort(values, kind="stable")
    values, masses = values[order], masses[:, order]
    near = max(_MERGE * float(np.abs(values).max()), 2.0 * rounding)
    start = np.flatnonzero(ties(values, 0.5 * near))
    span = float((values[np.append(start[1:], values.size) - 1] - values[start]).max())
    return values[start], np.add.reduceat(masses, start, axis=1), span


def lattice_powers(stacks: tuple[Stack, ...], most: int = 2**13) -> tuple[tuple[Stack, ...], np.ndarray]:
    """Replace tables of equidistant values that occur many times by the table of their sum, where that is small.

    Returns:
        (the stacks, a bound on the probability that this moves in each world, shape (2,)).

    Examples:
        >>> coin = Stack(np.array([[0.0, 1.0]]), np.full((2, 1, 2), 0.5), np.array([[2], [2]]))
        >>> print(lattice_powers((coin,))[0][0].probability[0])
        [[0.25 0.5  0.25]]
    """
    found: list[Stack] = []
    moved = np.zeros(2)
    for s in stacks:
        c = s.copies
        if s.values.shape[0] > 1 or c.max() == 1 or (c[0] != c[1]).any() or s.values.shape[1] < 2:
            found.append(s)
            continue
        value, copies = s.values[0], int(c[0, 0])
        step = (value[-1] - value[0]) / (value.size - 1)
        away = np.abs(value - value[0] - step * np.arange(value.size)).max()
        if away > 8.0 * UNIT * np.abs(value).max() or value.size * np.sqrt(copies) > most:
            found.append(s)
            continue
        rows = [repeated(_cut(0, s.probability[w, 0]), copies, _convolved) for w in (0, 1)]
        low, high = min(r[0] for r in rows), max(r[0] + r[1].size for r in rows)
        p = np.zeros((2, 1, high - low))
        for w, (start, mass) in enumerate(rows):
            p[w, 0, start - low : start - low + mass.size] = mass
            cut = abs(float(s.probability[w, 0].sum()) ** copies - float(mass.sum()))
            moved[w] += cut + 2.0 * convolution_error(copies, value.size)
        values = copies * value[0] + step * np.arange(low, high)
        found.append(Stack(values[None, :], p, np.ones((2, 1), int)))
    return tuple(found), moved


Cut = tuple[int, Array]
"""First whole number and probabilities; ends below 1e-17 are cut."""


def _convolved(first: Cut, second: Cut) -> Cut:
    return _cut(first[0] + second[0], np.convolve(first[1], second[1]))


def _cut(start: int, mass: np.ndarray) -> Cut:
    kept = np.flatnonzero(mass > _TINY)
    if kept.size == 0:
        return start, np.zeros(1)
    return start + int(kept[0]), mass[kept[0] : kept[-1] + 1]
