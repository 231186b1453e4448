"""Standard normals from random words, by the method of Box and Muller with polynomial sine and cosine."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt32

Words = tuple[UInt32[Array, "..."], UInt32[Array, "..."], UInt32[Array, "..."], UInt32[Array, "..."]]


def four_normals(words: Words) -> tuple[Float[Array, "..."], ...]:
    """Four float32 standard normals from four words; the greatest is 6.7.

    For records of many coordinates: the radius has 31 bits, so that probabilities near the ends are off by some 2^-32.
    A draw whose own tail matters takes `normal_pair`.

    Examples:
        >>> import numpy as np
        >>> words = tuple(jnp.asarray(np.random.default_rng(0).integers(0, 2**32, (4, 10_000), np.uint32)))
        >>> round(float(jnp.std(jnp.stack(four_normals(words)))), 1)
        1.0
    """
    return (*_short_pair(*words[:2]), *_short_pair(*words[2:]))


def normal_pair(words: Words) -> tuple[Float[Array, "..."], Float[Array, "..."]]:
    """Two float64 standard normals from four words, 53 bits for each; the greatest is 8.6.

    Must be traced inside `exact_scope`.

    Examples:
        >>> from mipsim.engine.precision import exact_scope
        >>> with exact_scope():
        ...     word = jnp.zeros((), jnp.uint32)
        ...     print(*(round(float(z), 6) for z in normal_pair((word,) * 4)))
        6.118002 -6.118002
    """
    radius = jnp.sqrt(-2.0 * jnp.log((_wide(*words[:2]) + 0.5) * 2.0**-53))
    quarter = words[2] >> jnp.uint32(30)
    rest = _wide(*words[2:], skip=2)
    sine, cosine = _sine_cosine((rest * 2.0**-53 - 0.5) * (0.5 * math.pi), terms=9)
    first, second = _turned(sine, cosine, quarter)
    return radius * first, radius * second


def _short_pair(first: Array, second: Array) -> tuple[Array, Array]:
    uniform = ((first >> jnp.uint32(1)).astype(jnp.int32).astype(jnp.float32) + 0.5) * 2.0**-31
    radius = jnp.sqrt(-2.0 * jnp.log(uniform))
    # The upper two bits pick the quarter turn; the other 30, read as a signed number, the angle within it.
    signed = jax.lax.shift_right_arithmetic((second << jnp.uint32(2)).astype(jnp.int32), jnp.int32(2))
    angle = signed.astype(jnp.float32) * (0.5 * math.pi * 2.0**-30)
    one, other = _turned(*_sine_cosine(angle, terms=5), second >> jnp.uint32(30))
    return radius * one, radius * other


def _wide(high: Array, low: Array, skip: int = 0) -> Float[Array, "..."]:
    """A whole number below 2^53 as float64, from 53 of 64 bits; the first `skip` bits are left out."""
    bits = (high.astype(jnp.uint64) << jnp.uint64(32)) | low.astype(jnp.uint64)
    return ((bits << jnp.uint64(skip)) >> jnp.uint64(11)).astype(jnp.float64)


def _sine_cosine(angle: Array, terms: int) -> tuple[Array, Array]:
    """Taylor polynomials for |angle| <= pi/4: 5 terms of the sine give 2e-9, 9 terms 1e-17; the cosine has one more."""
    square = angle * angle
    sine = cosine = jnp.zeros_like(angle)
    for k in reversed(range(terms)):
        sine = sine * square + (-1) ** k / math.factorial(2 * k + 1)
    for k in reversed(range(terms + 1)):
        cosine = cosine * square + (-1) ** k / math.factorial(2 * k)
    return sine * angle, cosine


def _turned(sine: Array, cosine: Array, quarter: Array) -> tuple[Array, Array]:
    """The point (cosine, sine) mirrored into one of four quarters of the circle."""
    swap, flip = (quarter & jnp.uint32(1)) != 0, (quarter & jnp.uint32(2)) != 0
    first, second = jnp.where(swap, sine, cosine), jnp.where(swap, cosine, sine)
    return jnp.where(flip, -first, first), jnp.where(flip, -second, second)
