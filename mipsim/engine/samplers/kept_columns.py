"""Column sums of a Poisson sample: how many rows are kept is drawn for a game, their sums from tables by the digits of that number."""

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
from mipsim.distributions.binomial_table import alias_entries, least_bits
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.sum_table import (
    LatticeTable,
    lattice_table,
    standard_forms,
)
from mipsim.engine.random.apart import made
from mipsim.engine.random.counter import halves
from mipsim.engine.random.keys import COUNTER
from mipsim.engine.random.splitmix import splitmix64
from mipsim.engine.samplers.columns import (
    MOST_BYTES,
    TARGET,
    USES,
    AbstractColumns,
    ColumnSampler,
    LatticeColumns,
    WordsOf,
    density_columns,
    of_columns,
)
from mipsim.engine.samplers.kept_rows import KeptRows, kept_rows
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.release import plain_release_of

_RADIX = 4  # of the digits: three tables each; two would take twice the look-ups, 16 twice the tables
_FIRST = 4, 16  # sides of the first digit that are tried; tables of fewer rows may not exist
_MOST_TABLES = 128  # of densities, each of which takes a tenth of a second to a second and a half
_FEW = 128  # records: as many uniform ones are drawn as soon as looked up, and need no tables


class RecordColumns(AbstractColumns):
    """Sums of 0, 1, ..., most records, which the side says: they are drawn one by one.

    Attributes:
        data: the law of one.
        most: the largest number.
    """

    data: AbstractDistribution
    most: int = eqx.field(static=True)

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        seeds = words(0)[0]
        keys = jax.vmap(_key)(seeds)

        def add(turn: Array, total: Array) -> Array:
            one = lambda key: self.data.sample(jax.random.fold_in(key, turn), 1)[0]  # noqa: E731
            return total + jnp.where(turn < side, jax.vmap(one, out_axes=1)(keys), 0.0)

        return jax.lax.fori_loop(0, self.most, add, jnp.zeros((self.data.dimension, seeds.shape[0])))

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return self.sums(words, jnp.asarray(1), jnp.asarray(0))


def _key(seed: UInt64[Array, ""]) -> Array:
    parts = [part for k in (0, 1) for part in reversed(halves(splitmix64(seed, jnp.uint64(k))))]
    return jax.random.wrap_key_data(jnp.stack(parts), impl=COUNTER)


class KeptColumns(AbstractColumns):
    """Sums of a random number of rows, the same for all columns of a game: a sum for each of its digits.

    The number less `base` is written in mixed radix, its first digit below `first`, the others below 4. A sum of that many rows is that of
    base + (first digit) rows and, for each other digit above 0, of digit x first x 4^i rows, all independent.

    Attributes:
        kept: the number of kept rows besides the target.
        base: as above.
        few: the sums of base + (first digit) rows where they are drawn, or None where they are in the tables.
        tables: the sums of every other digit above 0, and before them those of base + (first digit) rows.
        first: as above.
        digits: how many there are.
    """

    kept: KeptRows
    base: Int[Array, ""]
    few: RecordColumns | None
    tables: AbstractColumns
    first: int = eqx.field(static=True)
    digits: int = eqx.field(static=True)

    @property
    def uses(self) -> int:
        return USES + self.digits

    @property
    def keeps(self) -> bool:
        return True

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        number = made(lambda: self._number(words, world), world)
        first = number & jnp.uint32(self.first - 1)
        total = (self.few or self.tables).sums(lambda _: words(USES), first, world)
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
            more = self.tables.sums(lambda _: words(USES + digit), table, world)
            return total + jnp.where(value > 0, more, 0.0)

        return jax.lax.fori_loop(1, self.digits, add, total)

    def _number(self, words: WordsOf, world: Array) -> UInt32[Array, " G"]:
        _, word = halves(words(0)[0])
        return (self.kept.draw(word, world) - self.base).astype(jnp.uint32)

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        return self.tables.record(lambda _: words(TARGET))


class KeptColumnSampler(ColumnSampler):
    """The same for a Poisson sample."""

    name: ClassVar[str] = "poisson columns"


def kept_column_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ColumnSampler | None:
    """The table sampler of the mean of a Poisson sample of independent coordinates, or None where there is none.

    Of the games and data of `column_sampler`, except Gaussian data, whose sums need no tables. Every look-up is off by what a table is, and a
    column sum by as much as all of its look-ups: at most ten for up to 10^6 records. Fewer than 128 records whose sum has no law of its own
    are drawn literally. Must be called inside `exact_scope`.
    """
    data = game.data
    if not isinstance(game, (FixedTarget, RandomTarget)) or not data.is_product or isinstance(data, Gaussian):
        return None
    mean = plain_release_of(game.mechanism, game.n)
    if mean is None or mean.rate == 1.0 or mean.inclusion < 1.0:
        return None
    if game.n < _FEW and not data.has_exact_sum:
        return None
    kept = kept_rows(game.n, mean.rate)
    columns = kept and (_lattice(data, kept) or _density(data, kept))
    if columns is None:
        return None
    return of_columns(KeptColumnSampler, game, attack, mean, columns)


def digits_of(least: int, most: int, first: int) -> list[list[int]]:
    """The numbers of rows that stand for each digit of a number in [least, most]: its sides, see `KeptColumns`.

    Examples:
        >>> digits_of(10, 40, 4)
        [[10, 11, 12, 13], [4, 8, 12], [16]]
    """
    stages, unit = [[least + k for k in range(min(first, most - least + 1))]], first
    while unit <= most - least:
        stages.append([unit * k for k in range(1, _RADIX) if unit * k <= most - least])
        unit *= _RADIX
    return stages


def _lattice(data: AbstractDistribution, kept: KeptRows) -> KeptColumns | None:
    if not isinstance(data, (Bernoulli, Discrete)):
        return None
    law = data.p if isinstance(data, Bernoulli) else data.probabilities
    laws, which = np.unique(law, axis=0, return_inverse=True)
    few = Bernoulli(laws) if isinstance(data, Bernoulli) else Discrete(data.values, laws)
    digits = digits_of(*kept.range, _FIRST[0])
    sides = list(chain(*digits))
    most = MOST_BYTES / len(sides)
    if isinstance(data, Bernoulli) and 4 * (len(laws) << least_bits(max(sides), data.p)) > most:
        return None  # seen at once; a million laws take minutes
    one, widest = lattice_table(few, 1), lattice_table(few, max(sides), most=most)
    if one is None or widest is None:
        return None
    tables, which = [_lattice_sum(few, rows, widest) for rows in sides], which.ravel()
    columns = LatticeColumns(
        entries=jnp.asarray(np.stack([table.entries for table in tables], axis=1).reshape(-1)),
        origin=jnp.asarray(np.stack([table.origin for table in tables], axis=1)[which]),
        ones=jnp.asarray(one.entries.reshape(-1)),
        one_origin=jnp.asarray(one.origin[which]),
        which=jnp.asarray(which),
        step=jnp.asarray(one.step),
        bits=widest.bits,
        one_bits=one.bits,
    )
    return KeptColumns(kept, jnp.asarray(digits[0][0]), None, columns, _FIRST[0], len(digits))


def _lattice_sum(data: AbstractDistribution, rows: int, widest: LatticeTable) -> LatticeTable:
    table = lattice_table(data, rows, widest.bits) if rows else None
    if table is not None:
        return table
    # No row at all: the sum is 0.
    masses = np.zeros_like(widest.entries, dtype=np.int64)
    masses[:, 0] = 2**32
    return replace(widest, entries=alias_entries(masses, widest.bits), origin=np.zeros_like(widest.origin))


def _density(data: AbstractDistribution, kept: KeptRows) -> KeptColumns | None:
    found = standard_forms(data)
    if found is None:
        return None
    for first in _FIRST:
        least, most = kept.range
        drawn = least < first  # fewer rows are drawn as they are: their densities have corners
        digits = digits_of(0 if drawn else least, most, first)
        sides = list(chain(*digits[drawn:]))
        if len(found[0]) * len(sides) > _MOST_TABLES:
            return None
        few = RecordColumns(data, len(digits[0]) - 1) if drawn else None
        columns = density_columns(data, found, sides) if sides else few
        if columns is not None:
            return KeptColumns(kept, jnp.asarray(0 if drawn else least), few, columns, first, len(digits))
    return None
