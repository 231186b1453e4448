"""The counter-based random generator SplitMix64: two 32-bit words for two multiplications."""

import jax.numpy as jnp
from jaxtyping import Array, UInt64

_GOLDEN = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, odd: Steele, Lea and Flood (2014)


def splitmix64(
    start: UInt64[Array, "..."], index: UInt64[Array, "..."], crossed: UInt64[Array, "..."] | None = None
) -> UInt64[Array, "..."]:
    """Draw number `index` (from 0) of the sequence that begins at `start`: 64 uniform bits.

    A draw is a pure function of start and index: no state is carried, and any word can be had at any time.
    Sequences whose starts are themselves random 64-bit words are segments of a single cycle of length 2^64. Among N
    segments of L draws about N^2 L / 2^64 pairs overlap: for 1e9 games of 2,500 draws some hundred pairs of games,
    which then share words at other coordinates; far too few for any count to show. Where every counter is crossed with
    (exclusive or) a second random word, not even those do.

    Must be traced inside `exact_scope`: the words are 64 bits wide.

    Source: Steele, Lea & Flood (2014), "Fast splittable pseudorandom number generators", with Stafford's variant 13.
    """
    word = skipped(start, index + jnp.uint64(1))
    word = word if crossed is None else word ^ crossed
    word = (word ^ (word >> jnp.uint64(30))) * jnp.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> jnp.uint64(27))) * jnp.uint64(0x94D049BB133111EB)
    return word ^ (word >> jnp.uint64(31))


def skipped(start: UInt64[Array, "..."], count: UInt64[Array, "..."]) -> UInt64[Array, "..."]:
    """Where the sequence that is left after `count` draws begins: its draw i is draw count + i of the first."""
    return start + count * jnp.uint64(_GOLDEN)
