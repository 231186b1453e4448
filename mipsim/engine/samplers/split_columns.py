"""Column sums of records with few values that are on no lattice: how many records take each value, one value after the other."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.binomial_table import MOST_BITS, alias_entries, binomial_table, draw, table_bits
from mipsim.distributions.discrete import Discrete
from mipsim.engine.random.apart import made
from mipsim.engine.random.counter import halves
from mipsim.engine.samplers.columns import (
    MOST_BYTES,
    TARGET,
    USES,
    AbstractColumns,
    ColumnSampler,
    WordsOf,
    of_columns,
)
from mipsim.engine.samplers.kept_columns import KeptColumnSampler
from mipsim.engine.samplers.kept_rows import KeptRows, kept_rows
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.release import plain_release_of

_RADIX = 4  # of the digits of a number of records: three tables each
_LOOK_UP = 4  # records that are drawn in the time of a look-up


class SplitColumns(AbstractColumns):
    """Sums of m records of which N_i take the value v_i: N_1 is Binomial(m, p_1), N_2 is Binomial(m - N_1, p_2 / (1 - p_1)), and so on.

    A binomial count of a random number of trials is that of digit x 4^j trials for each digit of that number to base 4, all independent.

    Attributes:
        values: v, shape (k,).
        entries: of an alias table for each value but the last, law, and digit above 0 at each place: shape (k - 1, laws, 3 places, C) flattened.
        low: the count of column 0, of the same shape without the columns, flattened.
        ones: an alias table of the values of a single record, shape (laws, C') flattened.
        which: the law of each coordinate, shape (d,).
        rows: how many records are added up, with the target's.
        kept: how many of them coins keep besides the target, or None where there are no coins.
        places: of the digits.
        bits, one_bits: log2 of C and C'.
    """

    values: Float[Array, " k"]
    entries: UInt32[Array, " entries"]
    low: UInt32[Array, " tables"]
    ones: UInt32[Array, " single"]
    which: UInt32[Array, " d"]
    rows: Int[Array, ""]
    kept: KeptRows | None
    places: int = eqx.field(static=True)
    bits: int = eqx.field(static=True)
    one_bits: int = eqx.field(static=True)

    @property
    def uses(self) -> int:
        return USES + (self.values.shape[0] - 1) * self.places

    @property
    def keeps(self) -> bool:
        return True

    def sums(self, words: WordsOf, side: Int[Array, "..."], world: Int[Array, ""]) -> Float[Array, "d G"]:
        if self.kept is not None:
            kept, word = self.kept, halves(words(0)[0])[1]
            number = made(lambda: kept.draw(word, world), world)
        else:
            number = self.rows - side
        shape = words(0).shape

        def split(value: Array, state: tuple[Array, Array]) -> tuple[Array, Array]:
            left, total = state
            count = made(lambda: self._count(value, left, words, world), world)
            return left - count, total + self.values[value] * count

        left = jnp.broadcast_to(jnp.asarray(number, jnp.uint32), shape)
        last = self.values.shape[0] - 1
        left, total = jax.lax.fori_loop(0, last, split, (left, jnp.zeros(shape)))
        return total + self.values[last] * left

    def _count(
        self, value: Array, number: UInt32[Array, "d G"], words: WordsOf, world: Array
    ) -> UInt32[Array, "d G"]:
        """How many of so many records, which have none of the values before, have this one."""
        laws = self.ones.shape[0] >> self.one_bits
        first = (value.astype(jnp.uint32) * jnp.uint32(laws) + self.which)[:, None] * jnp.uint32(
            (_RADIX - 1) * self.places
        )

        def add(place: Array, total: Array) -> Array:
            digit = (number >> (2 * place).astype(jnp.uint32)) & jnp.uint32(_RADIX - 1)
            table = first + (_RADIX - 1) * place.astype(jnp.uint32) + jnp.maximum(digit, 1) - 1
            word = self.once(lambda: halves(words(USES + value * self.places + place))[1], world)
            column = draw(self.entries, word, self.bits, table << jnp.uint32(self.bits))
            count = column + self.low.at[table].get(mode="promise_in_bounds")
            return total + jnp.where(digit > 0, count, jnp.uint32(0))

        return jax.lax.fori_loop(0, self.places, add, jnp.zeros_like(number))

    def record(self, words: WordsOf) -> Float[Array, "d G"]:
        word = halves(words(TARGET))[1]
        row = jnp.broadcast_to(self.which[:, None] << jnp.uint32(self.one_bits), word.shape)
        place = draw(self.ones, word, self.one_bits, row)
        return self.values.at[place].get(mode="promise_in_bounds")


class SplitColumnSampler(ColumnSampler):
    """The sampler of columns on such sums."""

    name: ClassVar[str] = "split columns"


def split_column_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> ColumnSampler | None:
    """The table sampler of the mean, whole or of a Poisson sample, of records with few values, or None where there is none.

    It applies to both games with `Discrete` data that no other sampler has tables of, a stack of independent noises and `Subsampled` or
    `PoissonSubsampled` over `EmpiricalMean`, and any attack, where look-ups are fewer than records. A look-up is off by 2e-10. Must be called
    inside `exact_scope`.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim._precision import exact_scope
        >>> data = mi.Discrete([0.0, 1.0, np.sqrt(2.0)], [0.5, 0.3, 0.2])
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=[1.0])
        >>> with exact_scope():
        ...     split_column_sampler(game, mi.ScalarProduct([0.0])).name
        'split columns'
    """
    if not isinstance(game, (FixedTarget, RandomTarget)) or not isinstance(game.data, Discrete):
        return None
    mean = plain_release_of(game.mechanism, game.n)
    if mean is None:
        return None
    if mean.rate == 1.0:
        columns = _split(game.data, mean.rows, None)
        return columns and of_columns(SplitColumnSampler, game, attack, mean, columns)
    kept = kept_rows(game.n, mean.rate) if mean.inclusion == 1.0 else None
    columns = kept and _split(game.data, game.n, kept)
    return columns and of_columns(KeptColumnSampler, game, attack, mean, columns)


def _split(data: Discrete, rows: int, kept: KeptRows | None) -> SplitColumns | None:
    most = rows if kept is None else kept.range[1]
    laws, which = np.unique(data.probabilities, axis=0, return_inverse=True)
    places = -(-most.bit_length() // 2)
    stages = data.values.size - 1
    if _LOOK_UP * stages * places > rows or most > 2**31:
        return None
    # Of the records that have none of the values before, the share that has this one.
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
        kept=kept,
        places=places,
        bits=bits,
        one_bits=max(1, stages.bit_length()),
    )


def _counts(trials: int, shares: np.ndarray, bits: int) -> tuple[np.ndarray, np.ndarray]:
    """Tables of Binomial(trials, share), and the counts of their first columns; a share may be 0 or 1."""
    flat = shares.ravel()
    table = binomial_table(trials, np.where((flat > 0) & (flat < 1), flat, 0.5), bits)
    entries, low, columns = table.entries.copy(), table.low.copy(), 1 << bits
    sure = (flat == 0) | (flat == 1)
    entries[sure] = _sure(columns)
    low[sure] = np.where(flat[sure] == 1, trials, 0)
    return entries.reshape(*shares.shape, columns), low.reshape(shares.shape)


def _sure(columns: int) -> np.ndarray:
    """An alias row of which only the first column is drawn."""
    masses = np.zeros((1, columns), np.int64)
    masses[0, 0] = 2**32
    return alias_entries(masses, columns.bit_length() - 1)[0]


def _single(laws: np.ndarray) -> np.ndarray:
    """Alias tables of the places of a single record's values, end to end."""
    bits = max(1, (laws.shape[1] - 1).bit_length())
    cdf = np.minimum(np.cumsum(laws, axis=1), 1.0)
    cdf[:, -1] = 1.0
    masses = np.zeros((len(laws), 1 << bits), np.int64)
    masses[:, : laws.shape[1]] = np.diff(np.rint(cdf * 2.0**32).astype(np.int64), axis=1, prepend=0)
    return alias_entries(masses, bits).reshape(-1)
