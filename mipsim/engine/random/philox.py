"""The counter-based random generator Philox4x32-10."""

import jax.numpy as jnp
from jaxtyping import Array, UInt32

# Multipliers, key increments and rounds of Philox4x32-10: Salmon et al. (2011).
_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_ROUNDS = 10

Word = UInt32[Array, "..."]


def philox(counter: tuple[Word, Word, Word, Word], key: tuple[Word, Word]) -> tuple[Word, Word, Word, Word]:
    """Four uniform 32-bit words for each 128-bit counter under a 64-bit key.

    A draw is a pure function of its counter, so that it depends on neither chunk nor device.
    Must be traced inside `exact_scope`: the products are 64 bits wide.

    Args:
        counter: four uint32 arrays of shapes that broadcast.
        key: two uint32 scalars.

    Source: Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".

    Examples:
        >>> from mipsim._precision import exact_scope
        >>> with exact_scope():
        ...     zero = jnp.zeros((), jnp.uint32)
        ...     print(*(f"{int(w):08x}" for w in philox((zero,) * 4, (zero,) * 2)))
        6627e8d5 e169c58d bc57ac4c 9b00dbd8
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for i in range(_ROUNDS):
        if i:
            k0, k1 = k0 + jnp.uint32(_W0), k1 + jnp.uint32(_W1)
        high0, low0 = _product(_M0, c0)
        high1, low1 = _product(_M1, c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return c0, c1, c2, c3


def _product(factor: int, word: Word) -> tuple[Word, Word]:
    """High and low halves of a 32 x 32 bit product."""
    wide = word.astype(jnp.uint64) * jnp.uint64(factor)
    return (wide >> jnp.uint64(32)).astype(jnp.uint32), wide.astype(jnp.uint32)
