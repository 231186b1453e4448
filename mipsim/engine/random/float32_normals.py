"""Float32 standard normals by the thousand million, for the coordinates of records."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, UInt64


def four_normals(first: UInt64[Array, "..."], second: UInt64[Array, "..."]) -> tuple[Array, ...]:
    """Four float32 standard normals of two 64-bit words, by the method of Box and Muller; the greatest is 6.7.

    The radius has 31 bits, so that the probability of a tail is off by up to 2^-32: enough for records of many
    coordinates. A number whose own tail matters takes `mipsim.engine.random.counter.normal_pair`.

    Must be traced inside `exact_scope`.
    """
    return (*_pair(first), *_pair(second))


def _pair(word: Array) -> tuple[Array, Array]:
    low, high = word.astype(jnp.uint32), (word >> jnp.uint64(32)).astype(jnp.uint32)
    uniform = ((low >> jnp.uint32(1)).astype(jnp.int32).astype(jnp.float32) + 0.5) * 2.0**-31
    radius = jnp.sqrt(-2.0 * jnp.log(uniform))
    # The lower 30 bits, as a signed number, are the angle within a quarter turn; the upper two pick the quarter: the first
    # mirrors the point in the diagonal, the second in the origin.
    signed = jax.lax.shift_right_arithmetic((high << jnp.uint32(2)).astype(jnp.int32), jnp.int32(2))
    angle = signed.astype(jnp.float32) * (0.5 * math.pi * 2.0**-30)
    square = angle * angle
    sine, cosine = angle * _series(1, square), _series(0, square)
    sign = high & jnp.uint32(0x80000000)
    bits = jax.lax.bitcast_convert_type(radius, jnp.uint32) | sign
    radius = jax.lax.bitcast_convert_type(bits, jnp.float32)
    swap = (high & jnp.uint32(0x40000000)) != 0
    return radius * jnp.where(swap, sine, cosine), radius * jnp.where(swap, cosine, sine)


def _series(first: int, square: Array) -> Array:
    """Five Taylor terms of the sine over its angle (first = 1) or of the cosine (0); within pi/4 to 3e-8."""
    total = jnp.zeros_like(square)
    for k in reversed(range(5)):
        total = total * square + (-1) ** k / math.factorial(2 * k + first)
    return total
