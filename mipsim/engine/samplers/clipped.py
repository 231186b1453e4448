"""The arithmetic that the samplers of clipped gradient steps share."""

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, UInt64

from mipsim.engine.random.counter import Draws, halves, long_word, normal_pair, uniform
from mipsim.engine.random.philox import philox

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


def normals(
    use: Array | int, row: Array | int, draws: Draws
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Two float64 normals for each (use, row, game); the arguments are those of `words`."""
    a, b, c, e = words(use, row, draws)
    return normal_pair(long_word(a, b), long_word(c, e))


def is_in(drawn: Array, draws: Draws) -> Bool[Array, "..."]:
    """Whether the target is among the rows: in the "in" world, with probability `drawn`."""
    high, low, *_ = words(0, COIN_ROW, draws)
    return (draws.world == 1) & (uniform(long_word(high, low)) < drawn)


def kept_share(norm: Array, clip: Array) -> Float[Array, "..."]:
    """min(1, clip / norm), also for a norm of 0 and a clip of inf.

    Examples:
        >>> print(kept_share(jnp.array([0.0, 1.0, 4.0]), jnp.array(2.0)))
        [1.  1.  0.5]
    """
    return jnp.where(norm > clip, clip / norm, 1.0)


def clipped(gradient: Float[Array, " d"], clip: Array) -> Float[Array, " d"]:
    """Gradient min(1, clip / ||gradient||).

    Examples:
        >>> print(clipped(jnp.array([3.0, 4.0]), jnp.array(2.5)))
        [1.5 2. ]
    """
    return gradient * kept_share(jnp.linalg.norm(gradient), clip)
