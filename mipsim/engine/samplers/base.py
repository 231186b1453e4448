"""Samplers: how the scores of a block of games are drawn."""

from abc import abstractmethod
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAttack
from mipsim.engine.random.counter import Draws, halves
from mipsim.games.base import AbstractGame, lawful_round


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
    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Scores (float64) of the games: shape (G,), or (G, columns) where each game has several."""


def block_games(numbers_per_game: int, budget: int, most: int) -> int:
    """The largest power of two G in [1, most] with G x numbers_per_game <= budget.

    Examples:
        >>> block_games(5_000, budget=2**20, most=1024), block_games(5_000_000, budget=2**20, most=1024)
        (128, 1)
    """
    fits = max(1, min(most, budget // max(1, numbers_per_game)))
    return 1 << (fits.bit_length() - 1)


def game_keys(draws: Draws) -> Array:
    """One typed key for each game; 64-bit game numbers enter as two words."""
    base = jax.random.fold_in(jax.random.wrap_key_data(draws.seed, impl="threefry2x32"), draws.place)
    low, high = halves(draws.games)
    return jax.vmap(lambda h, w: jax.random.fold_in(jax.random.fold_in(base, h), w))(high, low)


class LiteralSampler(AbstractSampler):
    """Plays every game with its n records: the meaning of the game, against which the others are tested."""

    fidelity: ClassVar[str] = "literal"
    name: ClassVar[str] = "literal"
    game: AbstractGame
    attack: AbstractAttack
    block: int = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Play and score the games."""
        member = draws.world == 1
        return jax.vmap(lambda key: _as_float64(self.attack.score(*self.game.play(key, member))))(
            game_keys(draws)
        )


class LawSampler(AbstractSampler):
    """Draws every output from its exact law, without its records."""

    fidelity: ClassVar[str] = "sufficient"
    name: ClassVar[str] = "law"
    game: AbstractGame
    attack: AbstractAttack
    block: int = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        """Draw and score the outputs."""
        play, member = lawful_round(self.game), draws.world == 1
        assert play is not None  # the builder has seen to it
        return jax.vmap(lambda key: _as_float64(self.attack.score(*play(key, member))))(game_keys(draws))


def _as_float64(score: Array) -> Float[Array, ""]:
    return jnp.asarray(score).astype(jnp.float64)
