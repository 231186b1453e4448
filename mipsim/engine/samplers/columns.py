"""The sampler of a released mean of independent coordinates: each column sum from a table, any attack on top."""

from abc import abstractmethod
from collections.abc import Callable
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
from mipsim.distributions.binomial_table import draw, least_bits, table_bits
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.sum_table import StandardForm, SumTable, lattice_table, standard_forms, sum_table
from mipsim.engine.random.apart import made
from mipsim.engine.random.counter import Draws, halves, long_word, normal_pair, uniform
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.base import AbstractSampler, block_games, by_keys
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.noise import NoiseLaw
from mipsim.mechanisms.release import Release, plain_release_of

MOST_BYTES = 2**29  # of the tables: half a GiB
_MANY = 2**20  # sets these words apart from those of the other samplers, which count up from 0
_SUM, TARGET, _NOISE = 0, 1, 2  # what the words of a coordinate are for
_CELLS = "entries", "left", "width", "start"  # of a `SumTable`
USES = 4
"""Words set aside for a coordinate: those of its sum, of the target's and two of a normal; columns may have more after them."""

WordsOf = Callable[[int | Array], UInt64[Array, "d G"]]


class AbstractColumns(eqx.Module):
    """The laws of the d column sums, without the target (side 0: k rows) and beside it (side 1: k - 1 rows).

    Lattices and densities may hold tables of other numbers of rows, and more of them: `side` then says which.
    """

    @property
    def uses(self) -> int:
        """How many words are set aside for a coordinate."""
        return USES

    @property
    def keeps(self) -> bool:
        """Whether what a look-up needs is made before it, and kept.

        That is faster, but not of plain columns: XLA would then round the last bits of noise beside them otherwise, and those of stored games.
        """
        return False

    def once(self, make: Callable[[], Array], world: Int[Array, ""]) -> Array:
        """What the function makes."""
        return made(make, world) if self.keeps else make()

    @abstractmethod
    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        """Draw the sums; `side` is a scalar or has shape (G,). The world matters where rows are kept by coins."""

    @abstractmethod
    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        """Draw one record a game."""


class LatticeColumns(AbstractColumns):
    """Sums on a lattice, an alias row for every coordinate and side.

    Attributes:
        entries: shape (laws, sides, C) flattened.
        origin: shape (d, sides).
        ones, one_origin: the same of a single record, shapes (laws, C') flattened and (d,).
        which: the law of each coordinate, shape (d,), or None where each has its own.
        step: of the lattice.
        bits, one_bits: log2 of C and C'.
    """

    entries: UInt32[Array, " entries"]
    origin: Float[Array, "d sides"]
    ones: UInt32[Array, " single"]
    one_origin: Float[Array, " d"]
    which: Int[Array, " d"] | None
    step: Float[Array, ""]
    bits: int = eqx.field(static=True)
    one_bits: int = eqx.field(static=True)

    @property
    def keeps(self) -> bool:
        return self.origin.shape[1] != 2

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        row = _row(self.which, self.origin.shape, side, self.bits)
        word = self.once(lambda: (words(_SUM) >> jnp.uint64(32)).astype(jnp.uint32), world)
        column = draw(self.entries, word, self.bits, jnp.broadcast_to(row, word.shape))
        return _of_side(self.origin, side) + self.step * column.astype(jnp.int32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        law = jnp.arange(self.one_origin.shape[0], dtype=jnp.uint32) if self.which is None else self.which
        row = law.astype(jnp.uint32)[:, None] << jnp.uint32(self.one_bits)
        word = words(_SUM).astype(jnp.uint32)  # the half that `sums` leaves
        column = draw(self.ones, word, self.one_bits, jnp.broadcast_to(row, word.shape))
        return self.one_origin[:, None] + self.step * column.astype(jnp.int32)


class CellColumns(AbstractColumns):
    """Sums of many Bernoulli records: an alias row of cells for every coordinate and side, see `BinomialCells`.

    Attributes:
        p: draws the targets of a random-target game, shape (d,).
        entries: shape (d, 2, C) flattened.
        origin: shape (d, 2).
        shifts: log2 of the width of a coordinate's cells, shape (d,).
        bits: log2 of C.
    """

    p: Float[Array, " d"]
    entries: UInt32[Array, " entries"]
    origin: Float[Array, "d 2"]
    shifts: UInt32[Array, " d"]
    bits: int = eqx.field(static=True)

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        row = (2 * jnp.arange(self.p.shape[0])[:, None] + side).astype(jnp.uint32) << jnp.uint32(self.bits)
        within, word = halves(words(_SUM))
        column = draw(self.entries, word, self.bits, jnp.broadcast_to(row, word.shape))
        shift = self.shifts[:, None]
        place = (column << shift) + place_in_cell(within, shift)
        return _of_side(self.origin, side) + place.astype(jnp.int32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return (uniform(words(TARGET)) < self.p[:, None]).astype(jnp.float64)


class DensityColumns(AbstractColumns):
    """Sums of location-scale families, one table of cells for each law among the coordinates and either side.

    Attributes:
        data: draws the targets of a random-target game.
        entries, left, width, start: of a `SumTable` for each law and side, shape (laws, sides, C) flattened.
        which: the law of each coordinate, shape (d,).
        centre: the number of rows of each side times the location, shape (d, sides).
        scale: shape (d,).
        bits: log2 C.
    """

    data: AbstractDistribution
    entries: UInt32[Array, " cells"]
    left: Float[Array, " cells"]
    width: Float[Array, " cells"]
    start: Float[Array, " cells"]
    which: Int[Array, " d"]
    centre: Float[Array, "d sides"]
    scale: Float[Array, " d"]
    bits: int = eqx.field(static=True)

    @property
    def keeps(self) -> bool:
        return self.centre.shape[1] != 2

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        word = self.once(lambda: words(_SUM), world)
        row = _row(self.which, self.centre.shape, side, self.bits)
        row = jnp.broadcast_to(row, word.shape)
        upper = (word >> jnp.uint64(32)).astype(jnp.uint32)
        cell = self.once(lambda: row + draw(self.entries, upper, self.bits, row), world)
        cells = self.left, self.width, self.start
        left, width, start = (x.at[cell].get(mode="promise_in_bounds") for x in cells)
        share = uniform(word << jnp.uint64(32))
        place = 2 * share / (start + jnp.sqrt(start**2 + 4 * (1 - start) * share))
        return _of_side(self.centre, side) + self.scale[:, None] * (left + width * place)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return by_keys(lambda key: self.data.sample(key, 1)[0], words(TARGET)[0])


def _row(which: Array | None, shape: tuple[int, ...], side: Array, bits: int) -> UInt32[Array, "d ..."]:
    """Where the entries of a law's side begin; the shape is (d, sides)."""
    d, sides = shape
    law = jnp.arange(d) if which is None else which
    return (sides * law[:, None] + side).astype(jnp.uint32) << jnp.uint32(bits)


def _of_side(values: Float[Array, "d sides"], side: Int[Array, "..."]) -> Float[Array, "d ..."]:
    """The column of each game's side."""
    if values.shape[1] == 2:
        return jnp.where(side == 1, values[:, 1:], values[:, :1])
    return values.at[:, side].get(mode="promise_in_bounds")


class ColumnSampler(AbstractSampler):
    """Draws the released mean coordinate by coordinate from tables, and scores it with any attack.

    Attributes:
        attack: any attack.
        target: z*, shape (d,), or None where each game draws its own.
        columns: the laws of the sums.
        noise: standard deviation of Gaussian noise in every output coordinate, shape (d,).
        others: laws of other noises in the output.
        inclusion: the probability that the target, if a member, is among the rows.
        rows: k, how many rows are averaged.
        has_coin, has_noise: what need not be computed.
    """

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "columns"
    attack: AbstractAttack
    target: Float[Array, " d"] | None
    columns: AbstractColumns
    noise: Float[Array, " d"]
    others: tuple[NoiseLaw, ...]
    inclusion: Float[Array, ""]
    rows: Float[Array, ""]
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)

    @property
    def numbers(self) -> int:
        return 8 * self.noise.shape[0]

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        target, output, _ = self.outputs(draws)
        axes = (1 if self.target is None else None, 1)
        return jax.vmap(self.attack.score, in_axes=axes)(target, output).astype(jnp.float64)

    def outputs(self, draws: Draws) -> tuple[Array, Float[Array, "d G"], Array]:
        """Draw the games: the target, shape (d,) or (d, G), the outputs, and whether the target is among the rows."""
        d = self.noise.shape[0]
        own = splitmix64(long_word(draws.seed[0], draws.seed[1]), jnp.uint64(_MANY))
        run = splitmix64(own, draws.place.astype(jnp.uint64))
        each = splitmix64(run, draws.games)
        start = made(lambda: each, draws.stream) if self.columns.keeps else each
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
            target = made(lambda: self.columns.record(words), draws.stream)
        else:
            target = jnp.asarray(self.target)

        def release() -> Array:
            added = jnp.where(side == 1, target if self.target is None else target[:, None], 0.0)
            output = (self.columns.sums(words, side, draws.world) + added) / self.rows
            if self.has_noise:
                output = output + self.noise[:, None] * normal_pair(words(_NOISE), words(_NOISE + 1))[0]
            for place, other in enumerate(self.others):
                own_words = splitmix64(each, jnp.uint64(uses * d + 1 + place))  # those after the coin's
                output = output + by_keys(lambda key, law=other: law.draw(key, (d,), jnp.float64), own_words)
            return output

        return target, made(release, draws.stream), side == 1


class CellColumnSampler(ColumnSampler):
    """The same where the tables hold cells of counts."""

    name: ClassVar[str] = "cell columns"


def column_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ColumnSampler | None:
    """The table sampler of a mean of independent coordinates, or None where there is none.

    It applies to both games with Bernoulli or lattice data, or a location-scale family whose sums are smooth, and a stack of
    independent noises and `Subsampled` over `EmpiricalMean`; any attack. Must be called inside `exact_scope`.
    """
    if not isinstance(game, (FixedTarget, RandomTarget)) or not game.data.is_product:
        return None
    mean = plain_release_of(game.mechanism, game.n)
    if mean is None or mean.rate < 1.0:
        return None
    if mean.noises and isinstance(game.data, Gaussian):
        return None  # played by the law of the output, a normal a coordinate, since counts were first stored
    cells = _cells(game.data, mean.rows)
    columns = cells or _lattice(game.data, mean.rows) or _density(game.data, mean.rows)
    if columns is None:
        return None
    return of_columns(ColumnSampler if cells is None else CellColumnSampler, game, attack, mean, columns)


def of_columns(
    kind: type[ColumnSampler],
    game: FixedTarget | RandomTarget,
    attack: AbstractAttack,
    mean: Release,
    columns: AbstractColumns,
) -> ColumnSampler:
    """The sampler of a mean whose column sums are drawn; a coin decides on the target where rows are left out, by a sub-sample or by coins."""
    d, share = game.data.dimension, mean.rate * mean.inclusion
    return kind(
        attack=attack,
        target=jnp.asarray(game.target) if isinstance(game, FixedTarget) else None,
        columns=columns,
        noise=jnp.asarray(np.broadcast_to(np.sqrt(mean.variance), (d,))),
        others=mean.noises,
        inclusion=jnp.asarray(share),
        rows=jnp.asarray(mean.rate * mean.rows),
        has_coin=share < 1.0,
        has_noise=bool((mean.variance > 0).any()),
        block=block_games(d, budget=2**19, most=4096),
    )


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


def _lattice(data: AbstractDistribution, rows: int) -> LatticeColumns | None:
    if isinstance(data, Bernoulli) and 8 * (data.dimension << least_bits(rows, data.p)) > MOST_BYTES:
        return None  # seen at once; a million laws take minutes
    full = lattice_table(data, rows, most=MOST_BYTES / 2)  # beside it, one for a row less
    rest = None if full is None else lattice_table(data, rows - 1, full.bits)
    one = None if rest is None else lattice_table(data, 1)
    if full is None or rest is None or one is None:
        return None
    return LatticeColumns(
        entries=jnp.asarray(np.stack([full.entries, rest.entries], axis=1).reshape(-1)),
        origin=jnp.asarray(np.stack([full.origin, rest.origin], axis=1)),
        ones=jnp.asarray(one.entries.reshape(-1)),
        one_origin=jnp.asarray(one.origin),
        which=None,
        step=jnp.asarray(full.step),
        bits=full.bits,
        one_bits=one.bits,
    )


def _density(data: AbstractDistribution, rows: int) -> DensityColumns | None:
    found = standard_forms(data)
    return found and density_columns(data, found, [rows, rows - 1])


def density_columns(
    data: AbstractDistribution, found: tuple[list[StandardForm], np.ndarray], sides: list[int]
) -> DensityColumns | None:
    """Tables of the sums of so many rows for each side, or None where one has none. Must be called inside `exact_scope`.

    Args:
        data: the law of a record.
        found: its `standard_forms`.
        sides: numbers of rows.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim._precision import exact_scope
        >>> data = mi.Uniform(0.0, 1.0)
        >>> with exact_scope():
        ...     density_columns(data, standard_forms(data), [20, 19]).left.shape
        (8192,)
    """
    forms, which = found
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
