"""A sum of independent terms with finitely many values each, and of noise: its characteristic function with its error."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum

import numpy as np

from mipsim.exact.noise import NO_NOISE, ScoreNoise
from mipsim.exact.rounding import UNIT, Bounded, ComplexArray

_NOTHING = 1e-17  # a modulus below is negligible: a tenth of the rounding of 1
_ATOMS = 2**12  # atoms of a batch of coordinates; its waves have to fit into the cache
_PHI = 2**21  # values of the transforms of a batch: 32 MiB
_MOMENTS = 30  # 0.7^30 / 30! < 1e-36 is left out

_CHANCE = 1e-13  # probability that may lie off the circle, at each end of each world
_TRIMMED = 1e-12  # probability of far values left out of all tables together; it is counted as an error


@dataclass(frozen=True)
class Stack:
    """Coordinates with tables of one size; values are the same in both worlds, probabilities are not.

    Attributes:
        values: finite, shape (g, K).
        probability: of the worlds out and in, shape (2, g, K); a sum below 1 leaves the rest to infinite values.
        copies: how many independent terms have this table in each world, shape (2, g).
    """

    values: np.ndarray
    probability: np.ndarray
    copies: np.ndarray


@dataclass(frozen=True)
class Independent:
    """offset + the sum of all terms + noise, in the worlds out and in.

    Attributes:
        stacks: the tables.
        offset: added in each world, shape (2,).
        noise: with a density, added in both; its mean is in the offset.

    Examples:
        >>> coin = Stack(np.array([[0.0, 1.0]]), np.full((2, 1, 2), 0.5), np.array([[3], [2]]))
        >>> total = Independent((coin,), np.array([0.0, 1.0]))
        >>> print(total.mean, total.variance)
        [1.5 2. ] [0.75 0.5 ]
    """

    stacks: tuple[Stack, ...]
    offset: np.ndarray
    noise: ScoreNoise = NO_NOISE

    @cached_property
    def mean(self) -> np.ndarray:
        """Of the finite part, shape (2,)."""
        return np.array([self._sum(w, lambda v, p: (p * v).sum(1)) + self.offset[w] for w in (0, 1)])

    @cached_property
    def variance(self) -> np.ndarray:
        """Of the finite part, shape (2,)."""

        def one(v: np.ndarray, p: np.ndarray) -> np.ndarray:
            mass = np.maximum(p.sum(1), 1e-300)
            centre = (p * v).sum(1) / mass
            return (p * (v - centre[:, None]) ** 2).sum(1) / mass

        return np.array([self._sum(w, one) for w in (0, 1)]) + self.noise.variance

    @property
    def finite(self) -> np.ndarray:
        """Probability that every term is finite, shape (2,)."""
        with np.errstate(divide="ignore"):
            each = [np.log(s.probability.sum(axis=2)) * np.maximum(s.copies, 1) for s in self.stacks]
        logs = [
            np.where(s.copies > 0, one, 0.0).sum(axis=1) for s, one in zip(self.stacks, each, strict=True)
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
        return 16.0 * UNIT * size

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
        ends = []
        atoms = sum(s.values.size for s in self.stacks)
        powers = (3.0, 5.5, 8.0) if atoms > 2**18 else (0.5, 1.0, 2.0, 3.0, 4.0, 5.5, 7.0, 8.0, 9.0, 12.0)
        edge = 0.999 * min(-self.noise.strip[0], self.noise.strip[1])
        for sign in (-1.0, 1.0):
            farthest = []
            for world, sd in enumerate(np.sqrt(self.variance)):
                found = [np.inf]
                for s in (min(power / max(float(sd), 1e-300), edge) for power in powers):
                    value = self.log_mgf(sign * s, world)
                    if np.isfinite(value):
                        found.append((value * (1 + 1e-9) + 1e-9 - np.log(_CHANCE)) / s)
                farthest.append(min(found))
            ends.append(sign * max(farthest))
        return max(ends[0], low), min(ends[1], high)

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
            alive = alive[(size[:, alive] > _NOTHING).any(axis=0)]
            if alive.size == 0:
                break
            centres = (probability.sum(0) * values).sum(1) / np.maximum(probability.sum((0, 2)), 1e-300)
            v = values - centres[:, None]
            shift = fsum((copies[0] * centres).tolist()), fsum((copies[1] * centres).tolist())
            found = _by_moments(v, probability, t[alive]) or _by_waves(v, probability, spacing, alive)
            for world, (phi, flaw) in enumerate(found):
                c = copies[world]
                modulus = np.minimum(np.abs(phi) + flaw, 1.0 + 1e-9)
                value[world, alive] *= _product(phi, c) * np.exp(1j * (t[alive] * shift[world]))
                size[world, alive] *= np.exp(c @ np.log(modulus))
                error[world, alive] += c @ (flaw / modulus) + 4.0 * UNIT * (
                    c.sum() + 4.0 + np.abs(c * centres).sum() * t[alive]
                )
        dead = np.ones(nodes + 1, bool)
        dead[alive] = False
        bound = size * np.expm1(np.minimum(error, 1.0)) * 1.01
        # Where an error is beyond 1/2 it says nothing: the modulus bounds the true value, and 0 is put in its place.
        lost = (error > 0.5) | dead
        value[lost], bound[lost] = 0.0, size[lost]
        return value, bound * (1.0 + 1e-6)

    def _batches(self, nodes: int):  # pyright: ignore[reportMissingParameterType]
        for stack in self.stacks:
            g, size = stack.values.shape
            step = max(1, min(_ATOMS // size, _PHI // (nodes + 1)))
            for start in range(0, g, step):
                part = slice(start, start + step)
                yield stack.values[part], stack.probability[:, part], stack.copies[:, part]


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
    found = []
    for world in (0, 1):
        absolute = np.stack([m[world] for m in size[:order]], axis=1) @ growth
        flaw = UNIT * (v.shape[1] + 4.0 * order + 8.0) * absolute + np.outer(size[order][world], t**order)
        found.append((np.stack([m[world] for m in moments[:order]], axis=1) @ waves, flaw))
    return found


def _by_waves(v: np.ndarray, probability: np.ndarray, spacing: float, nodes: np.ndarray) -> list[Bounded]:
    """The same at the frequencies nodes x spacing, as the product of waves at few low and few high frequencies."""
    last = int(nodes.max())
    fine = 2 ** int(np.ceil(np.log2(last + 1.0) / 2))
    rows, row = np.unique(nodes // fine, return_inverse=True)
    smooth, rough = _waves(v, spacing, fine), _waves(v, spacing * fine, last // fine + 1)
    rough = np.ascontiguousarray(rough[:, :, rows].swapaxes(1, 2))
    t = spacing * nodes
    found = []
    for p in probability:
        phi = ((p[:, None, :] * rough) @ smooth)[:, row, nodes % fine]
        mass, first = p.sum(1), (p * np.abs(v)).sum(1)
        # Sums of 2 K products of a cosine or sine each; 14 waves of 8 units; their angles.
        flaw = UNIT * ((3.0 * v.shape[1] + 140.0) * mass[:, None] + 4.0 * first[:, None] * t)
        found.append((phi, flaw))
    return found


def _waves(v: np.ndarray, spacing: float, count: int) -> ComplexArray:
    """exp(i k spacing v) for k = 0 ... count - 1, each a product of at most log2(count) computed ones, shape (g, K, count)."""
    found = np.empty((*v.shape, count), complex)
    found[..., 0] = 1.0
    done = 1
    while done < count:
        angle = (spacing * done) * v
        more = min(done, count - done)
        one = np.empty(v.shape, complex)
        one.real, one.imag = np.cos(angle), np.sin(angle)
        np.multiply(found[..., :more], one[..., None], out=found[..., done : done + more])
        done += more
    return found


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

    Examples:
        >>> table = Stack(np.array([[0.0, 1.0, 1e9]]), np.array([[[0.5, 0.5, 1e-30]]] * 2), np.ones((2, 1), int))
        >>> (kept,), lost = without_faint([table])
        >>> print(kept.values, lost)
        [[0. 1.]] [1.e-30 1.e-30]
    """
    count = max(1.0, float(sum(s.copies.max(axis=0).sum() for s in stacks)))
    found, lost = [], np.zeros(2)
    for s in stacks:
        worse = s.probability.max(axis=0)
        order = np.argsort(worse, axis=1)
        small = np.cumsum(np.take_along_axis(worse, order, 1), axis=1) <= _TRIMMED / count
        drop = np.zeros_like(small)
        np.put_along_axis(drop, order, small, 1)
        lost += (np.where(drop, s.probability, 0.0).sum(axis=2) * s.copies).sum(axis=1)
        p = np.where(drop, 0.0, s.probability)
        kept = np.asarray(~drop.all(axis=0))
        if not kept.any():
            kept[0] = True
        # A value that is left out in one row only is replaced by one that is not: it must not widen anything.
        centre = np.take_along_axis(s.values, order[:, -1:], 1)
        found.append(Stack(np.where(drop, centre, s.values)[:, kept], p[:, :, kept], s.copies))
    return tuple(found), lost
