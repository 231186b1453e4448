"""Float64 exponentials and normals of 64-bit words by arithmetic alone, which XLA vectorises: its own log and sin it does not.

Polynomials are as short as the law allows, not as float64 does: a distribution function is off by 2^-32 at the most, as that of a Bernoulli
record is, and sizes keep their relative precision down to 0. Tails have all of a word's bits.
"""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from mipsim.engine.random.counter import series, uniform
from mipsim.engine.random.fusion import fusion_barrier

_ONE = 0x3FF0000000000000  # the bits of 1.0
_WHOLE = 0x4330000000000000  # of 2^52: or-ed with a whole number below 2^52 it is 2^52 plus that
_TURNS = 0x9E3779B97F4A7C15  # 2^64 / golden ratio, odd
# -log(1 - g / 2) / g in powers of g for 0 <= g <= 1, to 5.6e-10 of it: least squares with the weights of Lawson, in 40 digits. No quotient is
# taken: XLA computes a quotient that is used twice in a kernel of its own, whose halves it hands to its own threads.
_LOG = (
    0.5000000002777197,
    0.12499993444335368,
    0.041669212389361096,
    0.015586677998389066,
    0.006543488407487788,
    0.0013072919884003446,
    0.004632485705185345,
    -0.005487643625470594,
    0.006478681365396235,
    -0.003662544082329446,
    0.001079595307137457,
)
# sin(pi t) / t in powers of t^2 for |t| <= 1/2, to 2.2e-11 of it, in the same way.
_SINE = (
    3.141592653523345,
    -5.167712762115934,
    2.5501632403260355,
    -0.5992513302209805,
    0.0820464794077261,
    -0.007022164508765722,
)


def _series(coefficients: tuple[float, ...], x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The polynomial of these coefficients, the constant first: even and odd powers apart, two chains that need not wait for each other."""
    return series(coefficients[::2], x * x) + x * series(coefficients[1::2], x * x)


def exponential(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """A standard exponential of the upper 52 bits of a word, to 5.6e-10 of it; the greatest is 36.7.

    The number is -log(u) of a uniform u = m 2^-(k + 1) with m in [1, 2), that is k log(2) - log(m / 2). Must be traced inside
    `exact_scope`, as all of this module.
    """
    bits = jax.lax.bitcast_convert_type(uniform(word), jnp.uint64)
    exponent = jax.lax.bitcast_convert_type((bits >> jnp.uint64(52)) | jnp.uint64(_WHOLE), jnp.float64)
    mantissa = jax.lax.bitcast_convert_type((bits & jnp.uint64(2**52 - 1)) | jnp.uint64(_ONE), jnp.float64)
    below = 2.0 - mantissa
    return ((2.0**52 + 1022) - exponent) * math.log(2.0) + below * _series(_LOG, below)


def sine(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """The sine of a uniform angle, to 2.2e-11 of it: that of an angle in the right half of the circle has the same law."""
    turn = uniform(word) - 0.5  # in units of pi
    return turn * _series(_SINE, turn * turn)


def normal(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """A standard normal of a word by the method of Box and Muller; the greatest is 8.57.

    Its radius is of the word i, its angle of i times 2^64 / golden ratio modulo 2^64. The 2^64 points (i, that) fill the square as evenly as
    any: every rectangle has its share of them to within 2^-54, so that the tails have their angles too. 2^-54 follows from the quotients of
    the continued fraction of the multiplier over 2^64, whose sum is 225. A generator's second word would cost three times as much.

    Source: Niederreiter (1992), "Random number generation and quasi-Monte Carlo methods", theorem 3.3 on points of this kind.
    """
    return jnp.sqrt(2.0 * fusion_barrier(exponential(word))) * sine(word * jnp.uint64(_TURNS))
