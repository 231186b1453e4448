"""Float64 exponentials and normals of 64-bit words by arithmetic alone, which XLA vectorises: its own log and sin it does not."""

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, UInt64

from mipsim.engine.random.counter import series, taylor, uniform

_ROOT_HALF = 0x3FE6A09E667F3BCD  # the bits of sqrt(1/2): a mantissa is taken from [sqrt(1/2), sqrt(2))
_ONE = 0x3FF0000000000000  # of 1.0
_WHOLE = 0x4330000000000000  # of 2^52: or-ed with a whole number below 2^52 it is 2^52 plus that
# 2 atanh(s) / s in powers of s^2, to 2^-58 for |s| <= 3 - 2 sqrt(2), as in FDLIBM's log (Sun Microsystems, 1993).
_ATANH = (
    2.0,
    0.6666666666666735130,
    0.3999999999940941908,
    0.2857142874366239149,
    0.2222219843214978396,
    0.1818357216161805012,
    0.1531383769920937332,
    0.1479819860511658591,
)
_SINE = taylor(1, 11)  # on half a turn, to 1e-18


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
    m = jax.lax.bitcast_convert_type(mantissa, jnp.float64)
    ratio = (m - 1.0) / (m + 1.0)
    return exponent * math.log(2.0) + ratio * series(_ATANH, ratio * ratio)


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
    return turn * series(_SINE, turn * turn)


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
