"""The fast kernel: one random word per coordinate picks its count, and small tables give its share of the score."""

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, UInt32, UInt64

from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.distributions.binomial_table import draw
from mipsim.engine.philox import philox
from mipsim.engine.sampler import AbstractSampler

WORDS = 4
"""Coordinates per group: one Philox counter gives four words."""

IMPOSSIBLE = -(2**31)
"""The table value that stands for a contribution of -inf."""

_COIN_AND_NOISE = 0xFFFFFFFF
"""The group number whose words are the sub-sampling coin and the noise."""


Words = tuple[Array, Array, Array, Array]
WordsOf = Callable[[Array], Words]


class TableSampler(AbstractSampler):
    """Draws the score of a mean of Bernoulli records from tables of counts and of contributions.

    A row of the tables holds one coordinate. Side 0 is the law of its column sum without the target, side 1 with it.
    The score is link(base + unit x sum of int32 values): integer sums do not depend on their order, wrap around modulo
    2^32 harmlessly, and are bit-identical on every device.

    Attributes:
        attack: whose `link` ends the score.
        target: z*, shape (d,).
        counts: alias entries, shape (rows, 2, C); rows is d rounded up to a multiple of 4.
        values: contributions in units of `unit`, int32, shape (rows, 2, C); `IMPOSSIBLE` is -inf.
        base, unit: float64 scalars.
        noise: standard deviation of the Gaussian noise in the score, float64 scalar.
        drawn: the probability that the target is among the rows of the release; 1 without sub-sampling.
        bits: log2 C.
        has_impossible, has_coin, has_noise: what the kernel need not compute.
    """

    name: ClassVar[str] = "table"
    attack: AbstractAdditiveAttack
    target: Float[Array, " d"]
    counts: UInt32[Array, "rows 2 C"]
    values: Int[Array, "rows 2 C"]
    base: Float[Array, ""]
    unit: Float[Array, ""]
    noise: Float[Array, ""]
    drawn: Float[Array, ""]
    bits: int = eqx.field(static=True)
    has_impossible: bool = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        words = _words_of(seed, stream, world, games)
        extra = words(jnp.uint32(_COIN_AND_NOISE)) if self.has_coin or self.has_noise else None
        side = jnp.full(games.shape, world, dtype=jnp.uint32)
        if self.has_coin and extra is not None:
            coin = extra[0].astype(jnp.float64) * 2.0**-32 + extra[1].astype(jnp.float64) * 2.0**-64
            side = jnp.where(coin < self.drawn, side, jnp.uint32(0))
        total, impossible = self._sum(words, world, side)
        score = self.base + self.unit * total.astype(jnp.float64)
        if self.has_noise and extra is not None:
            fresh = words(jnp.uint32(_COIN_AND_NOISE - 1))
            score = score + self.noise * _normal(fresh)
        if self.has_impossible:
            score = jnp.where(impossible, -jnp.inf, score)
        return jax.vmap(lambda s: self.attack.link(self.target, s))(score).astype(jnp.float64)

    def _sum(self, words: WordsOf, world: Array, side: Array) -> tuple[Int[Array, " G"], Bool[Array, " G"]]:
        """Sum the values over the coordinates, four a step; also say where one was impossible."""
        columns = 1 << self.bits
        counts, values = self.counts.reshape(-1), self.values.reshape(-1)
        # One game's coin may point at either side, so that both halves of a row are in reach; else only one is.
        width = 2 * columns if self.has_coin else columns
        offset = side << jnp.uint32(self.bits) if self.has_coin else jnp.uint32(0)
        skip = 0 if self.has_coin else world.astype(jnp.int64) * columns

        def step(group: Array, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
            total, impossible, packed = state
            for k, word in enumerate(_unpack(packed)):
                # Slicing the row first keeps the gathers within a kilobyte or two of cache.
                begin = (group * WORDS + k) * (2 * columns) + skip
                row = jax.lax.dynamic_slice(counts, (begin,), (width,))
                column = draw(row, word, self.bits, offset)
                value = (
                    jax.lax.dynamic_slice(values, (begin,), (width,))
                    .at[column + offset]
                    .get(mode="promise_in_bounds")
                )
                total = total + value
                if self.has_impossible:
                    impossible = impossible | (value == IMPOSSIBLE)
            return total, impossible, _pack(words((group + 1).astype(jnp.uint32)))

        # The words travel in the loop's state, one step ahead: XLA would otherwise compute them again in every
        # consumer (on CPU it drops `optimization_barrier` before it fuses).
        nothing = jnp.zeros(side.shape, jnp.int32), jnp.zeros(side.shape, bool)
        groups = self.counts.shape[0] // WORDS
        total, impossible, _ = jax.lax.fori_loop(0, groups, step, (*nothing, _pack(words(jnp.uint32(0)))))
        return total, impossible


def _words_of(seed: Array, stream: Array, world: Array, games: Array) -> WordsOf:
    """The function that gives the four words of every game for a group of coordinates."""
    low, high = games.astype(jnp.uint32), (games >> jnp.uint64(32)).astype(jnp.uint32)
    place = (2 * stream + world).astype(jnp.uint32)

    def words(group: Array) -> Words:
        return philox((jnp.broadcast_to(group, low.shape), low, high, place), (seed[1], seed[0]))

    return words


def _pack(words: Words) -> Array:
    """Put four words into one 128-bit number, so that one loop computes them all: one array, one fusion."""
    low, high = (
        jax.lax.bitcast_convert_type(
            a.astype(jnp.uint64) | (b.astype(jnp.uint64) << jnp.uint64(32)), jnp.float64
        )
        for a, b in (words[:2], words[2:])
    )
    return jax.lax.complex(low, high)


def _unpack(packed: Array) -> Words:
    low, high = (
        jax.lax.bitcast_convert_type(part, jnp.uint64) for part in (jnp.real(packed), jnp.imag(packed))
    )
    shift = jnp.uint64(32)
    return (
        low.astype(jnp.uint32),
        (low >> shift).astype(jnp.uint32),
        high.astype(jnp.uint32),
        (high >> shift).astype(jnp.uint32),
    )


def _normal(words: Words) -> Float[Array, " G"]:
    """One float64 standard normal from 106 bits (Box-Muller); its tail reaches 8.5."""

    def uniform(a: Array, b: Array) -> Array:
        wide = (a.astype(jnp.uint64) << jnp.uint64(21)) ^ (b.astype(jnp.uint64) >> jnp.uint64(11))
        return (wide.astype(jnp.float64) + 1.0) * 2.0**-53

    return jnp.sqrt(-2.0 * jnp.log(uniform(*words[:2]))) * jnp.cos(2.0 * jnp.pi * uniform(*words[2:]))
