"""Clipped gradient steps as the engine reads them, and the arithmetic that their samplers share."""

from dataclasses import dataclass
from typing import TypeGuard

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, UInt64

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.engine.philox import philox
from mipsim.engine.words import long_word, normal_pair, uniform
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.noise import GaussianNoise
from mipsim.mechanisms.sgd_step import SGDStep
from mipsim.mechanisms.subsample import Subsampled

TARGET_ROW, NOISE_ROW, COIN_ROW = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
"""Rows that no batch has: they number the draws that are not records of it."""


@dataclass(frozen=True)
class NoisyStep:
    """A mechanism seen as: with probability `drawn` the target is among `rows` rows; these are clipped and averaged.

    Attributes:
        rows: how many rows are averaged.
        drawn: the probability that one given record is among them.
        clip: the largest norm of a row, > 0, or inf.
        variance: of all Gaussian noise in every output coordinate, a number or shape (d,).
    """

    rows: int
    drawn: float
    clip: float
    variance: np.ndarray


def as_noisy_step(mechanism: AbstractMechanism, n: int) -> NoisyStep | None:
    """Read a stack of `GaussianNoise` and `Subsampled` over `SGDStep`; None for anything else.

    Examples:
        >>> as_noisy_step(Subsampled(SGDStep(1.0, 10.0), 0.1), 1000)
        NoisyStep(rows=100, drawn=0.1, clip=1.0, variance=array(0.01))
    """
    rows, drawn, variance = n, 1.0, np.zeros(())
    while True:
        if type(mechanism) is GaussianNoise:
            variance = variance + np.asarray(mechanism.gamma, dtype=np.float64) ** 2 / rows
        elif type(mechanism) is Subsampled:
            kept = round(mechanism.rho * rows)
            rows, drawn = kept, drawn * (kept / rows)
        elif type(mechanism) is SGDStep:
            own = mechanism.noise_std(rows) ** 2
            return NoisyStep(rows, drawn, mechanism.clip, np.asarray(variance + own))
        else:
            return None
        mechanism = mechanism.base


def is_linear(attack: AbstractAttack) -> TypeGuard[AbstractLinearAttack]:
    """Whether the score really is link(weights . output): a subclass may have said otherwise.

    Examples:
        >>> import mipsim as mi
        >>> is_linear(mi.ScalarProduct([0.0])), is_linear(mi.FunctionAttack(lambda target, output: output[0]))
        (True, False)
    """
    return (
        isinstance(attack, AbstractLinearAttack)
        and type(attack).score is AbstractAdditiveAttack.score
        and type(attack).contributions is AbstractLinearAttack.contributions
    )


def words(use: Array | int, row: Array | int, games: Array, place: Array, key: Array) -> tuple[Array, ...]:
    """Four random 32-bit words for each (use, row, game); the arguments broadcast.

    Args:
        use: below 2^32; what a row's words are for.
        row: below 2^32; which record of the game, or one of the rows above.
        games: uint64, below 2^61: their upper half shares a word with the place.
        place: twice the stream plus the world.
        key: the seed as two uint32 words, the upper one first.

    Examples:
        >>> from mipsim.engine.precision import exact_scope
        >>> with exact_scope():
        ...     zero = jnp.zeros((), jnp.uint32)
        ...     print(f"{int(words(0, 0, zero.astype(jnp.uint64), zero, jnp.zeros(2, jnp.uint32))[0]):08x}")
        6627e8d5
    """
    low, high = games.astype(jnp.uint32), (games >> jnp.uint64(32)).astype(jnp.uint32)
    last = high | (place.astype(jnp.uint32) << jnp.uint32(30))
    return philox((jnp.asarray(use, jnp.uint32), jnp.asarray(row, jnp.uint32), low, last), (key[1], key[0]))


def starts(row: Array | int, games: Array, place: Array, key: Array) -> UInt64[Array, "..."]:
    """Where the SplitMix64 sequence of each record begins; the arguments are those of `words`."""
    high, low, *_ = words(0, row, games, place, key)
    return long_word(high, low)


def normals(
    use: Array | int, row: Array | int, games: Array, place: Array, key: Array
) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Two float64 normals for each (use, row, game); the arguments are those of `words`."""
    a, b, c, e = words(use, row, games, place, key)
    return normal_pair(long_word(a, b), long_word(c, e))


def is_in(drawn: Array, world: Array, games: Array, place: Array, key: Array) -> Bool[Array, "..."]:
    """Whether the target is among the rows: in the "in" world, with probability `drawn`."""
    high, low, *_ = words(0, COIN_ROW, games, place, key)
    return (world == 1) & (uniform(long_word(high, low)) < drawn)


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
