"""Samplers: how the scores of a block of games are sampled, whether the target is among their rows, and how many rows there are."""

from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32, UInt64

from mipsim.distributions.binomial_table import MOST_BITS, BinomialTable, binomial_table, draw, table_bits
from mipsim.engine.random.counter import GameDraws, halves, long_word, uniform, words_of

BLOCK = 16384
"""Games at once where a game is a draw or two: enough to spread the cost of a call, few enough for the cache."""

MOST_BYTES = 2**29
"""Of the tables of a sampler: half a GiB."""

_COIN = 0xFFFFFFFF  # the Philox words of a game that are its coin
_SUBSET = 0xFFFFFFFE  # those that say how many rows besides the target its coins include


class AbstractSampler(eqx.Module):
    """Draws the scores of games, each from a stream that only (seed, stream, world, game) decides.

    Attributes:
        block: G, the number of games sampled by a single call: a fixed function of the problem, so that an executable
            plays every run and floating-point sums never depend on the chunk.
        fidelity: "literal", "sufficient" or "projected".
        name: what a user sees: "literal" and "clipped" draw every record, "exact draw" an output from its exact distribution,
            "columns" an output from tables of its coordinates, "table" a sum of tabulated terms, "projected" the score
            itself. Fidelity and name are recorded in the manifest; with game and attack they tell the sampler.
        draws_outputs: whether it draws all d coordinates of an output without records, which decides the length of a pilot.
    """

    fidelity: ClassVar[str]
    name: ClassVar[str]
    draws_outputs: ClassVar[bool] = False
    block: int = eqx.field(static=True)

    @property
    def any_block(self) -> bool:
        """Whether scores have the same bits in a block of any size.

        Only where sums are of whole numbers: XLA compiles float64 arithmetic otherwise for another size, and its last bits with it.
        """
        return False

    @property
    def together(self) -> int:
        """How many games of a block are in memory at once."""
        return self.block

    @property
    def numbers(self) -> int:
        """About how many float64 numbers an accelerator holds for a single game."""
        return 1

    @abstractmethod
    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        """Scores (float64) of the games: shape (G,), or (G, columns) where each game has several."""

    def nan_outputs(self, seed: int, stream: int, games: range) -> int:
        """Play these games again, in both worlds, and count the outputs that hold NaN: is it the mechanism's fault that a score is NaN?

        0 where the score is sampled from its law, or the output from a law that has no NaN.
        """
        return 0


def block_games(numbers_per_game: int, budget: int, most: int) -> int:
    """The largest power of two G in [1, most] with G x numbers_per_game <= budget.
    >>> block_games(5_000, budget=2**20, most=1024), block_games(5_000_000, budget=2**20, most=1024)
    (128, 1)
    """
    fits = max(1, min(most, budget // max(1, numbers_per_game)))
    return 1 << (fits.bit_length() - 1)


def game_keys(draws: GameDraws) -> Array:
    """A typed key for each game; 64-bit game numbers enter as two words."""
    base = jax.random.fold_in(jax.random.wrap_key_data(draws.seed, impl="threefry2x32"), draws.place)
    low, high = halves(draws.games)
    return jax.vmap(lambda h, w: jax.random.fold_in(jax.random.fold_in(base, h), w))(high, low)


class Coin(eqx.Module):
    """Whether the target, if a member, is among the rows."""

    inclusion: Float[Array, ""]  # the probability that it is
    is_sure: bool = eqx.field(static=True)  # whether that is 1, so that no coin is thrown

    def __init__(self, inclusion: float) -> None:
        self.inclusion, self.is_sure = jnp.asarray(inclusion), inclusion == 1.0

    def side(self, draws: GameDraws) -> Int[Array, "..."]:
        """1 for games with the target among the rows: all of world 1, or those whose coin says so."""
        if self.is_sure:
            return draws.world  # pyright: ignore[reportReturnType]
        high, low, *_ = words_of(draws)(_COIN)
        return jnp.where(uniform(long_word(high, low)) < self.inclusion, draws.world, 0)


class RowCount(eqx.Module):
    """How many rows a Poisson sample includes besides the target: of n rows in the "out" world, of n - 1 in the other."""

    entries: UInt32[Array, "2 C"]  # of an alias table for each world, shape (2, C)
    low: Int[Array, "2"]  # the number of column 0, shape (2,)
    bits: int = eqx.field(static=True)  # log2 C

    def of_games(self, draws: GameDraws) -> Int[Array, " G"]:
        """The number of every game."""
        return self.draw(words_of(draws)(_SUBSET)[0], draws.world)

    def draw(self, word: UInt32[Array, " G"], world: Int[Array, ""]) -> Int[Array, " G"]:
        """Draws a number for each word."""
        return self.low[world] + draw(self.entries[world], word, self.bits, jnp.uint32(0)).astype(jnp.int64)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that can be sampled."""
        low = np.asarray(self.low)
        table = BinomialTable(np.asarray(self.entries), low, self.bits)
        last = self.entries.shape[1] - 1 - np.argmax(table.probabilities()[:, ::-1] > 0, axis=1)
        return int(low.min()), int((low + last).max())


def row_count(n: int, rate: float) -> RowCount | None:
    """How many of n rows are included, each with probability `rate`, to 2e-10; None where a table of it would be too wide.

    Must be called inside `exact_scope`.

    >>> from mipsim._precision import exact_scope
    >>> with exact_scope():
    ...     print(row_count(1000, 0.1).range)
    (45, 165)
    """
    p = np.array([rate])
    bits = table_bits(n, p)
    if bits > MOST_BITS:
        return None
    tables = [binomial_table(n - member, p, bits) for member in (0, 1)]
    return RowCount(
        entries=jnp.asarray(np.concatenate([t.entries for t in tables])),
        low=jnp.asarray(np.concatenate([t.low for t in tables])),
        bits=bits,
    )


def by_keys(draw: Callable[[PRNGKeyArray], Array], seeds: UInt64[Array, " G"]) -> Float[Array, "d G"]:
    """Draw a vector a game with JAX's own samplers, each from a key of the game's word."""
    low, high = halves(seeds)
    keys = jax.random.wrap_key_data(jnp.stack([high, low], axis=1), impl="threefry2x32")
    return jax.vmap(draw, out_axes=1)(keys)
