"""Keys for JAX's samplers whose words are SplitMix64's: a fifth of Threefry's instructions, compiled in a fifth of the time."""

import math

import jax
import jax.numpy as jnp
from jax.extend.random import define_prng_impl
from jaxtyping import Array, Bool, UInt32, UInt64

from mipsim._samplers import register_samplers
from mipsim.engine.random.counter import GameDraws, halves, long_word
from mipsim.engine.random.fusion import fusion_barrier
from mipsim.engine.random.splitmix import skipped, splitmix64
from mipsim.engine.random.vectorised import exponential, normal, sine

_CHILDREN = 0xD1B54A32D192ED03  # moves the start, so that no key of a key is made of the words that it draws


def _words(key: UInt32[Array, "4"], index: UInt64[Array, "..."]) -> UInt64[Array, "..."]:
    """Word number `index` of a key: that of SplitMix64 at its first half, its counter crossed with its second half.

    The second half keeps the sequences of two keys apart whose first halves lie on the same stretch of the cycle of 2^64.
    """
    return splitmix64(long_word(key[0], key[1]), index, long_word(key[2], key[3]))


def _key(index: UInt64[Array, "..."], parent: UInt32[Array, "4"]) -> UInt32[Array, "... 4"]:
    moved = parent ^ jnp.asarray([_CHILDREN >> 32, _CHILDREN & 0xFFFFFFFF, 0, 0], jnp.uint32)
    pair = [_words(moved, jnp.uint64(2) * index + jnp.uint64(half)) for half in (0, 1)]
    parts = [part for word in pair for part in reversed(halves(word))]
    return jnp.stack(parts, axis=-1)


def _seed(seed: Array) -> UInt32[Array, "4"]:
    return _key(jnp.asarray(seed).astype(jnp.uint64), jnp.zeros(4, jnp.uint32))


def _split(key: UInt32[Array, "4"], shape: tuple[int, ...]) -> UInt32[Array, "... 4"]:
    return _key(jnp.arange(math.prod(shape), dtype=jnp.uint64), key).reshape(*shape, 4)


def _fold_in(key: UInt32[Array, "4"], data: Array | int) -> UInt32[Array, "4"]:
    # After the keys of any split.
    return _key(jnp.asarray(data).astype(jnp.uint64) + jnp.uint64(2**62), key)


def _random_bits(key: UInt32[Array, "4"], bit_width: int, shape: tuple[int, ...]) -> Array:
    """Numbers of 8 to 64 bits, each the upper bits of a word of its own: no word is moved, so that XLA fuses them with their use."""
    return _bits_from(key, jnp.uint64(0), bit_width, shape)


def _bits_from(
    key: UInt32[Array, "4"], first: UInt64[Array, ""], bit_width: int, shape: tuple[int, ...]
) -> Array:
    # Axis by axis from the key on: counters made by themselves are the same for every game, and XLA would keep a table of
    # them, as large as the records, and read it.
    start = skipped(long_word(key[0], key[1]), first)
    for axis, size in enumerate(shape):
        stride = jnp.uint64(math.prod(shape[axis + 1 :]))
        start = skipped(start[..., None], jnp.arange(size, dtype=jnp.uint64) * stride)
    word = splitmix64(start, jnp.uint64(0), long_word(key[2], key[3]))
    return (word >> jnp.uint64(64 - bit_width)).astype(jnp.dtype(f"uint{bit_width}"))


COUNTER = define_prng_impl(
    key_shape=(4,),
    seed=_seed,
    split=_split,
    random_bits=_random_bits,
    fold_in=_fold_in,
    name="mipsim",
    tag="mips",
)
"""The generator, for `jax.random`. Its keys must be used inside `exact_scope`: the words are 64 bits wide."""


def later_bits(key: Array, first: Array, bit_width: int, shape: tuple[int, ...]) -> Array:
    """Those bits of a key of `KEYS` that follow its first numbers: a part of what `jax.random.bits` gives for a larger shape.
    `first`: how many numbers to leave out, uint64; `bit_width`: 8 to 64.

    >>> from mipsim._precision import exact_scope
    >>> with exact_scope():
    ...     key = jax.random.key(7, impl=COUNTER)
    ...     rows = jax.random.bits(key, (5, 3), jnp.uint64)
    ...     print((later_bits(key, jnp.uint64(2 * 3), 64, (3, 3)) == rows[2:]).all())
    True
    """
    return _bits_from(jax.random.key_data(key), first, bit_width, shape)


def _bits(key: Array, shape: tuple[int, ...]) -> UInt64[Array, "..."]:
    return jax.random.bits(key, shape, jnp.uint64)


def _words_apart(key: Array, shape: tuple[int, ...]) -> UInt64[Array, "..."]:
    """Words of which much is to be made."""
    return fusion_barrier(_bits(key, shape))


def _laplaces(key: Array, shape: tuple[int, ...]) -> Array:
    word = _words_apart(key, shape)  # its last bit is the sign, its upper 52 the size
    size = exponential(word)
    return jnp.where(word & jnp.uint64(1) == 1, size, -size)


def _uniforms(key: Array, shape: tuple[int, ...]) -> Array:
    # Multiples of 2^-53 from 0 on: times a whole number up to 2^52 they stay below it, whichever way the product is rounded.
    return (_bits(key, shape) >> jnp.uint64(11)).astype(jnp.float64) * 2.0**-53


def _events(key: Array, n: int, thresholds: UInt32[Array, " d"]) -> Bool[Array, "n d"]:
    """Two events of a single word: its lower half is for a coordinate of the first half of them, its upper half for a
    coordinate of the second half.
    """
    d = thresholds.shape[0]
    first = -(-d // 2)
    lower, upper = halves(_words_apart(key, (n, first)))
    result = lower < thresholds[:first]
    # Computed before they are put together: copied as single bytes, by a loop of its own.
    return result if d == 1 else jnp.concatenate([result, upper[:, : d - first] < thresholds[first:]], axis=1)


_SAMPLERS = {
    "events": _events,
    "uniforms": _uniforms,
    "normals": lambda key, shape: normal(_words_apart(key, shape)),
    "exponentials": lambda key, shape: exponential(_words_apart(key, shape)),
    "laplaces": _laplaces,
    "cosines": lambda key, shape: sine(_words_apart(key, shape)),  # of the same law
}
KEYS = jax.eval_shape(lambda: jax.random.wrap_key_data(jnp.zeros(4, jnp.uint32), impl=COUNTER)).dtype
"""The type of the generator's keys, `key.dtype`."""

register_samplers(KEYS, _SAMPLERS)


def counter_keys(draws: GameDraws) -> Array:
    """A typed key for each game, shape (G,). Must be traced inside `exact_scope`."""
    seed = jnp.stack([draws.seed[0], draws.seed[1], jnp.uint32(0), jnp.uint32(0)])
    run = _key(draws.place.astype(jnp.uint64), seed)
    return jax.random.wrap_key_data(_key(draws.games.astype(jnp.uint64), run), impl=COUNTER)
