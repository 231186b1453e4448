"""The fast kernel: one random word per coordinate picks its count, and small tables give its term of the score."""

from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.distributions.binomial_cells import place_in_cell
from mipsim.distributions.binomial_table import column_of
from mipsim.engine.random.apart import kept, kept_rows
from mipsim.engine.random.counter import Draws, Words, halves, long_word, words_of
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.engine.samplers.fixed_point import BIT, IMPOSSIBLE, AbstractTerms, Reach, at, scaled

GROUP = 8
"""Coordinates per step of the loop, hence what the tables' rows are padded to."""

# What a game's Philox words are for: the sub-sampling coin, the noise, the start of its SplitMix64 sequence.
_COIN, _NOISE, _START = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD


class Cells(eqx.Module):
    """What makes a column of a table a cell of counts, and a second word the place in it; see `BinomialCells`.

    Attributes:
        shifts: log2 of the width of each coordinate's cells, uint32, shape (rows,).
        bits: log2 of the number of cells; a column may have a bit above them, of a target that is drawn with the count.
        has_bit: whether it has.
    """

    shifts: UInt32[Array, " rows"]
    bits: int = eqx.field(static=True)
    has_bit: bool = eqx.field(static=True)

    def place(
        self, first: Int[Array, ""], column: UInt32[Array, "rows G"], word: UInt32[Array, "rows G"]
    ) -> UInt32[Array, "rows G"]:
        """The counts of coordinates from the first on, less the lowest; the bit, if there is one, is the highest of the word."""
        shift = jax.lax.dynamic_slice(self.shifts, (first,), column.shape[:1])[:, None]
        within = place_in_cell(word, shift)
        if not self.has_bit:
            return (column << shift) + within
        cell, bit = column & jnp.uint32((1 << self.bits) - 1), column >> jnp.uint32(self.bits)
        return ((cell << shift) + within) | (bit << jnp.uint32(BIT))


class TableSampler(AbstractSampler):
    """Draws the score of a mean of Bernoulli records from tables of counts and of contributions.

    A row of the tables holds one coordinate. Side 0 is the law of its column sum without the target, side 1 with it.
    The score is link(base + unit x sum of int32 terms): integer sums do not depend on their order, wrap around modulo
    2^32 harmlessly, and are bit-identical on every device.

    Attributes:
        attack: whose `link` ends the score.
        target: z*, shape (d,).
        counts: alias entries, shape (rows, 2, C) flattened; rows is d rounded up to a multiple of GROUP.
        terms: contributions in units of `unit`.
        base, unit: float64 scalars.
        noise: standard deviation of the Gaussian noise in the score, float64 scalar.
        inclusion: the probability that the target is among the rows of the release; 1 without sub-sampling.
        bits: log2 C.
        has_coin, has_noise: what the kernel need not compute.
        spread: the variance that a coordinate's noise adds where the target's bit is 0 and where it is 1, in units of noise^2,
            int64, shape (rows, 2) flattened; None where the target, and with it all of the noise, is fixed.
        cells: None where a column of the tables is one count.
    """

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "table"
    attack: AbstractAdditiveAttack
    target: Float[Array, " d"]
    counts: UInt32[Array, " entries"]
    terms: AbstractTerms
    base: Float[Array, ""]
    unit: Float[Array, ""]
    noise: Float[Array, ""]
    inclusion: Float[Array, ""]
    bits: int = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)
    spread: Int[Array, " pairs"] | None = None
    cells: Cells | None = None

    @property
    def any_block(self) -> bool:
        return not self.has_noise

    def scores(self, draws: Draws) -> Float[Array, " G"]:
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
        """Sum the terms over the coordinates, a group a step; also say where one was impossible, and sum the spread."""
        columns = 1 << self.bits
        # One game's coin may point at either side, so that both rows of a coordinate are in reach; else only one is.
        reach = (
            Reach(columns, 0, 2 * columns, side << jnp.uint32(self.bits))
            if self.has_coin
            else Reach(columns, world.astype(jnp.int64) * columns, columns, jnp.uint32(0))
        )
        sequence = long_word(words[1], words[0])
        top = self.bits - 1 if self.cells is None else BIT  # the bit of a target that is drawn

        def added(coordinate: Array, column: Array) -> tuple[Array, Array, Array]:
            term, nothing = self.terms.of(coordinate, column, reach), jnp.zeros((), jnp.int64)
            is_impossible = term == IMPOSSIBLE if self.terms.has_impossible else jnp.zeros((), bool)
            if self.spread is None:
                return term, is_impossible, nothing
            zero, one = at(self.spread, 2 * coordinate), at(self.spread, 2 * coordinate + 1)
            return term, is_impossible, jnp.where(column >> jnp.uint32(top) != 0, one, zero)

        rows = self.counts.size // (2 * columns)
        no_variance = jnp.zeros(() if self.spread is None else side.shape, jnp.int64)
        nothing = self.terms.start(side), jnp.zeros(side.shape, bool), no_variance

        def group_by_group() -> tuple[Array, Array, Array]:
            # A CPU would make each word again for the look-up, and with scalars, and would hand the halves of each look-up to its own
            # threads, at a greater cost than they take: there a group's words are made first, then looked up, and kept.
            def step(group: Array, state: tuple[Array, ...]) -> tuple[Array, ...]:
                total, impossible, variance, *rooms = state
                rooms[0], words = kept(rooms[0], group, self._words(sequence, group))
                rooms[1], entries = kept_rows(rooms[1], group, partial(self._entry, words, group, reach))
                rooms[2], column = kept(rooms[2], group, self._columns(words, group, entries))
                for k in range(GROUP):
                    term, is_impossible, more = added(group * GROUP + k, column[k])
                    total, impossible, variance = total + term, impossible | is_impossible, variance + more
                return total, impossible, variance, *rooms

            rooms = (
                jnp.zeros((self._words_of_group + 1, side.size), jnp.uint64),
                jnp.zeros((GROUP + 1, side.size), jnp.uint32),
                jnp.zeros((GROUP + 1, side.size), jnp.uint32),
            )
            return jax.lax.fori_loop(0, rows // GROUP, step, (*nothing, *rooms))[:3]

        def all_at_once() -> tuple[Array, Array, Array]:
            # One reduction over all coordinates is one kernel on an accelerator, which stores nothing but the sums.
            total, impossible, variance = nothing
            of_word = 1 if self.cells else 2
            word = splitmix64(sequence, jnp.arange(rows // of_word, dtype=jnp.uint64)[:, None])
            for half in range(of_word):
                coordinate = of_word * jnp.arange(rows // of_word)[:, None] + half
                low, high = halves(word)
                upper = low if half == 0 and not self.cells else high
                entry = reach.look_up(self.counts, coordinate, upper >> jnp.uint32(32 - self.bits))
                column = column_of(entry, upper, self.bits)
                if self.cells is not None:
                    column = self.cells.place(jnp.asarray(0), column, low)
                term, is_impossible, more = added(coordinate, column)
                total = total + jnp.sum(term, axis=0, dtype=total.dtype)
                if self.terms.has_impossible:
                    impossible = impossible | jnp.any(is_impossible, axis=0)
                if self.spread is not None:
                    variance = variance + jnp.sum(more, axis=0)
            return total, impossible, variance

        return jax.lax.platform_dependent(cpu=group_by_group, default=all_at_once)

    @property
    def _words_of_group(self) -> int:
        """One for two coordinates, of cells one for each."""
        return GROUP // 2 if self.cells is None else GROUP

    def _words(self, sequence: UInt64[Array, " G"], group: Array) -> UInt64[Array, "words G"]:
        """The words of a group."""
        first = (group * self._words_of_group).astype(jnp.uint64)
        index = first + jnp.arange(self._words_of_group, dtype=jnp.uint64)
        return splitmix64(sequence, index[:, None])

    def _upper(self, words: UInt64[Array, "words G"]) -> UInt32[Array, "coordinates G"]:
        """The words that look up, one for each coordinate of a group."""
        if self.cells is not None:
            return halves(words)[1]
        shifts = jnp.arange(0, 64, 32, dtype=jnp.uint64)
        return (words[:, None, :] >> shifts[:, None]).astype(jnp.uint32).reshape(GROUP, -1)

    def _entry(
        self, words: UInt64[Array, "words G"], group: Array, reach: Reach, k: int
    ) -> UInt32[Array, " G"]:
        """Look up what the word of coordinate k of a group points at."""
        if self.cells is None:
            word = (words[k // 2] >> jnp.uint64(32 * (k % 2))).astype(jnp.uint32)
        else:
            word = halves(words[k])[1]
        return reach.look_up(self.counts, group * GROUP + k, word >> jnp.uint32(32 - self.bits))

    def _columns(
        self, words: UInt64[Array, "words G"], group: Array, entries: UInt32[Array, "coordinates G"]
    ) -> UInt32[Array, "coordinates G"]:
        """The columns of a group, or, of cells, the places among them."""
        column = column_of(entries, self._upper(words), self.bits)
        return column if self.cells is None else self.cells.place(group * GROUP, column, halves(words)[0])


def _normal(words: Words) -> Float[Array, " G"]:
    """One float64 standard normal from 106 bits (Box-Muller); its tail reaches 8.5."""

    def uniform(a: Array, b: Array) -> Array:
        wide = (a.astype(jnp.uint64) << jnp.uint64(21)) ^ (b.astype(jnp.uint64) >> jnp.uint64(11))
        return (wide.astype(jnp.float64) + 1.0) * 2.0**-53

    return jnp.sqrt(-2.0 * jnp.log(uniform(*words[:2]))) * jnp.cos(2.0 * jnp.pi * uniform(*words[2:]))
