"""Barriers that stop XLA from fusing loops where fused code is slower: a CPU overlaps more steps of two short chains than of a
single long chain.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jaxtyping import Array, Int

FUSION_BARRIER = Primitive("fusion_barrier")
"""The primitive of `fusion_barrier` in a traced program."""


def fusion_barrier(x: Array) -> Array:
    """Return `x`; where records are played by blocks, `x` is stored in memory before it is used.

    A core looks some 250 instructions ahead. A random word, its logarithm and its term of a sum take about 70 instructions, each of which
    waits for the previous result. Fused, only three numbers are in flight, and the arithmetic units idle half of the time.
    """
    return FUSION_BARRIER.bind(x)


FUSION_BARRIER.def_impl(lambda x: x)
FUSION_BARRIER.def_abstract_eval(lambda x: x)
batching.primitive_batchers[FUSION_BARRIER] = lambda xs, axes: (FUSION_BARRIER.bind(*xs), axes[0])
mlir.register_lowering(FUSION_BARRIER, lambda context, x: [x])


def materialise(make: Callable[[], Array], number: Int[Array, ""]) -> Array:
    """Return the function's array, computed before it is used.

    XLA fuses the producer of an array into a look-up in it, which recomputes entries and prevents vectorisation. Here a loop computes the
    array; XLA does not know that the loop has a single iteration.

    `number`: any integer >= 0 that XLA does not know, such as the world of a game.
    """
    like = jax.eval_shape(make)
    nothing = jnp.zeros(like.shape, like.dtype)
    return jax.lax.fori_loop(0, 1 + jnp.minimum(number, 0), lambda _, __: make(), nothing)


def store_block(room: Array, turn: Int[Array, ""], x: Array) -> tuple[Array, Array]:
    """Store an array in a buffer by a loop of its own, on a single thread, and read it from there; returns (buffer, array).
    `room`: buffer with 1 row more than the array; `turn`: iteration of the surrounding loop.

    >>> import jax.numpy as jnp
    >>> print(store_block(jnp.zeros(3), jnp.asarray(1), jnp.ones(2)))
    (Array([0., 1., 1.], dtype=float32), Array([1., 1.], dtype=float32))
    """
    # XLA removes every other barrier when it fuses loops.
    room = jax.lax.optimization_barrier(update_alternating(room, turn, lambda old: x))
    return room, jax.lax.dynamic_slice_in_dim(room, turn % 2, x.shape[0])


def store_rows(room: Array, turn: Int[Array, ""], rows: Callable[[int], Array]) -> tuple[Array, Array]:
    """As `store_block`, for an array of which a loop of its own computes each row.
    `room`: buffer with 1 row more than the array; `turn`: iteration of the surrounding loop; `rows`: computes a row from
    its number.

    >>> print(store_rows(jnp.zeros((3, 2)), jnp.asarray(1), lambda k: jnp.full(2, 1.0 + k))[0])
    [[0. 0.]
     [1. 1.]
     [2. 2.]]
    """
    # unsigned: XLA would test a signed place for a negative value each time
    first, count = (turn % 2).astype(jnp.uint32), room.shape[0] - 1
    for k in range(count):
        room = jax.lax.dynamic_update_slice(room, rows(k)[None], (first + jnp.uint32(k), jnp.uint32(0)))
    room = jax.lax.optimization_barrier(room)
    return room, jax.lax.dynamic_slice_in_dim(room, first, count)


def update_alternating(longer: Array, turn: Int[Array, ""], update: Callable[[Array], Array]) -> Array:
    """Update all rows but the last in even iterations, and all rows but the first in odd ones.

    XLA runs an update of a part of an array on a single thread. It would split a whole update among its threads, which costs
    more than a block.

    >>> import jax.numpy as jnp
    >>> print(update_alternating(jnp.zeros(3), jnp.asarray(0), lambda old: old + 1.0))
    [1. 1. 0.]
    """
    old = jax.lax.dynamic_slice_in_dim(longer, turn % 2, longer.shape[0] - 1)
    return jax.lax.dynamic_update_slice_in_dim(longer, update(old), turn % 2, 0)
