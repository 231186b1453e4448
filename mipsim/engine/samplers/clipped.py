"""What the samplers of clipped gradient steps share: their words, their arithmetic, and the end of a linear score."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, UInt64

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.engine.random.counter import Draws, halves, long_word, normal_pair, uniform
from mipsim.engine.random.philox import philox
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.release import step_of

TARGET_ROW, NOISE_ROW, COIN_ROW = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
"""Rows that no batch has: they number the draws that are not records of it."""


def words(use: Array | int, row: Array | int, draws: Draws) -> tuple[Array, ...]:
    """Four random 32-bit words for each (use, row, game); the arguments broadcast with the games.

    Args:
        use: below 2^32; what a row's words are for.
        row: below 2^32; which record of the game, or one of the rows above.
        draws: the games, below 2^61: their upper half shares a word with the place.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     seed, zero = jnp.zeros(2, jnp.uint32), jnp.zeros((), jnp.int64)
        ...     print(f"{int(words(0, 0, Draws(seed, zero, zero, zero.astype(jnp.uint64)))[0]):08x}")
        6627e8d5
    """
    low, high = halves(draws.games)
    last = high | (draws.place.astype(jnp.uint32) << jnp.uint32(30))
    key = draws.seed[1], draws.seed[0]
    return philox((jnp.asarray(use, jnp.uint32), jnp.asarray(row, jnp.uint32), low, last), key)


def starts(row: Array | int, draws: Draws) -> UInt64[Array, "..."]:
    """Where the SplitMix64 sequence of each record begins; the arguments are those of `words`."""
    high, low, *_ = words(0, row, draws)
    return long_word(high, low)


def row_normals(use: Array | int, row: Array | int, draws: Draws) -> tuple[Array, Array]:
    """Two float64 normals for each (use, row, game); the arguments are those of `words`."""
    a, b, c, e = words(use, row, draws)
    return normal_pair(long_word(a, b), long_word(c, e))


def is_in(inclusion: Array, draws: Draws) -> Bool[Array, "..."]:
    """Whether the target is among the rows: in the "in" world, with probability `inclusion`."""
    high, low, *_ = words(0, COIN_ROW, draws)
    return (draws.world == 1) & (uniform(long_word(high, low)) < inclusion)


def clip_factor(norm: Array, clip: Array) -> Float[Array, "..."]:
    """min(1, clip / norm), also for a norm of 0 and a clip of inf.

    Examples:
        >>> print(clip_factor(jnp.array([0.0, 1.0, 4.0]), jnp.array(2.0)))
        [1.  1.  0.5]
    """
    return jnp.where(norm > clip, clip / norm, 1.0)


def clipped(gradient: Float[Array, " d"], clip: Array) -> Float[Array, " d"]:
    """Gradient min(1, clip / ||gradient||).

    Examples:
        >>> print(clipped(jnp.array([3.0, 4.0]), jnp.array(2.5)))
        [1.5 2. ]
    """
    return gradient * clip_factor(jnp.linalg.norm(gradient), clip)


class AbstractStep(AbstractSampler):
    """The score of a clipped step.

    Attributes:
        clip, inclusion: as in `Release`.
        variance: of the noise, in every output coordinate, shape (d,).
        rows: how many rows are averaged.
    """

    clip: Float[Array, ""]
    variance: Float[Array, " d"]
    inclusion: Float[Array, ""]
    rows: int | Int[Array, ""]


class AbstractLinearStep(AbstractStep):
    """The same under a linear attack, for a fixed target.

    Attributes:
        attack: its score is link(weights . output).
        target: z*, shape (d,).
    """

    attack: AbstractLinearAttack
    target: Float[Array, " d"]

    def finished(self, weights: Array, others: Array, inside: Array, draws: Draws) -> Float[Array, " G"]:
        """The scores, from the sum of weights . clipped record over the records besides the target."""
        own = jnp.where(inside, jnp.dot(weights, clipped(self.target, self.clip)), 0.0)
        noise, _ = row_normals(0, NOISE_ROW, draws)
        score = (others + own) / self.rows
        score = score + noise * jnp.sqrt(jnp.sum(weights**2 * self.variance))
        return jax.vmap(lambda s: self.attack.link(self.target, s))(score).astype(jnp.float64)


def linear_step(game: AbstractMembershipGame, attack: AbstractAttack) -> dict[str, Any] | None:
    """The fields of an `AbstractLinearStep` of this game, without its block; None where it is no such game."""
    linear = isinstance(game, FixedTarget) and isinstance(attack, AbstractLinearAttack)
    return any_step(game, attack) if linear else None


def any_step(game: AbstractMembershipGame, attack: AbstractAttack) -> dict[str, Any] | None:
    """The fields of an `AbstractStep`, without its block (a random target is None); None where the game is no clipped step."""
    step = step_of(game.mechanism, game.n)
    if step is None or not isinstance(game, (FixedTarget, RandomTarget)):
        return None
    return {
        "attack": attack,
        "target": jnp.asarray(game.target) if isinstance(game, FixedTarget) else None,
        "clip": jnp.asarray(step.clip),
        "variance": jnp.asarray(np.broadcast_to(step.variance, (game.data.dimension,))),
        "inclusion": jnp.asarray(step.inclusion),
        "rows": step.rows,
    }
