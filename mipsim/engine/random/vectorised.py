"""Float64 exponentials and normals of 64-bit words by arithmetic alone, which XLA vectorises: its own log and sin it does not."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from mipsim.engine.random.counter import series, uniform

_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2): a mantissa is taken from [sqrt(1/2), sqrt(2))
_ONE = 0x3FF0000000000000  # of 1.0
_WHOLE = 0x4330000000000000  # of 2^52: or-ed with a whole number below 2^52 it is 2^52 plus that
# (log(1 + f) - f + f^2 / 2) / f^3 in powers of f for 1 + f in [sqrt(1/2), sqrt(2)], to 5e-17 of the logarithm: least squares of degree 17
# with the weights of Lawson, in 50 digits. No quotient is taken: XLA computes one that is used twice in a kernel of its own, whose halves it
# hands to its own threads.
_LOG = (
    0.33333333333328513,
    -0.2500000000000624,
    0.2000000000165539,
    -0.16666666666748955,
    0.14285714093900764,
    -0.12499999813317852,
    0.11111121752010102,
    -0.10000018396144728,
    0.09090589193547859,
    -0.08332553666553334,
    0.07697636067170763,
    -0.0716018380657182,
    0.06622114933837743,
    -0.060419496670187485,
    0.05972034522628333,
    -0.067836718346229,
    0.06325645055220921,
    -0.02832985469418395,
)
# sin(pi t) / t in powers of t^2 for |t| <= 1/2, to 3e-19 of it, in the same way.
_SINE = (
    3.141592653589793,
    -5.167712780049969,
    2.550164039877294,
    -0.5992645293187383,
    0.08214588656989287,
    -0.007370430478763186,
    0.0004662996887721433,
    -2.190318541178818e-05,
    7.694727202422573e-07,
)


def _series(coefficients: tuple[float, ...], x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The polynomial of these coefficients, the constant first: even and odd powers apart, two chains that need not wait for each other."""
    return series(coefficients[::2], x * x) + x * series(coefficients[1::2], x * x)


def log(x: Float[Array, "..."]) -> Float[Array, "..."]:
    """The natural logarithm of positive normal float64 numbers, to 5e-16 of it.

    Must be traced inside `exact_scope`, as all of this module.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     print(log(jnp.array([0.5, 1.0, 10.0])))
        [-0.69314718  0.          2.30258509]
    """
    bits = jax.lax.bitcast_convert_type(x, jnp.uint64) + jnp.uint64(_ONE - _ROOT_HALF)
    whole = (bits >> jnp.uint64(52)) | jnp.uint64(_WHOLE)
    exponent = jax.lax.bitcast_convert_type(whole, jnp.float64) - (2.0**52 + 1023)
    mantissa = (bits & jnp.uint64(2**52 - 1)) + jnp.uint64(_ROOT_HALF)
    f = jax.lax.bitcast_convert_type(mantissa, jnp.float64) - 1.0
    square = f * f
    return exponent * math.log(2.0) + (f + square * (f * _series(_LOG, f) - 0.5))


def exponential(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """A standard exponential of the upper 52 bits of a word; the greatest is 36.7.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     print(round(float(exponential(jnp.uint64(2**63))), 6), round(float(exponential(jnp.uint64(0))), 1))
        0.693147 36.7
    """
    return -log(uniform(word))


def sine(word: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """The sine of a uniform angle: that of one in the right half of the circle has the same law.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     print([round(float(sine(jnp.uint64(quarter * 2**62))), 6) for quarter in range(4)])
        [-1.0, -0.707107, 0.0, 0.707107]
    """
    turn = uniform(word) - 0.5  # in units of pi
    return turn * _series(_SINE, turn * turn)


def normal(first: UInt64[Array, "..."], second: UInt64[Array, "..."]) -> Float[Array, "..."]:
    """A standard normal of two words by the method of Box and Muller; the greatest is 8.57.

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     zero = jnp.uint64(0)
        ...     print(round(float(normal(zero, zero)), 2))
        -8.57
    """
    return jnp.sqrt(2.0 * exponential(first)) * sine(second)
