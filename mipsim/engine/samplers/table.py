"""The fast kernel: a random word per coordinate picks its count, and small tables give its term of the score."""

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_cells import NARROW
from mipsim.distributions.binomial_table import (
    BinomialTable,
    alias_entries,
    binomial_table,
    column_of,
    least_bits,
    table_bits,
)
from mipsim.engine.random.counter import GameDraws, Words, halves, long_word, words_of
from mipsim.engine.random.fusion import store_block, store_rows
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.base import BLOCK, MOST_BYTES, AbstractSampler
from mipsim.engine.samplers.fixed_point import (
    IMPOSSIBLE,
    AbstractTerms,
    LinearTerms,
    PairedTerms,
    Reach,
    TabledTerms,
    at,
    scaled,
)
from mipsim.forms.problem import FixedProblem, Problem
from mipsim.forms.score import line_at, terms_at, weights_at
from mipsim.mechanisms.release import Release

GROUP = 8
"""Coordinates per step of the loop, hence what the tables' rows are padded to."""

# What a game's Philox words are for: the sub-sampling coin, the noise, the start of its SplitMix64 sequence.
_COIN, _NOISE, _START = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD

# Where sums are whole numbers: XLA would hand the sum of a larger block to two threads, at a greater cost than it takes.
_SMALLER = BLOCK // 2
_TOGETHER = 2**16  # entries that are looked at together: half a megabyte an array
_TOP = 2**31 - 2**20  # the int32 range, less the rounding of up to 2^20 terms


class Sum(AbstractAdditiveAttack):
    """The sum of the terms, the offset already among them."""

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        return output

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        return total


class TableSampler(AbstractSampler):
    """Draws the score of a mean of Bernoulli records from tables of counts and of contributions.

    A row of the tables holds a coordinate. Side 0 is the law of its column sum without the target, side 1 with it.
    The score is link(base + unit x sum of int32 terms): integer sums do not depend on their order, wrap around modulo
    2^32 harmlessly, and are bit-identical on every device.
    """

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "table"
    attack: AbstractAdditiveAttack  # whose `link` ends the score
    target: Float[Array, " d"]  # z*, shape (d,)
    # alias entries, shape (rows, 2, C) flattened; rows is d rounded up to a multiple of GROUP
    counts: UInt32[Array, " entries"]
    terms: AbstractTerms  # contributions in units of `unit`
    # base, unit: float64 scalars
    base: Float[Array, ""]
    unit: Float[Array, ""]
    noise: Float[Array, ""]  # standard deviation of the Gaussian noise in the score, float64 scalar
    # the probability that the target is among the rows of the release; 1 without sub-sampling
    inclusion: Float[Array, ""]
    bits: int = eqx.field(static=True)  # log2 C
    # has_coin, has_noise: what the kernel need not compute
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)
    # the variance that a coordinate's noise adds where the target's bit is 0 and where it is 1, in units of noise^2,
    # int64, shape (rows, 2) flattened; None where the target, and with it all of the noise, is fixed
    spread: Int[Array, " pairs"] | None = None

    @property
    def any_block(self) -> bool:
        return not self.has_noise

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        words = words_of(draws)
        side = jnp.full(draws.games.shape, draws.world, dtype=jnp.uint32)
        if self.has_coin:
            high, low, *_ = words(_COIN)
            coin = high.astype(jnp.float64) * 2.0**-32 + low.astype(jnp.float64) * 2.0**-64
            side = jnp.where(coin < self.inclusion, side, jnp.uint32(0))
        total, impossible, variance = self._sum(words(_START), draws.world, side)
        score = self.base + scaled(self.unit, total)
        if self.has_noise:
            deviation = (
                self.noise if self.spread is None else self.noise * jnp.sqrt(variance.astype(jnp.float64))
            )
            score = score + deviation * _normal(words(_NOISE))
        if self.terms.has_impossible:
            score = jnp.where(impossible, -jnp.inf, score)
        return jax.vmap(lambda s: self.attack.link(self.target, s))(score).astype(jnp.float64)

    def _sum(
        self, words: Words, world: Array, side: Array
    ) -> tuple[Int[Array, " G"], Bool[Array, " G"], Int[Array, "..."]]:
        """Sum the terms over the coordinates, a group a step; also say where a term was impossible, and sum the spread."""
        columns = 1 << self.bits
        # A game's coin may point at either side, so that both rows of a coordinate are in reach; else only a single row is.
        reach = (
            Reach(columns, 0, 2 * columns, side << jnp.uint32(self.bits))
            if self.has_coin
            else Reach(columns, world.astype(jnp.int64) * columns, columns, jnp.uint32(0))
        )
        sequence = long_word(words[1], words[0])
        top = self.bits - 1  # the bit of a target that is sampled

        def added(coordinate: Array, column: Array) -> tuple[Array, Array, Array]:
            term, nothing = self.terms.of(coordinate, column, reach), jnp.zeros((), jnp.int64)
            is_impossible = term == IMPOSSIBLE if self.terms.has_impossible else jnp.zeros((), bool)
            if self.spread is None:
                return term, is_impossible, nothing
            zero, item = at(self.spread, 2 * coordinate), at(self.spread, 2 * coordinate + 1)
            return term, is_impossible, jnp.where(column >> jnp.uint32(top) != 0, item, zero)

        rows = self.counts.size // (2 * columns)
        no_variance = jnp.zeros(() if self.spread is None else side.shape, jnp.int64)
        nothing = self.terms.start(side), jnp.zeros(side.shape, bool), no_variance

        def group_by_group() -> tuple[Array, Array, Array]:
            # A CPU would make each word again for the look-up, and with scalars, and would hand the halves of each look-up to its own
            # threads, at a greater cost than they take: there a group's words are made first, then looked up, and stored.
            def step(group: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
                total, impossible, variance, *rooms = state
                rooms[0], words = store_block(rooms[0], group, self._words(sequence, group))
                rooms[1], entries = store_rows(rooms[1], group, partial(self._entry, words, group, reach))
                rooms[2], column = store_block(rooms[2], group, self._columns(words, entries))
                for k in range(GROUP):
                    term, is_impossible, more = added(group * GROUP + k, column[k])
                    total, impossible, variance = total + term, impossible | is_impossible, variance + more
                return total, impossible, variance, *rooms

            rooms = (
                jnp.zeros((GROUP // 2 + 1, side.size), jnp.uint64),
                jnp.zeros((GROUP + 1, side.size), jnp.uint32),
                jnp.zeros((GROUP + 1, side.size), jnp.uint32),
            )
            return jax.lax.fori_loop(0, rows // GROUP, step, (*nothing, *rooms))[:3]

        def all_at_once() -> tuple[Array, Array, Array]:
            # A reduction over all coordinates is a single kernel on an accelerator, which stores nothing but the sums.
            total, impossible, variance = nothing
            word = splitmix64(sequence, jnp.arange(rows // 2, dtype=jnp.uint64)[:, None])
            for half, upper in enumerate(halves(word)):
                coordinate = 2 * jnp.arange(rows // 2)[:, None] + half
                entry = reach.look_up(self.counts, coordinate, upper >> jnp.uint32(32 - self.bits))
                column = column_of(entry, upper, self.bits)
                term, is_impossible, more = added(coordinate, column)
                total = total + jnp.sum(term, axis=0, dtype=total.dtype)
                if self.terms.has_impossible:
                    impossible = impossible | jnp.any(is_impossible, axis=0)
                if self.spread is not None:
                    variance = variance + jnp.sum(more, axis=0)
            return total, impossible, variance

        return jax.lax.platform_dependent(cpu=group_by_group, default=all_at_once)

    def _words(self, sequence: UInt64[Array, " G"], group: Array) -> UInt64[Array, "words G"]:
        """The words of a group, a word for two coordinates."""
        first = (group * (GROUP // 2)).astype(jnp.uint64)
        return splitmix64(sequence, (first + jnp.arange(GROUP // 2, dtype=jnp.uint64))[:, None])

    def _entry(
        self, words: UInt64[Array, "words G"], group: Array, reach: Reach, k: int
    ) -> UInt32[Array, " G"]:
        """Look up what the word of coordinate k of a group points at."""
        word = (words[k // 2] >> jnp.uint64(32 * (k % 2))).astype(jnp.uint32)
        return reach.look_up(self.counts, group * GROUP + k, word >> jnp.uint32(32 - self.bits))

    def _columns(
        self, words: UInt64[Array, "words G"], entries: UInt32[Array, "coordinates G"]
    ) -> UInt32[Array, "coordinates G"]:
        """The columns of a group."""
        shifts = jnp.arange(0, 64, 32, dtype=jnp.uint64)
        upper = (words[:, None, :] >> shifts[:, None]).astype(jnp.uint32).reshape(GROUP, -1)
        return column_of(entries, upper, self.bits)


def _normal(words: Words) -> Float[Array, " G"]:
    """A float64 standard normal from 106 bits (Box-Muller); its tail reaches 8.5."""

    def uniform(a: Array, b: Array) -> Array:
        wide = (a.astype(jnp.uint64) << jnp.uint64(21)) ^ (b.astype(jnp.uint64) >> jnp.uint64(11))
        return (wide.astype(jnp.float64) + 1.0) * 2.0**-53

    return jnp.sqrt(-2.0 * jnp.log(uniform(*words[:2]))) * jnp.cos(2.0 * jnp.pi * uniform(*words[2:]))


def _of_tables(
    problem: Problem[Bernoulli, AbstractAdditiveAttack],  # what is played
    entries: np.ndarray,  # of the alias tables, shape (d, 2, C)
    terms: tuple[AbstractTerms, float, float],  # with base and unit of the score
    block: int,
    noise: float = 0.0,  # standard deviation of the noise in the score, or its unit where there is a spread
    spread: np.ndarray | None = None,  # the variance that each bit of a random target adds, shape (d, 2)
) -> TableSampler:
    """The sampler of a score whose tables are known."""
    d, bits = problem.data.dimension, entries.shape[-1].bit_length() - 1
    attack, target = problem.attack, problem.target if isinstance(problem, FixedProblem) else np.zeros(d)
    if isinstance(attack, AbstractLinearAttack):  # its offset is in the base, and its link is the identity
        attack, target = Sum(), np.zeros(d)
    numbers = terms[1], terms[2], noise, problem.mean.inclusion
    base, unit, deviation, inclusion = jax.device_put(tuple(np.float64(x) for x in numbers))
    return TableSampler(
        attack=attack,
        target=jax.device_put(target),
        counts=jax.device_put(_padded(entries).reshape(-1)),
        terms=terms[0],
        base=base,
        unit=unit,
        noise=deviation,
        inclusion=inclusion,
        bits=bits,
        has_coin=problem.mean.inclusion < 1.0,
        has_noise=problem.mean.has_gaussian_noise,
        spread=None if spread is None else jax.device_put(_padded(spread).reshape(-1)),
        block=block,
    )


def _weights_of_bits(attack: AbstractLinearAttack, d: int, rows: int) -> np.ndarray:
    """The weights of counts for either bit of a random target, shape (d, 2)."""
    return np.stack([weights_at(attack, np.full(d, bit)) for bit in (0.0, 1.0)], axis=1) / rows


def table_sampler(problem: Problem[Bernoulli, AbstractAdditiveAttack]) -> TableSampler | None:
    """The kernel of tables of counts, or None where a random target's attack has no `offsets`, or tables would be wider than `NARROW`.

    Beyond that, cells of counts do as well and are built sooner. Must be called inside `exact_scope`.

    Raises ValueError if the attack's contributions are NaN or +inf at a count that can occur.
    """
    p, rows = np.asarray(problem.data.p), problem.mean.rows
    # A pair of a bit and a count has 1 bit more than its count; a further bit may be needed where the windows of the sides do
    # not coincide.
    more = 0 if isinstance(problem, FixedProblem) else 2
    if p.size * 2 * 8 << (least_bits(rows, p) + more) > MOST_BYTES:
        return None
    bits = table_bits(rows, p)
    if bits > NARROW or p.size * 2 * 8 << (bits + more) > MOST_BYTES:
        return None
    return _of_fixed(problem, p, bits) if isinstance(problem, FixedProblem) else _of_random(problem, p)


def _of_fixed(
    problem: FixedProblem[Bernoulli, AbstractAdditiveAttack], p: np.ndarray, bits: int
) -> TableSampler:
    attack, rows = problem.attack, problem.mean.rows
    tables = binomial_table(rows, p, bits), binomial_table(rows - 1, p, bits)
    noise = 0.0
    if isinstance(attack, AbstractLinearAttack):
        weights, offset = line_at(attack, problem.target)
        noise = float(np.sqrt(np.sum(weights**2 * problem.mean.variance)))
        terms, base, unit = _linear(weights / rows, problem.row, tables)
        base += offset
    else:
        law, sums = _columns(problem.row, tables)
        outputs = sums / rows
        values = terms_at(attack, problem.target, outputs)
        terms, base, unit = _tabled(attack, values, law, outputs)
    entries = np.stack([table.entries for table in tables], axis=1)
    block = BLOCK if problem.mean.has_gaussian_noise else _SMALLER
    return _of_tables(problem, entries, (terms, base, unit), block, noise)


def _of_random(problem: Problem[Bernoulli, AbstractAdditiveAttack], p: np.ndarray) -> TableSampler | None:
    """A uniformly chosen record is distributed as a fresh draw, and given it the others are as before.

    So the pairs (bit of the target, count of the column) are independent over the coordinates: on side 0 both parts are independent, on
    side 1 the count is the bit plus that of the other rows. A row of the tables holds the distribution of a coordinate's pair.
    """
    attack, rows = problem.attack, problem.mean.rows
    # What either bit of the target adds to the offset at each coordinate.
    known = [attack.offsets(np.full(p.size, bit)) for bit in (0.0, 1.0)]
    if any(offset is None for offset in known):
        return None
    offsets = np.stack([np.asarray(offset) for offset in known], axis=1)
    distinct, row = np.unique(p, return_inverse=True)
    low, law = pair_law(rows, distinct)
    bits = law.shape[-1].bit_length() - 1
    masses = np.diff(np.rint(np.cumsum(law.reshape(*law.shape[:2], -1), axis=2) * 2.0**32), axis=2, prepend=0)
    masses = masses.astype(np.int64)
    entries = alias_entries(masses.reshape(-1, masses.shape[2]), bits + 1).reshape(masses.shape)
    sample, sums = (masses / 2.0**32)[row], (low[:, None] + np.arange(1 << bits))[row]
    spread, noise = None, 0.0
    if isinstance(attack, AbstractLinearAttack):
        weights = _weights_of_bits(attack, p.size, rows)
        terms = _two_lines(weights, offsets, sums, sample)
        spread, noise = _spread_of(weights, problem.mean)
    else:
        outputs = sums / rows
        both = np.concatenate([terms_at(attack, np.full(p.size, bit), outputs) for bit in (0.0, 1.0)], axis=1)
        shown = np.broadcast_to(np.tile(outputs, 2)[:, None, :], sample.shape)
        terms = _tabled(attack, np.broadcast_to(both[:, None, :], sample.shape), sample, shown)
    return _of_tables(problem, entries[row], terms, BLOCK, noise, spread)


def _spread_of(weights: np.ndarray, mean: Release) -> tuple[np.ndarray | None, float]:
    """The `spread` and `noise` of a random target's table: weights are those of the counts for either bit, shape (d, 2).
    >>> _spread_of(np.ones((1, 2)), Release(10))
    (None, 0.0)
    """
    variance = (weights * mean.rows) ** 2 * np.broadcast_to(mean.variance, weights.shape[:1])[:, None]
    noise = float(variance.max(axis=1).sum()) / 2.0**62
    if not noise:
        return None, 0.0
    return np.rint(variance / noise).astype(np.int64), float(np.sqrt(noise))


def pair_law(rows: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The laws of (bit of the target, column sum) without the target among the rows and with it.
    `rows`: k >= 2, how many records are added up; `p`: success probabilities, shape (d,). Returns (low, law): law has
    shape (d, 2 sides, 2 bits, C), C a power of two; column c stands for the sum low + c, low of shape (d,).
    """
    tables = binomial_table(rows, p), binomial_table(rows - 1, p)
    laws = [table.probabilities() for table in tables]
    low = np.minimum(tables[0].low, tables[1].low)
    last = [(item > 0).shape[1] - 1 - np.argmax(item[:, ::-1] > 0, axis=1) for item in laws]
    top = max(int((tables[side].low + last[side] + side - low).max()) for side in (0, 1))
    columns, most = 1 << top.bit_length(), max(single.shape[1] for single in laws)
    wide = np.zeros((p.size, 2, 2, columns + most))
    places, each = np.arange(p.size)[:, None], (1 - p, p)
    for side in (0, 1):
        for bit in (0, 1):
            begin = tables[side].low - low + side * bit
            span = begin[:, None] + np.arange(laws[side].shape[1])
            wide[places, side, bit, span] = laws[side] * each[bit][:, None]
    return low, wide[..., :columns]


def _two_lines(
    weights: np.ndarray, offsets: np.ndarray, sums: np.ndarray, law: np.ndarray
) -> tuple[AbstractTerms, float, float]:
    """Terms weights x sum + offsets in fixed point, with base and unit; weights and offsets have shape (d, 2), for either bit."""
    bits = sums.shape[1].bit_length() - 1
    each = weights[:, :, None] * sums[:, None, :] + offsets[:, :, None]
    terms = np.broadcast_to(each.reshape(sums.shape[0], 1, -1), law.shape)
    centre = (law * terms).sum(axis=2).mean(axis=1)
    unit = _unit_for_ties(_unit(*_spans(terms, law, centre)), weights)
    steps, zero = np.rint(weights / unit), np.rint(centre / unit)
    middle = np.rint((law * np.tile(sums, 2)[:, None, :]).sum(axis=2).mean(axis=1))
    # What rounding the weights changes is put right at the mean count.
    rest = np.rint((offsets + (weights - steps * unit) * middle[:, None]) / unit)
    firsts = np.asarray(steps * sums[:, :1] + rest - zero[:, None]).astype(np.int64)
    paired = PairedTerms(
        steps=jnp.asarray(_padded(_int32(steps)).reshape(-1)),
        jumps=jnp.asarray(_padded(_int32(firsts[:, 1] - firsts[:, 0]))),
        first=jnp.asarray(_int32(firsts[:, 0].sum())),
        bits=bits,
        has_impossible=False,
    )
    return paired, float((zero * unit).sum()), unit


def _unit_for_ties(unit: float, weights: np.ndarray) -> float:
    """The least unit >= `unit` of which the least weight is a multiple, as are then its multiples: scores that tie stay tied.

    `unit` itself where the least weight, in size and beside zeros, is below it.

    >>> _unit_for_ties(0.4, np.array([0.0, 1.0, -2.0])), _unit_for_ties(0.4, np.array([0.0, 0.2]))
    (0.5, 0.4)
    """
    least = np.abs(weights[weights != 0]).min(initial=np.inf)
    return float(least / np.floor(least / unit)) if np.isfinite(least) and least >= unit else unit


def _columns(target: np.ndarray, tables: Sequence[BinomialTable]) -> tuple[np.ndarray, np.ndarray]:
    """The law of the columns, and the sums that they stand for, each of shape (d, 2, C)."""
    shift = np.stack([np.zeros_like(target), target], axis=1)
    low = np.stack([t.low for t in tables], axis=1) + shift
    sums = low[:, :, None] + np.arange(1 << tables[0].bits)
    law = np.stack([t.probabilities() for t in tables], axis=1)
    # Columns that never come up hold any value that is harmless.
    return law, np.where(law > 0, sums, low[:, :, None])


def _linear(
    slopes: np.ndarray, target: np.ndarray, tables: tuple[BinomialTable, BinomialTable]
) -> tuple[AbstractTerms, float, float]:
    """Terms slopes x sum in fixed point, with base and unit; slopes have shape (d,)."""
    mean_count, spans = [], []
    # A part of the coordinates at a time: memory that was never touched costs more than the arithmetic.
    together = max(1, _TOGETHER >> tables[0].bits)
    for begin in range(0, target.size, together):
        part = slice(begin, begin + together)
        law, sums = _columns(target[part], [t.rows(part) for t in tables])
        mean = (law * sums).sum(axis=2)
        centre = slopes[part] * np.rint(mean.mean(axis=1))
        spans.append(_spans(slopes[part][:, None, None] * sums, law, centre))
        mean_count.append(mean)
    mean_count = np.concatenate(mean_count)
    low = np.stack([t.low for t in tables], axis=1) + np.stack([np.zeros_like(target), target], axis=1)
    centre = np.rint(mean_count.mean(axis=1))
    unit = _unit(*(np.concatenate(parts) for parts in zip(*spans, strict=True)))
    # Whole weights times whole counts: scores that tie stay tied, exactly.
    step = np.rint(slopes / unit)
    starts = np.rint(step[:, None] * (low - centre[:, None])).astype(np.int64).sum(axis=0)
    steps, firsts = jax.device_put((_padded(_int32(step)), _int32(starts)))
    # What rounding the weights changes is put right at the mean of the "out" world.
    base = np.sum(slopes * centre + (slopes - step * unit) * (mean_count[:, 0] - centre))
    return LinearTerms(steps=steps, starts=firsts, has_impossible=False), float(base), unit


def _tabled(
    attack: AbstractAttack, terms: np.ndarray, law: np.ndarray, outputs: np.ndarray
) -> tuple[AbstractTerms, float, float]:
    """Terms of any kind in fixed point, with base and unit."""
    possible = law > 0
    bad = possible & (np.isnan(terms) | (terms == np.inf))
    if bad.any():
        j, side, column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"attack {type(attack).__name__} contributes {terms[j, side, column]} at coordinate {j} for the output "
            f"{outputs[j, side, column]:g}; contributions must be numbers or -inf"
        )
    finite = np.where(np.isfinite(terms), terms, 0.0)
    centre = (law * finite).sum(axis=2).mean(axis=1)
    unit = _unit(*_spans(finite, law, centre))
    quantised = np.rint((finite - centre[:, None, None]) / unit)
    impossible = terms == -np.inf
    values = _padded(_int32(np.where(impossible, np.float64(IMPOSSIBLE), quantised)))
    result = TabledTerms(
        values=jax.device_put(values.reshape(-1)), has_impossible=bool((impossible & possible).any())
    )
    return result, float(centre.sum()), unit


def _spans(terms: np.ndarray, law: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of each coordinate: the greatest distance of a term from the centre, the means of either side from it, and the variances."""
    away = np.where(law > 0, np.abs(terms - centre[:, None, None]), 0.0)
    means = (law * terms).sum(axis=2)
    variances = (law * (terms - means[:, :, None]) ** 2).sum(axis=2)
    return away.max(axis=(1, 2)), means - centre[:, None], variances


def _unit(away: np.ndarray, means: np.ndarray, variances: np.ndarray) -> float:
    """The unit of the fixed point: as small as an int32 total, counted from the centres, allows.

    A total wraps only beyond half_range. That is the greatest possible total; or, if less, the distance of the worlds'
    means from the centre plus the greater of 64 standard deviations and 32 greatest single terms, which by Bernstein's
    inequality is passed with probability below 1e-19.
    """
    variance = np.maximum(variances, 0.0).sum(axis=0).max()
    shift = np.abs(means.sum(axis=0)).max()
    half_range = min(away.sum(), shift + max(64 * np.sqrt(variance), 32 * away.max()))
    return float(half_range) / _TOP if half_range > 0 else 1.0


def _int32(values: np.ndarray) -> np.ndarray:
    """Whole float64 values modulo 2^32, as int32."""
    return np.remainder(values, 2.0**32).astype(np.int64).astype(np.uint32).view(np.int32)


def _padded(table: np.ndarray) -> np.ndarray:
    """Fill the last group of coordinates with rows whose values are zero."""
    missing = -table.shape[0] % GROUP
    return np.concatenate([table, np.zeros((missing, *table.shape[1:]), table.dtype)])
