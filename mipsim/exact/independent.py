"""A sum of independent terms with finitely many values each, and of noise: its characteristic function, and its likeliest values.

Both with bounds on their errors. The likeliest values, as individual atoms, are what no smooth method can see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np
import scipy

from mipsim._budget import check_budget
from mipsim._powers import convolution_error, repeated
from mipsim.exact.atoms import ties
from mipsim.exact.noise_transform import NO_NOISE, ScoreNoise
from mipsim.exact.rounding import UNIT, Bounded, ComplexArray

_NOTHING = 1e-10  # a smaller modulus counts as an error: bounds of tails are 1e-5 apart at best
_ATOMS = 2**12  # atoms of a batch of coordinates; its waves have to fit into the cache
_FIRST = 4  # coordinates of the first batch
_SPARSE = 16  # frequencies of the product of waves to each that is wanted: fewer are computed by themselves
_PHI = 2**21  # values of the transforms of a batch: 32 MiB
_LARGEST_POWER = 2**13  # values of a table that stands for many, about
_MOMENTS = 30  # 0.7^30 / 30! < 1e-36 is left out

_CHANCE = 1e-13  # probability that may lie off the circle, at each end of each world
_MERGE = 1e-12  # of the largest value: nearer values are equal, as they are to an attack computed in float64
_TINY = 1e-17  # masses below a tenth of the rounding of 1; what is dropped is counted
_ENUMERATED = 2**20  # outcomes that are multiplied out: a second
_TRIMMED = 1e-12  # probability of far values left out of all tables together; it is counted as an error


_POWERS, _FEW_POWERS = (0.5, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0, 8.0, 9.0, 12.0), (3.0, 5.5, 8.0)
"""Tilts, in inverse standard deviations, by which Chernoff's inequality is tried."""


def chernoff_reach(
    log_mgf: Callable[[float, int], float],  # (s, world) -> a bound on log E exp(s S)
    sds: Sequence[float],  # about the standard deviation in each world
    noise: ScoreNoise,  # what limits the tilts
    powers: Sequence[float] = _POWERS,  # tilts to try, in inverse standard deviations
) -> tuple[float, float]:
    """An interval that each world leaves at either end with probability at most `_CHANCE`, by Chernoff's inequality."""
    edge = 0.999 * min(-noise.strip[0], noise.strip[1])
    ends = []
    for sign in (-1.0, 1.0):
        farthest = []
        for world, sd in enumerate(sds):
            result = [np.inf]
            for s in (min(power / max(sd, 1e-300), edge) for power in powers):
                value = log_mgf(sign * s, world)
                if np.isfinite(value):
                    result.append((value * (1 + 1e-9) + 1e-9 - np.log(_CHANCE)) / s)
            farthest.append(min(result))
        ends.append(sign * max(farthest))
    return ends[0], ends[1]


def absolute(value: ComplexArray, size: np.ndarray, relative: np.ndarray) -> Bounded:
    """Values and bounds on their errors, from bounds on the moduli of the true ones and on the errors relative to these.

    Where a relative error is beyond 1/2 it says nothing: the modulus bounds the true value, and 0 is put in its place.
    """
    lost = relative > 0.5
    bound = np.where(lost, size, size * np.expm1(np.minimum(relative, 1.0)) * 1.01)
    return np.where(lost, 0.0, value), bound * (1.0 + 1e-6)


@dataclass(frozen=True)
class Stack:
    """Coordinates with tables of the same size; values are the same in both worlds, probabilities are not."""

    values: np.ndarray  # finite, shape (g, K)
    # of the worlds out and in, shape (2, g, K); a sum below 1 leaves the rest to infinite values
    probability: np.ndarray
    copies: np.ndarray  # how many independent terms have this table in each world, shape (2, g)


@dataclass(frozen=True)
class Independent:
    """offset + the sum of all terms + noise, in the worlds out and in."""

    stacks: tuple[Stack, ...]  # the tables
    offset: np.ndarray  # added in each world, shape (2,)
    noise: ScoreNoise = NO_NOISE  # with a density, added in both; its mean is in the offset
    near: float = 0.0  # a bound on the error of a sum by that of its values

    @cached_property
    def mean(self) -> np.ndarray:
        """Of the finite part, shape (2,)."""
        return np.array([self._sum(w, lambda v, p: (p * v).sum(1)) + self.offset[w] for w in (0, 1)])

    @cached_property
    def variance(self) -> np.ndarray:
        """Of the finite part, shape (2,)."""

        def spread(v: np.ndarray, p: np.ndarray) -> np.ndarray:
            mass = np.maximum(p.sum(1), 1e-300)
            centre = (p * v).sum(1) / mass
            return (p * (v - centre[:, None]) ** 2).sum(1) / mass

        return np.array([self._sum(w, spread) for w in (0, 1)]) + self.noise.variance

    @property
    def finite(self) -> np.ndarray:
        """Probability that every term is finite, shape (2,)."""
        with np.errstate(divide="ignore"):
            each = [np.log(s.probability.sum(axis=2)) * np.maximum(s.copies, 1) for s in self.stacks]
        logs = [
            np.where(s.copies > 0, item, 0.0).sum(axis=1) for s, item in zip(self.stacks, each, strict=True)
        ]
        return np.exp(np.sum(logs, axis=0)) if logs else np.ones(2)

    def _sum(self, world: int, function) -> float:  # pyright: ignore[reportMissingParameterType]
        parts = [s.copies[world] * function(s.values, s.probability[world]) for s in self.stacks]
        return fsum(np.concatenate(parts).tolist()) if parts else 0.0

    @cached_property
    def rounding(self) -> float:
        """A bound on what rounding makes of the values of a sum, in score units."""
        size = float(np.abs(self.offset).max())
        for s in self.stacks:
            size += float((s.copies.max(axis=0) * np.abs(s.values).max(axis=1)).sum())
        return 16.0 * UNIT * size + self.near

    def log_mgf(self, s: float, world: int) -> float:
        """Log E[exp(s S); S finite] at a real s."""
        total = self.noise.log_mgf(s) + s * float(self.offset[world])
        for stack in self.stacks:
            exponent = s * stack.values
            top = exponent.max(axis=1)
            mass = (stack.probability[world] * np.exp(exponent - top[:, None])).sum(axis=1)
            used = stack.copies[world] > 0
            with np.errstate(divide="ignore"):
                total += float(stack.copies[world][used] @ (np.log(mass[used]) + top[used]))
        return total

    @cached_property
    def reach(self) -> tuple[float, float]:
        """An interval that each world leaves at either end with probability at most `_CHANCE`, by Chernoff's inequality."""
        low, high = self._extremes
        atoms = sum(s.values.size for s in self.stacks)
        sds = [float(sd) for sd in np.sqrt(self.variance)]
        powers = _FEW_POWERS if atoms > 2**18 else _POWERS
        least, most = chernoff_reach(self.log_mgf, sds, self.noise, powers)
        return max(least, low), min(most, high)

    @property
    def _extremes(self) -> tuple[float, float]:
        low, high = self.offset.copy(), self.offset.copy()
        if self.noise.parts:
            return -np.inf, np.inf
        for s in self.stacks:
            possible = s.probability.max(axis=0) > 0.0
            low += s.copies @ np.where(possible, s.values, np.inf).min(axis=1)
            high += s.copies @ np.where(possible, s.values, -np.inf).max(axis=1)
        return float(low.min()) - self.rounding, float(high.max()) + self.rounding

    def characteristic(self, spacing: float, nodes: int, centre: float) -> Bounded:
        """E[exp(i k h (S - centre)); S finite] for k = 0 ... nodes and bounds on the errors, both of shape (2, nodes + 1).

        The difference of two products is at most sum_j |a_j - b_j| prod_{i != j} max(|a_i|, |b_i|), which bounds the error
        by the modulus times a sum. Nodes at which the modulus is negligible already are left out of further factors: each is
        at most 1.
        """
        k = np.arange(nodes + 1)
        t = spacing * k
        log_noise, unsure = self.noise.on_axis(t)
        value = np.exp(1j * np.outer(self.offset - centre, t)) * np.exp(log_noise)
        size = np.broadcast_to(np.exp(log_noise.real), value.shape).copy()
        error = unsure + 8.0 * UNIT * (8.0 + np.abs(log_noise) + np.abs(self.offset - centre)[:, None] * t)
        alive = k
        for values, probability, copies in self._batches(nodes):
            check_budget()
            alive = alive[(size[:, alive] > _NOTHING).any(axis=0)]
            if alive.size == 0:
                break
            centres = (probability.sum(0) * values).sum(1) / np.maximum(probability.sum((0, 2)), 1e-300)
            v = values - centres[:, None]
            shift = fsum((copies[0] * centres).tolist()), fsum((copies[1] * centres).tolist())
            result = _by_moments(v, probability, t[alive]) or by_waves(v, probability, spacing, alive)
            for world, (phi, flaw) in enumerate(result):
                c = copies[world]
                # Of a row without mass in this world the modulus is 0, which has no logarithm: what is larger bounds it too.
                modulus = np.clip(np.abs(phi) + flaw, 1e-300, 1.0 + 1e-9)
                value[world, alive] *= _product(phi, c) * np.exp(1j * (t[alive] * shift[world]))
                size[world, alive] *= np.exp(c @ np.log(modulus))
                error[world, alive] += c @ (flaw / modulus) + 4.0 * UNIT * (
                    c.sum() + 4.0 + np.abs(c * centres).sum() * t[alive]
                )
        dead = np.ones(nodes + 1, bool)
        dead[alive] = False
        return absolute(value, size, np.where(dead, np.inf, error))

    def _batches(self, nodes: int):  # pyright: ignore[reportMissingParameterType]
        for stack in self.stacks:
            g, size = stack.values.shape
            most = max(1, min(_ATOMS // size, _PHI // (nodes + 1)))
            start, step = 0, min(_FIRST, most)  # a few coordinates leave few frequencies for the others
            while start < g:
                part = slice(start, start + step)
                yield stack.values[part], stack.probability[:, part], stack.copies[:, part]
                start, step = start + step, min(2 * step, most)


def _by_moments(v: np.ndarray, probability: np.ndarray, t: np.ndarray) -> list[Bounded] | None:
    """sum_k p_jk exp(i t v_jk) by Taylor's formula with its remainder, for low frequencies; None where it needs too many terms.

    Each world's entry is (values, bounds on the errors), both of shape (g, T); v has shape (g, K).
    """
    top = float(t.max())
    if top > 0.0:
        v, t, top = v * top, t / top, 1.0  # no power of a score of another scale overflows
    if top * np.sqrt((probability * v * v).sum(2).max()) > 0.7:
        return None
    power, moments = probability.copy(), [probability.sum(2)]
    size = [probability.sum(2)]
    for r in range(1, _MOMENTS + 1):
        power = power * (v / r)
        moments.append(power.sum(2))
        size.append(np.abs(power).sum(2))
        if r % 2 == 0 and (size[-1] * top**r).max() < 0.25 * UNIT:
            break
    else:
        return None
    order = len(moments) - 1  # that of the remainder, which is at most E|t v|^order / order!
    waves = (1j * t) ** np.arange(order)[:, None]
    growth = np.abs(waves)
    result = []
    for world in (0, 1):
        absolute = np.stack([m[world] for m in size[:order]], axis=1) @ growth
        flaw = UNIT * (v.shape[1] + 4.0 * order + 8.0) * absolute + np.outer(size[order][world], t**order)
        result.append((np.stack([m[world] for m in moments[:order]], axis=1) @ waves, flaw))
    return result


def by_waves(v: np.ndarray, probability: np.ndarray, spacing: float, nodes: np.ndarray) -> list[Bounded]:
    """sum_k p_jk exp(i t v_jk) at the frequencies t = nodes x spacing, as the product of waves at few low and few high frequencies.
    `v`: values of g coordinates, shape (g, K); `probability`: of the worlds, shape (2, g, K); `spacing`: of the
    frequencies; `nodes`: whole numbers, rising, shape (T,). Returns for each world (values, bounds on the errors), both
    of shape (g, T).
    """
    last = int(nodes.max())
    fine = 2 ** int(np.ceil(np.log2(last + 1.0) / 2))
    rows, row = np.unique(nodes // fine, return_inverse=True)
    t = spacing * nodes
    if _SPARSE * nodes.size < rows.size * fine:
        waves = np.exp(1j * (v[:, :, None] * t))
        return [((p[:, None, :] @ waves)[:, 0], _wave_error(v, p, t)) for p in probability]
    smooth, rough = _waves(v, spacing, fine), _waves(v, spacing * fine, last // fine + 1)
    rough = np.ascontiguousarray(rough[:, :, rows].swapaxes(1, 2))
    return [
        (((p[:, None, :] * rough) @ smooth)[:, row, nodes % fine], _wave_error(v, p, t)) for p in probability
    ]


def _wave_error(v: np.ndarray, p: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Of sums of 2 K products of a cosine or sine each; of 14 waves of 8 units; of their angles."""
    mass, first = p.sum(1), (p * np.abs(v)).sum(1)
    return UNIT * ((3.0 * v.shape[1] + 140.0) * mass[:, None] + 4.0 * first[:, None] * t)


def _waves(v: np.ndarray, spacing: float, count: int) -> ComplexArray:
    """exp(i k spacing v) for k = 0 ... count - 1, each a product of at most log2(count) computed ones, shape (g, K, count)."""
    result = np.empty((*v.shape, count), complex)
    result[..., 0] = 1.0
    done = 1
    while done < count:
        angle = (spacing * done) * v
        more = min(done, count - done)
        item = np.empty(v.shape, complex)
        item.real, item.imag = np.cos(angle), np.sin(angle)
        np.multiply(result[..., :more], item[..., None], out=result[..., done : done + more])
        done += more
    return result


def _product(phi: ComplexArray, copies: np.ndarray) -> ComplexArray:
    """prod_j phi_j^copies_j by repeated squaring, shape (T,)."""
    result = np.ones(phi.shape[1], complex)
    left, base = copies.astype(np.int64), phi
    while left.size:
        odd = (left & 1).astype(bool)
        if odd.any():
            result = result * np.prod(base[odd], axis=0)
        left = left >> 1
        base, left = base[left > 0], left[left > 0]
        if left.size:
            base = base * base
    return result


def without_faint(stacks: Sequence[Stack]) -> tuple[tuple[Stack, ...], np.ndarray]:
    """Leave out values whose probabilities are negligible in both worlds; what is lost in each world, shape (2,).
    >>> table = Stack(np.array([[0.0, 1.0, 1e9]]), np.array([[[0.5, 0.5, 1e-30]]] * 2), np.ones((2, 1), int))
    >>> (retained,), lost = without_faint([table])
    >>> print(retained.values, lost)
    [[0. 1.]] [1.e-30 1.e-30]
    """
    count = max(1.0, float(sum(s.copies.max(axis=0).sum() for s in stacks)))
    result, lost = [], np.zeros(2)
    for s in stacks:
        worse = s.probability.max(axis=0)
        order = np.argsort(worse, axis=1)
        small = np.cumsum(np.take_along_axis(worse, order, 1), axis=1) <= _TRIMMED / count
        drop = np.zeros_like(small)
        np.put_along_axis(drop, order, small, 1)
        lost += (np.where(drop, s.probability, 0.0).sum(axis=2) * s.copies).sum(axis=1)
        p = np.where(drop, 0.0, s.probability)
        # What is left out of any coordinate closes ranks; a place that is empty gets a retained value, so that it widens nothing.
        size = max(1, int((~drop).sum(axis=1).max()))
        front = np.argsort(drop, axis=1, kind="stable")[:, :size]
        values = np.where(drop, np.take_along_axis(s.values, order[:, -1:], 1), s.values)
        result.append(
            Stack(
                np.take_along_axis(values, front, 1),
                np.take_along_axis(p, np.broadcast_to(front, (2, *front.shape)), 2),
                s.copies,
            )
        )
    return tuple(result), lost


@dataclass(frozen=True)
class Heavy:
    """Some atoms of a sum: their values and at most their probabilities; the rest of the law is called light."""

    values: np.ndarray  # increasing, shape (A,)
    # out, inside: probability of each in the two worlds, shape (A,)
    out: np.ndarray
    inside: np.ndarray
    slack: float  # a bound on the error of the values
    error: float  # a bound on the error of the probabilities, summed, in either world

    def is_ordered(self, total: Independent) -> bool:
        """Whether no value's error reaches another, nor what a single table changes: else the order of unequal values is not known."""
        gaps = [float(np.diff(self.values).min(initial=np.inf))]
        for s in total.stacks:
            values = np.sort(np.where((s.probability > 0.0).any(axis=0), s.values, np.inf), axis=1)
            with np.errstate(invalid="ignore"):
                apart = np.diff(values, axis=1)
            gaps.append(float(np.min(apart, where=apart > 0.0, initial=np.inf)))
        return 2.0 * self.slack < min(gaps)


def heavy_atoms(total: Independent, least: float, most: int) -> Heavy:
    """Multiply the tables out and go on with products of at least `least` only, the `most` likeliest of them.

    A product of probabilities never grows, so that nothing that is likely in the end is left out on the way, but for ties
    of many unlikely outcomes. Every number is a sum of products of positive numbers.
    """
    each = [_world(total, world, least, most) for world in (0, 1)]
    values = np.concatenate([each[0][0], each[1][0]])
    masses = np.asarray(scipy.linalg.block_diag(each[0][1], each[1][1]))
    values, masses, span = _merged(values, masses, total.rounding)
    steps = sum(int(s.copies.max(axis=0).sum()) for s in total.stacks)
    slack = max(each[0][2], each[1][2]) + span + total.rounding
    error = 4.0 * UNIT * (steps + each[0][3]) * float(masses.sum(1).max())
    return Heavy(values, masses[0], masses[1], slack, error)


def all_atoms(total: Independent) -> Heavy | None:
    """All atoms of a sum, multiplied out; None where it has too many outcomes."""
    outcomes = 0.0
    for s in total.stacks:
        possible = (s.probability > 0.0).any(axis=0).sum(axis=1)
        outcomes += float(s.copies.max(axis=0) @ np.log(np.maximum(possible, 1)))
    return heavy_atoms(total, 0.0, 2**20) if outcomes <= np.log(_ENUMERATED) else None


def _world(
    total: Independent, world: int, least: float, most: int
) -> tuple[np.ndarray, np.ndarray, float, int]:
    values, mass, slack, added = np.array([total.offset[world]]), np.ones((1, 1)), 0.0, 0
    for stack in total.stacks:
        for row in range(stack.values.shape[0]):
            check_budget()
            retained = stack.probability[world, row] > 0.0
            copies = int(stack.copies[world, row])
            base = stack.values[row][retained], stack.probability[world, row][retained][None, :], 0.0
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
    first: tuple[np.ndarray, np.ndarray],
    second: tuple[np.ndarray, np.ndarray],
    scale: float,
    least: float,
    most: int,
) -> tuple[np.ndarray, np.ndarray, float]:
    wanted = 16 * most  # ties are merged below, so that more are stored than wanted
    i, j = _pairs(first[1][0], second[1][0], wanted)
    mass = first[1][0][i] * second[1][0][j]
    retained = np.flatnonzero(mass >= least)
    if retained.size > wanted:
        retained = retained[np.argpartition(mass[retained], -wanted)[-wanted:]]
    values, merged, span = _merged(
        first[0][i[retained]] + second[0][j[retained]], mass[retained][None, :], scale
    )
    if values.size > most:
        best = np.sort(np.argpartition(merged[0], -most)[-most:])
        values, merged = values[best], merged[:, best]
    return values, merged, span


def _pairs(first: np.ndarray, second: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Places (i, j) of the pairs among which the `wanted` largest products are; all of them where those are not many more.

    The k-th largest of the first times the l-th largest of the second has at least k l - 1 products that are as large, so that
    only pairs with k l <= wanted count: some wanted log(wanted) of them, however long the two are.
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
    """Sorted values, ties together, and the widest span of values that were taken to be equal: no more than nearness."""
    if values.size == 0:
        return values, masses, 0.0
    order = np.argsort(values, kind="stable")
    values, masses = values[order], masses[:, order]
    near = max(_MERGE * float(np.abs(values).max()), 2.0 * rounding)
    start = np.flatnonzero(ties(values, 0.5 * near))
    span = float((values[np.append(start[1:], values.size) - 1] - values[start]).max())
    return values[start], np.add.reduceat(masses, start, axis=1), span


def lattice_powers(stacks: tuple[Stack, ...]) -> tuple[tuple[Stack, ...], np.ndarray]:
    """Replace tables of equidistant values that occur many times by the table of their sum, where that is small.
    Returns (the stacks, a bound on the probability that this moves in each world, shape (2,)).
    """
    result: list[Stack] = []
    moved = np.zeros(2)
    for s in stacks:
        c = s.copies
        if s.values.shape[0] > 1 or c.max() == 1 or (c[0] != c[1]).any() or s.values.shape[1] < 2:
            result.append(s)
            continue
        value, copies = s.values[0], int(c[0, 0])
        step = (value[-1] - value[0]) / (value.size - 1)
        away = np.abs(value - value[0] - step * np.arange(value.size)).max()
        if away > 8.0 * UNIT * np.abs(value).max() or value.size * np.sqrt(copies) > _LARGEST_POWER:
            result.append(s)
            continue
        rows = [repeated(_cut(0, s.probability[w, 0]), copies, _convolved) for w in (0, 1)]
        low, high = min(r[0] for r in rows), max(r[0] + r[1].size for r in rows)
        p = np.zeros((2, 1, high - low))
        for w, (start, mass) in enumerate(rows):
            p[w, 0, start - low : start - low + mass.size] = mass
            cut = abs(float(s.probability[w, 0].sum()) ** copies - float(mass.sum()))
            moved[w] += cut + 2.0 * convolution_error(copies, value.size)
        values = copies * value[0] + step * np.arange(low, high)
        result.append(Stack(values[None, :], p, np.ones((2, 1), int)))
    return tuple(result), moved


Cut = tuple[int, np.ndarray]
"""First whole number and probabilities; ends below 1e-17 are cut."""


def _convolved(first: Cut, second: Cut) -> Cut:
    return _cut(first[0] + second[0], np.convolve(first[1], second[1]))


def _cut(start: int, mass: np.ndarray) -> Cut:
    retained = np.flatnonzero(mass > _TINY)
    if retained.size == 0:
        return start, np.zeros(1)
    return start + int(retained[0]), mass[retained[0] : retained[-1] + 1]
