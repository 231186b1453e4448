"""Random words and numbers as pure functions of (seed, stream, world, game): no state, so no chunk can matter."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt32, UInt64

from mipsim.engine.random.philox import philox
from mipsim.engine.random.splitmix import splitmix64

Words = tuple[Array, Array, Array, Array]

_NORMALS = 0xFFFFFFFC  # counter word of the SplitMix64 sequence of normals


class GameDraws(NamedTuple):
    """Which games of which run are sampled: all that their random numbers depend on."""

    seed: UInt32[Array, "2"]  # of the run, as two words, the upper first
    stream: Int[Array, ""]  # which of the run's streams: its games, its pilot
    world: Int[Array, ""]  # 0 ("out") or 1 ("in")
    games: UInt64[Array, "..."]  # their numbers, shape (G,) or ()

    @property
    def place(self) -> Int[Array, ""]:
        """Stream and world as a single number."""
        return 2 * self.stream + self.world


def run_draws(seed: int, stream: int, world: int = 0) -> GameDraws:
    """The draws of a run, of no game yet: `_replace` its world and games. Must be called inside `exact_scope`.
    `seed`: in [0, 2^64); `stream`: which of the run's streams; `world`: 0 ("out") or 1 ("in").
    """
    words = np.array([seed >> 32, seed & 0xFFFFFFFF], dtype=np.uint32)
    # Put there, not made there by `jnp.asarray`, which compiles something for every shape.
    return GameDraws(*jax.device_put((words, np.int64(stream), np.int64(world), np.zeros(0, np.uint64))))


def words_of(draws: GameDraws) -> Callable[[Array | int], Words]:
    """The function that gives four uniform words of every game for a use, a number in [0, 2^32).

    Must be traced inside `exact_scope`.
    """
    low, high = halves(draws.games)
    place = draws.place.astype(jnp.uint32)

    def words(use: Array | int) -> Words:
        counter = jnp.broadcast_to(jnp.asarray(use, jnp.uint32), low.shape)
        return philox((counter, low, high, place), (draws.seed[1], draws.seed[0]))

    return words


def halves(word: UInt64[Array, "..."]) -> tuple[UInt32[Array, "..."], UInt32[Array, "..."]]:
    """The lower and the upper half of 64-bit words."""
    return word.astype(jnp.uint32), (word >> jnp.uint64(32)).astype(jnp.uint32)


def long_word(high: UInt32[Array, "..."], low: UInt32[Array, "..."]) -> UInt64[Array, "..."]:
    """A 64-bit word of two."""
    return (high.astype(jnp.uint64) << jnp.uint64(32)) | low.astype(jnp.uint64)


def uniform(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """A number in (0, 1): the middle of any of 2^52 equal cells, from the word's upper bits.

    The bits become the mantissa of a float64 in [1, 2): four times as fast as a conversion on a CPU.
    """
    mantissa = (word >> jnp.uint64(12)) | jnp.uint64(0x3FF0000000000000)
    return jax.lax.bitcast_convert_type(mantissa, jnp.float64) - (1.0 - 2.0**-53)


def normals(draws: GameDraws) -> Float[Array, " G"]:
    """A float64 standard normal for each game; the greatest is 8.57. Method of Box and Muller, exact to 1e-15.

    Game k and game k + G/2 of a block share a pair of normals, so that `games` must be a whole block: G consecutive
    numbers, G even, the first a multiple of G.
    """
    # Mixed twice, so that neither neighbouring seeds nor neighbouring streams start at related places. Philox would
    # do as well, but XLA computes a scalar start again for every game.
    own = splitmix64(long_word(draws.seed[0], draws.seed[1]), jnp.uint64(_NORMALS))
    start = splitmix64(own, draws.place.astype(jnp.uint64))
    half = draws.games.shape[0] // 2
    word = draws.games[0] + jnp.arange(0, 2 * half, 2, dtype=jnp.uint64)
    return jnp.concatenate(normal_pair(splitmix64(start, word), splitmix64(start, word + jnp.uint64(1))))


def normal_pair(first: UInt64[Array, "..."], second: UInt64[Array, "..."]) -> tuple[Array, Array]:
    """Two independent float64 normals of two 64-bit words."""
    radius = jnp.sqrt(-2.0 * jnp.log(uniform(first)))
    quarter = (second >> jnp.uint64(62)).astype(jnp.int32)
    turn = (uniform(second << jnp.uint64(2)) - 0.5) * 0.5  # of the angle, in units of pi, within +-1/4
    square = turn * turn
    sine, cosine = turn * series(_SINE, square), series(_COSINE, square)
    swap = (quarter & 1) == 1
    radius = jnp.where((quarter & 2) == 2, -radius, radius)
    return radius * jnp.where(swap, sine, cosine), radius * jnp.where(swap, cosine, sine)


def chi_square(words: Callable[[Array | int], Words], degrees: int, games: int) -> Float[Array, " G"]:
    """A chi-square draw of `degrees` >= 0 for each game, by the squeeze of Marsaglia and Tsang.

    Attempt k of a game has words of its own (uses 2k and 2k + 1), so that it does not matter which games share a block.

    Source: Marsaglia & Tsang (2000), "A simple method for generating gamma variables".
    """
    if degrees == 0:
        return jnp.zeros(games)
    if degrees == 1:
        a, b, c, e = words(0)
        return normal_pair(long_word(a, b), long_word(c, e))[0] ** 2
    shape = degrees / 2 - 1 / 3

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        value, done, k = state
        a, b, c, e = words(2 * k)
        normal, _ = normal_pair(long_word(a, b), long_word(c, e))
        high, low, *_ = words(2 * k + 1)
        cube = (1.0 + normal / jnp.sqrt(9.0 * shape)) ** 3
        possible = cube > 0
        retained = jnp.where(possible, cube, 1.0)
        level = 0.5 * normal**2 + shape * (1.0 - retained + jnp.log(retained))
        accepted = possible & (jnp.log(uniform(long_word(high, low))) < level)
        return jnp.where(~done & accepted, 2.0 * shape * cube, value), done | accepted, k + 1

    nothing = jnp.zeros(games), jnp.zeros(games, bool), jnp.zeros((), jnp.uint32)
    return jax.lax.while_loop(lambda state: ~state[1].all(), attempt, nothing)[0]


def series(coefficients: tuple[float, ...], square: Float[Array, "..."]) -> Float[Array, "..."]:
    """The polynomial of these coefficients, the constant first, by Horner's rule."""
    total = jnp.full_like(square, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        total = total * square + coefficient
    return total


def taylor(first: int, terms: int) -> tuple[float, ...]:
    """(-1)^k pi^(2k + first) / (2k + first)!, for k = 0, ..., terms - 1: the sine (first = 1) or cosine (0) of pi times x.
    >>> [round(c, 4) for c in taylor(1, 3)]
    [3.1416, -5.1677, 2.5502]
    """
    return tuple((-1) ** k * math.pi ** (2 * k + first) / math.factorial(2 * k + first) for k in range(terms))


_SINE, _COSINE = taylor(1, 8), taylor(0, 9)  # terms enough for float64 on an eighth of a turn
