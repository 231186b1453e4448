"""Samplers: how the scores of a block of games are drawn."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAttack
from mipsim.games.base import AbstractGame


class AbstractSampler(eqx.Module):
    """Draws the scores of games, each from a stream that only (seed, stream, world, game) decides.

    Attributes:
        block: G, the number of games drawn by one call: a fixed function of the problem, so that one executable
            plays every run and floating-point sums never depend on the chunk.
        fidelity: "literal", "sufficient" or "projected".
        name: which sampler of that fidelity; both are recorded in the manifest.
    """

    fidelity: ClassVar[str]
    name: ClassVar[str]
    block: eqx.AbstractVar[int]

    @abstractmethod
    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Scores (float64) of the numbered games of world 0 ("out") or 1 ("in")."""


def block_games(numbers_per_game: int, budget: int, most: int) -> int:
    """The largest power of two G in [1, most] with G x numbers_per_game <= budget.

    Examples:
        >>> block_games(5_000, budget=2**20, most=1024), block_games(5_000_000, budget=2**20, most=1024)
        (128, 1)
    """
    fits = max(1, min(most, budget // max(1, numbers_per_game)))
    return 1 << (fits.bit_length() - 1)


def game_keys(seed: Array, stream: Array, world: Array, games: Array) -> Array:
    """One typed key for each game; 64-bit game numbers enter as two words."""
    base = jax.random.fold_in(jax.random.wrap_key_data(seed, impl="threefry2x32"), 2 * stream + world)
    high, low = (games >> jnp.uint64(32)).astype(jnp.uint32), games.astype(jnp.uint32)
    return jax.vmap(lambda h, w: jax.random.fold_in(jax.random.fold_in(base, h), w))(high, low)


class LiteralSampler(AbstractSampler):
    """Plays every game with its n records: the meaning of the game, against which the others are tested."""

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "literal"
    game: AbstractGame
    attack: AbstractAttack
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Play and score the games."""
        member = world == 1
        return jax.vmap(lambda key: _as_float64(self.attack.score(*self.game.play(key, member))))(
            game_keys(seed, stream, world, games)
        )


class LawSampler(AbstractSampler):
    """Draws every output from its exact law, without its records."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "law"
    game: AbstractGame
    attack: AbstractAttack
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw and score the outputs."""
        member = world == 1
        return jax.vmap(lambda key: _as_float64(self.attack.score(*self.game.play_from_law(key, member))))(
            game_keys(seed, stream, world, games)
        )


def _as_float64(score: Array) -> Float[Array, ""]:
    return jnp.asarray(score).astype(jnp.float64)
