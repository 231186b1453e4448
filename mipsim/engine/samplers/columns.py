"""The sampler of a released mean of independent coordinates: each column sum from tables, any attack on top."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from itertools import chain
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_cells import (
    LEAST_BITS,
    MOST_ERROR,
    NARROW,
    binomial_cells,
    cell_layout,
    place_in_cell,
)
from mipsim.distributions.binomial_table import (
    MOST_BITS,
    alias_entries,
    binomial_table,
    draw,
    least_bits,
    table_bits,
)
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.sum_table import LatticeTable, SumTable, lattice_table, standard_forms, sum_table
from mipsim.engine.random.counter import GameDraws, halves, long_word, normal_pair, uniform
from mipsim.engine.random.fusion import materialise
from mipsim.engine.random.keys import COUNTER
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.base import MOST_BYTES, AbstractSampler, RowCount, block_games, by_keys, row_count
from mipsim.forms.problem import FixedProblem, Problem
from mipsim.mechanisms.release import NoiseLaw

_MANY = 2**20  # sets these words apart from those of the other samplers, which count up from 0
_SUM, _TARGET, _NOISE = 0, 1, 2  # what the words of a coordinate are for
_USES = 4  # words set aside for a coordinate: those of its sum, of the target's and two of a normal
_CELLS = "entries", "left", "width", "start"  # of a `SumTable`
_RADIX = 4  # of the digits of a number of rows: three tables each; base 2 takes twice the look-ups, base 16 twice the tables
_FIRST = 4, 16  # sides of the first digit that are tried; tables of fewer rows may not exist
_MOST_TABLES = 128  # of densities, each of which takes a tenth of a second to a second and a half
_FEW = 128  # records: as many uniform records are sampled as soon as looked up, and need no tables
_LOOK_UP = 4  # records that are sampled in the time of a look-up

WordsOf = Callable[[int | Array], UInt64[Array, "d G"]]


class AbstractColumns(eqx.Module):
    """The distributions of the d column sums, without the target (side 0: k rows) and beside it (side 1: k - 1 rows).

    Lattices and densities may hold tables of other numbers of rows, and more of them: `side` then says which.
    """

    @property
    def uses(self) -> int:
        """How many words are set aside for a coordinate."""
        return _USES

    @abstractmethod
    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        """Draw the sums; `side` is a scalar or has shape (G,). The world matters where rows are included by coins."""

    @abstractmethod
    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        """Draw a record for each game."""


class LatticeColumns(AbstractColumns):
    """Sums on a lattice, an alias row for every coordinate and side."""

    entries: UInt32[Array, " entries"]  # shape (laws, sides, C) flattened
    origin: Float[Array, "d sides"]  # shape (d, sides)
    # ones, single_origin: the same of a single record, shapes (laws, C') flattened and (d,)
    ones: UInt32[Array, " single"]
    single_origin: Float[Array, " d"]
    which: Int[Array, " d"]  # the law of each coordinate, shape (d,)
    step: Float[Array, ""]  # of the lattice
    # bits, single_bits: log2 of C and C'
    bits: int = eqx.field(static=True)
    single_bits: int = eqx.field(static=True)

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        row = _row(self.which, self.origin.shape[1], side, self.bits)
        word = _once(lambda: (words(_SUM) >> jnp.uint64(32)).astype(jnp.uint32), world)
        column = draw(self.entries, word, self.bits, jnp.broadcast_to(row, word.shape))
        return _of_side(self.origin, side) + self.step * column.astype(jnp.int32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        row = self.which.astype(jnp.uint32)[:, None] << jnp.uint32(self.single_bits)
        word = words(_SUM).astype(jnp.uint32)  # the half that `sums` leaves
        column = draw(self.ones, word, self.single_bits, jnp.broadcast_to(row, word.shape))
        return self.single_origin[:, None] + self.step * column.astype(jnp.int32)


class CellColumns(AbstractColumns):
    """Sums of many Bernoulli records: an alias row of cells for every coordinate and side, see `BinomialCells`."""

    p: Float[Array, " d"]  # draws the targets of a random-target game, shape (d,)
    entries: UInt32[Array, " entries"]  # shape (d, 2, C) flattened
    origin: Float[Array, "d 2"]  # shape (d, 2)
    shifts: UInt32[Array, " d"]  # log2 of the width of a coordinate's cells, shape (d,)
    bits: int = eqx.field(static=True)  # log2 of C

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        row = _row(jnp.arange(self.p.shape[0]), 2, side, self.bits)
        within, word = halves(_once(lambda: words(_SUM), world))
        column = draw(self.entries, word, self.bits, jnp.broadcast_to(row, word.shape))
        shift = self.shifts[:, None]
        place = (column << shift) + place_in_cell(within, shift)
        return _of_side(self.origin, side) + place.astype(jnp.int32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return (uniform(words(_TARGET)) < self.p[:, None]).astype(jnp.float64)


class DensityColumns(AbstractColumns):
    """Sums of location-scale families, a table of cells for each law among the coordinates and either side."""

    data: AbstractDistribution  # draws the targets of a random-target game
    # entries, left, width, start: of a `SumTable` for each law and side, shape (laws, sides, C) flattened
    entries: UInt32[Array, " cells"]
    left: Float[Array, " cells"]
    width: Float[Array, " cells"]
    start: Float[Array, " cells"]
    which: Int[Array, " d"]  # the law of each coordinate, shape (d,)
    centre: Float[Array, "d sides"]  # the number of rows of each side times the location, shape (d, sides)
    scale: Float[Array, " d"]  # shape (d,)
    bits: int = eqx.field(static=True)  # log2 C

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        word = _once(lambda: words(_SUM), world)
        row = _row(self.which, self.centre.shape[1], side, self.bits)
        row = jnp.broadcast_to(row, word.shape)
        upper = (word >> jnp.uint64(32)).astype(jnp.uint32)
        cell = _once(lambda: row + draw(self.entries, upper, self.bits, row), world)
        cells = self.left, self.width, self.start
        left, width, start = (x.at[cell].get(mode="promise_in_bounds") for x in cells)
        share = uniform(word << jnp.uint64(32))
        place = 2 * share / (start + jnp.sqrt(start**2 + 4 * (1 - start) * share))
        return _of_side(self.centre, side) + self.scale[:, None] * (left + width * place)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return by_keys(lambda key: self.data.sample(key, 1)[0], words(_TARGET)[0])


def _once(make: Callable[[], Array], world: Int[Array, ""]) -> Array:
    """What the function makes; on a CPU before a look-up needs it, since XLA would make it again for each, and without vectors."""
    return jax.lax.platform_dependent(
        world, cpu=lambda world: materialise(make, world), default=lambda world: make()
    )


def _row(which: Array, sides: int, side: Array, bits: int) -> UInt32[Array, "d ..."]:
    """Where the entries of the side of each coordinate's law begin."""
    return (sides * which[:, None] + side).astype(jnp.uint32) << jnp.uint32(bits)


def _of_side(values: Float[Array, "d sides"], side: Int[Array, "..."]) -> Float[Array, "d ..."]:
    """The column of each game's side."""
    if values.shape[1] == 2:
        return jnp.where(side == 1, values[:, 1:], values[:, :1])
    return values.at[:, side].get(mode="promise_in_bounds")


class RecordColumns(AbstractColumns):
    """Sums of 0, 1, ..., most records, which the side states: they are sampled individually."""

    data: AbstractDistribution  # the law of a single record
    most: int = eqx.field(static=True)  # the largest number

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        seeds = words(0)[0]
        keys = jax.vmap(_key)(seeds)

        def add(turn: Array, total: Array) -> Array:
            item = lambda key: self.data.sample(jax.random.fold_in(key, turn), 1)[0]  # noqa: E731
            return total + jnp.where(turn < side, jax.vmap(item, out_axes=1)(keys), 0.0)

        return jax.lax.fori_loop(0, self.most, add, jnp.zeros((self.data.dimension, seeds.shape[0])))

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return self.sums(words, jnp.asarray(1), jnp.asarray(0))


def _key(seed: UInt64[Array, ""]) -> Array:
    parts = [part for k in (0, 1) for part in reversed(halves(splitmix64(seed, jnp.uint64(k))))]
    return jax.random.wrap_key_data(jnp.stack(parts), impl=COUNTER)


class PoissonColumns(AbstractColumns):
    """Sums of a random number of rows, the same for all columns of a game: a sum for each of its digits.

    The number less `base` is written in mixed radix, its first digit below `first`, the others below 4. A sum of that many rows is that of
    base + (first digit) rows and, for each other digit above 0, of digit x first x 4^i rows, all independent.
    """

    count: RowCount  # the number of included rows besides the target
    base: Int[Array, ""]  # as above
    # the sums of base + (first digit) rows where they are sampled, or None where they are in the tables
    few: RecordColumns | None
    tables: AbstractColumns  # the sums of every other digit above 0, and before them those of base + (first digit) rows
    first: int = eqx.field(static=True)  # as above
    digits: int = eqx.field(static=True)  # how many there are

    @property
    def uses(self) -> int:
        return _USES + self.digits

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        number = materialise(lambda: self._number(words, world), world)
        first = number & jnp.uint32(self.first - 1)
        total = (self.few or self.tables).sums(lambda _: words(_USES), first, world)
        if self.digits == 1:
            return total
        own = 0 if self.few is not None else self.first

        # A loop, whose turns XLA does not make ahead: they need not be in the cache together.
        def add(digit: Array, total: Array) -> Array:
            shift = jnp.uint32(self.first.bit_length() - 1) + 2 * (digit - 1).astype(jnp.uint32)
            value = (number >> shift) & jnp.uint32(_RADIX - 1)
            table = (
                jnp.maximum(value, 1) - 1 + jnp.uint32(own) + (_RADIX - 1) * (digit - 1).astype(jnp.uint32)
            )
            more = self.tables.sums(lambda _: words(_USES + digit), table, world)
            return total + jnp.where(value > 0, more, 0.0)

        return jax.lax.fori_loop(1, self.digits, add, total)

    def _number(self, words: WordsOf, world: Array) -> UInt32[Array, " G"]:
        _, word = halves(words(0)[0])
        return (self.count.draw(word, world) - self.base).astype(jnp.uint32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return self.tables.record(lambda _: words(_TARGET))


class SplitColumns(AbstractColumns):
    """Sums of m records of which N_i take the value v_i: N_1 is Binomial(m, p_1), N_2 is Binomial(m - N_1, p_2 / (1 - p_1)), and so on.

    A binomial count of a random number of trials is that of digit x 4^j trials for each digit of that number to base 4, all independent.
    """

    values: Float[Array, " k"]  # v, shape (k,)
    # of an alias table for each value but the last, law, and digit above 0 at each place: shape (k - 1, laws, 3 places,
    # C) flattened
    entries: UInt32[Array, " entries"]
    low: UInt32[Array, " tables"]  # the count of column 0, of the same shape without the columns, flattened
    # an alias table of the values of a single record, shape (laws, C') flattened
    ones: UInt32[Array, " single"]
    which: UInt32[Array, " d"]  # the law of each coordinate, shape (d,)
    rows: Int[Array, ""]  # how many records are added up, with the target's
    # how many of them are included besides the target, or None where there are no coins
    count: RowCount | None
    places: int = eqx.field(static=True)  # of the digits
    # bits, single_bits: log2 of C and C'
    bits: int = eqx.field(static=True)
    single_bits: int = eqx.field(static=True)

    @property
    def uses(self) -> int:
        return _USES + (self.values.shape[0] - 1) * self.places

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        if self.count is not None:
            count, word = self.count, halves(words(0)[0])[1]
            number = materialise(lambda: count.draw(word, world), world)
        else:
            number = self.rows - side
        shape = words(0).shape

        def split(value: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            left, total = state
            of_value = materialise(lambda: self._count(value, left, words, world), world)
            return left - of_value, total + self.values[value] * of_value

        left = jnp.broadcast_to(jnp.asarray(number, jnp.uint32), shape)
        last = self.values.shape[0] - 1
        left, total = jax.lax.fori_loop(0, last, split, (left, jnp.zeros(shape)))
        return total + self.values[last] * left

    def _count(
        self, value: Array, number: UInt32[Array, "d G"], words: WordsOf, world: Array
    ) -> UInt32[Array, "d G"]:
        """How many of so many records, which have none of the values before, have this value."""
        laws = self.ones.shape[0] >> self.single_bits
        first = (value.astype(jnp.uint32) * jnp.uint32(laws) + self.which)[:, None] * jnp.uint32(
            (_RADIX - 1) * self.places
        )

        def add(place: Array, total: Array) -> Array:
            digit = (number >> (2 * place).astype(jnp.uint32)) & jnp.uint32(_RADIX - 1)
            table = first + (_RADIX - 1) * place.astype(jnp.uint32) + jnp.maximum(digit, 1) - 1
            word = materialise(lambda: halves(words(_USES + value * self.places + place))[1], world)
            column = draw(self.entries, word, self.bits, table << jnp.uint32(self.bits))
            count = column + self.low.at[table].get(mode="promise_in_bounds")
            return total + jnp.where(digit > 0, count, jnp.uint32(0))

        return jax.lax.fori_loop(0, self.places, add, jnp.zeros_like(number))

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        word = halves(words(_TARGET))[1]
        row = jnp.broadcast_to(self.which[:, None] << jnp.uint32(self.single_bits), word.shape)
        place = draw(self.ones, word, self.single_bits, row)
        return self.values.at[place].get(mode="promise_in_bounds")


class ColumnSampler(AbstractSampler):
    """Draws the released mean coordinate by coordinate from tables, and scores it with any attack."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "columns"
    draws_outputs: ClassVar[bool] = True
    attack: AbstractAttack
    # what the attack is given, shape (d,), or None where each game draws its own, a row
    target: Float[Array, " d"] | None
    row: Float[Array, " d"] | None  # what the target adds to the sums, shape (d,), or None in the same case
    columns: AbstractColumns  # where the sums are sampled from
    noise: Float[Array, " d"]  # standard deviation of Gaussian noise in every output coordinate, shape (d,)
    others: tuple[NoiseLaw, ...]  # laws of other noises in the output
    inclusion: Float[Array, ""]  # the probability that the target, if a member, is among the rows
    rows: Float[Array, ""]  # k, how many rows are averaged
    # has_coin, has_noise: what need not be computed
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)

    @property
    def numbers(self) -> int:
        return 8 * self.noise.shape[0]

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        target, output, _ = self.outputs(draws)
        axes = (1 if self.target is None else None, 1)
        return jax.vmap(self.attack.score, in_axes=axes)(target, output).astype(jnp.float64)

    def outputs(self, draws: GameDraws) -> tuple[Array, Float[Array, "d G"], Array]:
        """Draw the games: the target, shape (d,) or (d, G), the outputs, and whether the target is among the rows."""
        d = self.noise.shape[0]
        own = splitmix64(long_word(draws.seed[0], draws.seed[1]), jnp.uint64(_MANY))
        run = splitmix64(own, draws.place.astype(jnp.uint64))
        each = splitmix64(run, draws.games)
        start = materialise(lambda: each, draws.stream)
        uses = self.columns.uses
        places = uses * jnp.arange(d, dtype=jnp.uint64)[:, None]

        def words(use: int | Array) -> UInt64[Array, "d G"]:
            return splitmix64(start[None, :], places + jnp.uint64(use))

        side = draws.world
        if self.has_coin:
            coin = splitmix64(start, jnp.uint64(uses * d))
            side = jnp.where(uniform(coin) < self.inclusion, draws.world, 0)
        # A draw is made once, and not again for every use.
        if self.target is None:
            target = materialise(lambda: self.columns.record(words), draws.stream)
        else:
            target = jnp.asarray(self.target)
        row = target if self.row is None else jnp.asarray(self.row)[:, None]

        def release() -> Array:
            added = jnp.where(side == 1, row, 0.0)
            output = (self.columns.sums(words, side, draws.world) + added) / self.rows
            if self.has_noise:
                output = output + self.noise[:, None] * normal_pair(words(_NOISE), words(_NOISE + 1))[0]
            for place, other in enumerate(self.others):
                own_words = splitmix64(each, jnp.uint64(uses * d + 1 + place))  # those after the coin's
                output = output + by_keys(lambda key, law=other: law.draw(key, (d,), jnp.float64), own_words)
            return output

        return target, materialise(release, draws.stream), side == 1


def column_sampler(problem: Problem) -> ColumnSampler | None:
    """The sampler of a mean of independent coordinates, or None where their sums have no tables.

    Data with few values have them, on a lattice or not, and location-scale families whose sums are smooth. A look-up is off by what a
    table is, and a column sum by as much as all of its look-ups: at most ten for a Poisson sample of 10^6 records. Must be called inside
    `exact_scope`.

    >>> import mipsim as mi
    >>> from mipsim._precision import exact_scope
    >>> from mipsim.forms.problem import problem_of
    >>> data = mi.Discrete([0.0, 1.0, np.sqrt(2.0)], [0.5, 0.3, 0.2])
    >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=[1.0])
    >>> with exact_scope():
    ...     sampler = column_sampler(problem_of(game, mi.ScalarProduct([0.0])))
    ...     print(sampler.name, type(sampler.columns).__name__)
    columns SplitColumns
    """
    data, mean = problem.data, problem.mean
    columns = (
        _of_whole_rows(data, mean.rows)
        if mean.rate == 1.0
        else _of_poisson_sample(data, mean.rows, mean.rate)
    )
    if columns is None:
        return None
    # A coin decides on the target where rows are left out, by a sub-sample or by coins.
    d, share = data.dimension, mean.rate * mean.inclusion
    fixed = isinstance(problem, FixedProblem)
    return ColumnSampler(
        attack=problem.attack,
        target=jnp.asarray(problem.target) if fixed else None,
        row=jnp.asarray(problem.row) if fixed else None,
        columns=columns,
        noise=jnp.asarray(np.broadcast_to(np.sqrt(mean.variance), (d,))),
        others=mean.noises,
        inclusion=jnp.asarray(share),
        rows=jnp.asarray(mean.rate * mean.rows),
        has_coin=share < 1.0,
        has_noise=mean.has_gaussian_noise,
        block=block_games(d, budget=2**19, most=4096),
    )


def _of_whole_rows(data: AbstractDistribution, rows: int) -> AbstractColumns | None:
    if (cells := _cells(data, rows)) is not None:
        return cells
    sides = [rows, rows - 1]
    return _lattice(data, sides) or _density(data, sides) or _split(data, rows, None)


def _of_poisson_sample(data: AbstractDistribution, n: int, rate: float) -> AbstractColumns | None:
    if (count := row_count(n, rate)) is None:
        return None
    has_tables = n >= _FEW or data.sum_sampler() is not None
    return (_digits(data, count) if has_tables else None) or _split(data, n, count)


def _cells(data: AbstractDistribution, rows: int) -> CellColumns | None:
    """Cells of counts, where tables of counts would be wide."""
    if not isinstance(data, Bernoulli) or 8 * (data.dimension << LEAST_BITS) > MOST_BYTES:
        return None
    if table_bits(rows, data.p) <= NARROW:
        return None
    layout = cell_layout(rows, data.p)
    if layout is None or 8 * (data.dimension << layout.bits) > MOST_BYTES:
        return None
    tables = [binomial_cells(k, data.p, layout) for k in (rows, rows - 1)]
    if max(table.error for table in tables) > MOST_ERROR:
        return None
    return CellColumns(
        p=jnp.asarray(data.p),
        entries=jnp.asarray(np.stack([table.entries() for table in tables], axis=1).reshape(-1)),
        origin=jnp.asarray(np.stack([table.low for table in tables], axis=1).astype(np.float64)),
        shifts=jnp.asarray(layout.shifts.astype(np.uint32)),
        bits=layout.bits,
    )


def _lattice(data: AbstractDistribution, sides: list[int]) -> LatticeColumns | None:
    """Tables of the sums of so many rows for each side, the first of which has most rows."""
    if not isinstance(data, (Bernoulli, Discrete)):
        return None
    law = data.p if isinstance(data, Bernoulli) else data.probabilities
    laws, which = np.unique(law, axis=0, return_inverse=True)
    few = Bernoulli(laws) if isinstance(data, Bernoulli) else Discrete(data.values, laws)
    most, rows = MOST_BYTES / len(sides), max(sides)
    if isinstance(data, Bernoulli) and 4 * (len(laws) << least_bits(rows, data.p)) > most:
        return None  # seen at once; a million laws take minutes
    item, widest = lattice_table(few, 1), lattice_table(few, rows, most=most)
    if item is None or widest is None:
        return None
    tables = [widest if side == rows else _lattice_sum(few, side, widest) for side in sides]
    known, which = [table for table in tables if table is not None], which.ravel()
    if len(known) < len(tables):
        return None
    return LatticeColumns(
        entries=jnp.asarray(np.stack([table.entries for table in known], axis=1).reshape(-1)),
        origin=jnp.asarray(np.stack([table.origin for table in known], axis=1)[which]),
        ones=jnp.asarray(item.entries.reshape(-1)),
        single_origin=jnp.asarray(item.origin[which]),
        which=jnp.asarray(which),
        step=jnp.asarray(item.step),
        bits=widest.bits,
        single_bits=item.bits,
    )


def _lattice_sum(data: AbstractDistribution, rows: int, widest: LatticeTable) -> LatticeTable | None:
    if rows:
        return lattice_table(data, rows, widest.bits)
    entries = np.broadcast_to(_sure(widest.bits), widest.entries.shape)
    return replace(widest, entries=entries, origin=np.zeros_like(widest.origin))


def _density(data: AbstractDistribution, sides: list[int]) -> DensityColumns | None:
    """The same of a location-scale family."""
    result = standard_forms(data)
    if result is None or len(result[0]) * len(sides) > _MOST_TABLES:
        return None
    forms, which = result
    known: list[SumTable] = []
    for form in forms:
        for rows in sides:
            table = sum_table(form, rows)
            if table is None:
                return None
            known.append(table)
    return DensityColumns(
        data=data,
        **{name: jnp.asarray(np.concatenate([getattr(t, name) for t in known])) for name in _CELLS},
        which=jnp.asarray(which),
        centre=jnp.asarray(forms[0].location[:, None] * np.array(sides, np.float64)),
        scale=jnp.asarray(forms[0].scale),
        bits=known[0].bits,
    )


def _digits(data: AbstractDistribution, count: RowCount) -> PoissonColumns | None:
    """Tables for the digits of a number of rows, on a lattice or of densities."""
    least, most = count.range
    for build, first in ((_lattice, _FIRST[0]), *((_density, first) for first in _FIRST)):
        # Fewer rows are sampled individually: their densities have corners.
        is_sampled = build is _density and least < first
        base = 0 if is_sampled else least
        digits = digits_of(base, most, first)
        few = RecordColumns(data, len(digits[0]) - 1) if is_sampled else None
        sides = list(chain(*digits[is_sampled:]))
        columns = build(data, sides) if sides else few
        if columns is not None:
            return PoissonColumns(count, jnp.asarray(base), few, columns, first, len(digits))
    return None


def digits_of(least: int, most: int, first: int) -> list[list[int]]:
    """The numbers of rows that stand for each digit of a number in [least, most]: its sides, see `PoissonColumns`.
    >>> digits_of(10, 40, 4)
    [[10, 11, 12, 13], [4, 8, 12], [16]]
    """
    stages, unit = [[least + k for k in range(min(first, most - least + 1))]], first
    while unit <= most - least:
        stages.append([unit * k for k in range(1, _RADIX) if unit * k <= most - least])
        unit *= _RADIX
    return stages


def _split(data: AbstractDistribution, rows: int, count: RowCount | None) -> SplitColumns | None:
    """Few values on no lattice, where look-ups are fewer than records."""
    if not isinstance(data, Discrete):
        return None
    most = rows if count is None else count.range[1]
    laws, which = np.unique(data.probabilities, axis=0, return_inverse=True)
    places = -(-most.bit_length() // 2)
    stages = data.values.size - 1
    if _LOOK_UP * stages * places > rows or most > 2**31:
        return None
    # Of the records that have none of the values before, the share that has this value.
    rest = 1.0 - np.cumsum(laws, axis=1)[:, :-1]
    before = np.concatenate([np.ones((len(laws), 1)), rest[:, :-1]], axis=1)
    shares = np.clip(laws[:, :-1] / np.where(before > 0, before, 1.0), 0.0, 1.0)
    numbers = np.array([digit << 2 * place for place in range(places) for digit in range(1, _RADIX)])
    largest = int(numbers[numbers <= most].max())
    random = shares[(shares > 0) & (shares < 1)]
    bits = table_bits(largest, random)
    if bits > MOST_BITS or 4 * (shares.size * numbers.size << bits) > MOST_BYTES:
        return None
    tables = [_counts(int(number), shares.T, bits) for number in np.minimum(numbers, largest)]
    entries = np.stack([entries for entries, _ in tables], axis=2)
    return SplitColumns(
        values=jnp.asarray(data.values),
        entries=jnp.asarray(entries.reshape(-1)),
        low=jnp.asarray(np.stack([low for _, low in tables], axis=2).astype(np.uint32).reshape(-1)),
        ones=jnp.asarray(_single(laws)),
        which=jnp.asarray(which.ravel().astype(np.uint32)),
        rows=jnp.asarray(rows),
        count=count,
        places=places,
        bits=bits,
        single_bits=max(1, stages.bit_length()),
    )


def _counts(trials: int, shares: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Tables of Binomial(trials, share), and the counts of their first columns; a share may be 0 or 1."""
    flat = shares.ravel()
    table = binomial_table(trials, np.where((flat > 0) & (flat < 1), flat, 0.5), bits)
    entries, low = table.entries.copy(), table.low.copy()
    sure = (flat == 0) | (flat == 1)
    entries[sure] = _sure(bits)
    low[sure] = np.where(flat[sure] == 1, trials, 0)
    return entries.reshape(*shares.shape, -1), low.reshape(shares.shape)


def _sure(bits: int) -> np.ndarray:
    """An alias row of which only the first column is used."""
    masses = np.zeros((1, 1 << bits), np.int64)
    masses[0, 0] = 2**32
    return alias_entries(masses, bits)[0]


def _single(laws: np.ndarray) -> np.ndarray:
    """Alias tables of the places of a single record's values, end to end."""
    bits = max(1, (laws.shape[1] - 1).bit_length())
    cdf = np.minimum(np.cumsum(laws, axis=1), 1.0)
    cdf[:, -1] = 1.0
    masses = np.zeros((len(laws), 1 << bits), np.int64)
    masses[:, : laws.shape[1]] = np.diff(np.rint(cdf * 2.0**32).astype(np.int64), axis=1, prepend=0)
    return alias_entries(masses, bits).reshape(-1)
