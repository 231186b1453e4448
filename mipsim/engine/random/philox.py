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

    `counter`: four uint32 arrays of shapes that broadcast; `key`: two uint32 scalars.

    Source: Salmon, Moraes, Dror & Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3".
    """
    # A word is the lower half of 64 bits from the first round to the last: with AVX2, halves that are put together and taken apart again for
    # each product cost more than the products.
    c0, c1, c2, c3 = (jnp.asarray(word).astype(jnp.uint64) for word in counter)
    k0, k1 = key
    for i in range(_ROUNDS):
        if i:
            k0, k1 = k0 + jnp.uint32(_W0), k1 + jnp.uint32(_W1)
        wide0, wide1 = _product(_M0, c0), _product(_M1, c2)
        c0, c1 = (wide1 >> jnp.uint64(32)) ^ c1 ^ k0.astype(jnp.uint64), wide1
        c2, c3 = (wide0 >> jnp.uint64(32)) ^ c3 ^ k1.astype(jnp.uint64), wide0
    return tuple(word.astype(jnp.uint32) for word in (c0, c1, c2, c3))  # pyright: ignore[reportReturnType]


def _product(factor: int, word: Array) -> Array:
    """The 64 bits of a product with the lower half of a word, whose upper half may hold anything."""
    return (word & jnp.uint64(0xFFFFFFFF)) * jnp.uint64(factor)
