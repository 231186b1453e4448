"""Arithmetic cut in two loops: a CPU overlaps more steps of two short chains than of one that is as long as both."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jaxtyping import Array, Int

APART = Primitive("apart")
"""What `apart` is in a traced program."""


def apart(x: Array) -> Array:
    """The same numbers; where records are played by blocks they are made and kept before they are used.

    A core looks some 250 instructions ahead. A word, its logarithm and its place in a sum are about 70, each of which waits for the one
    before: three numbers at once, and arithmetic that idles half of the time.

    Examples:
        >>> import jax.numpy as jnp
        >>> print(apart(jnp.arange(3)))
        [0 1 2]
    """
    return APART.bind(x)


APART.def_impl(lambda x: x)
APART.def_abstract_eval(lambda x: x)
batching.primitive_batchers[APART] = lambda xs, axes: (APART.bind(*xs), axes[0])
mlir.register_lowering(APART, lambda context, x: [x])


def made(make: Callable[[], Array], number: Int[Array, ""]) -> Array:
    """What the function makes, kept before it is used: XLA makes what a look-up needs again for each, and without vectors.

    It is made by a loop of one turn, of which XLA does not know that it has one.

    Args:
        make: what makes an array.
        number: any whole number >= 0 that XLA does not know, such as the world of a game.

    Examples:
        >>> import jax.numpy as jnp
        >>> print(made(lambda: jnp.arange(3), jnp.asarray(0)))
        [0 1 2]
    """
    like = jax.eval_shape(make)
    nothing = jnp.zeros(like.shape, like.dtype)
    return jax.lax.fori_loop(0, 1 + jnp.minimum(number, 0), lambda _, __: make(), nothing)


def kept(room: Array, turn: Int[Array, ""], x: Array) -> tuple[Array, Array]:
    """The room with an array in it, and the array: made by a loop of its own, on one thread, and read from there.

    Args:
        room: with a row more than the array.
        turn: of the loop around it.
        x: what is kept.

    Examples:
        >>> import jax.numpy as jnp
        >>> print(kept(jnp.zeros(3), jnp.asarray(1), jnp.ones(2)))
        (Array([0., 1., 1.], dtype=float32), Array([1., 1.], dtype=float32))
    """
    # XLA lets no other barrier stand when it draws loops together.
    room = jax.lax.optimization_barrier(changed(room, turn, lambda old: x))
    return room, jax.lax.dynamic_slice_in_dim(room, turn % 2, x.shape[0])


def kept_rows(room: Array, turn: Int[Array, ""], rows: Callable[[int], Array]) -> tuple[Array, Array]:
    """The same for an array of which each row is made by a loop of its own.

    Args:
        room: with a row more than there are.
        turn: of the loop around it.
        rows: what makes a row, given its number.

    Examples:
        >>> print(kept_rows(jnp.zeros((3, 2)), jnp.asarray(1), lambda k: jnp.full(2, 1.0 + k))[0])
        [[0. 0.]
         [1. 1.]
         [2. 2.]]
    """
    first, count = (
        (turn % 2).astype(jnp.uint32),
        room.shape[0] - 1,
    )  # unsigned: a negative place would be looked for each time
    for k in range(count):
        room = jax.lax.dynamic_update_slice(room, rows(k)[None], (first + jnp.uint32(k), jnp.uint32(0)))
    room = jax.lax.optimization_barrier(room)
    return room, jax.lax.dynamic_slice_in_dim(room, first, count)


def changed(longer: Array, turn: Int[Array, ""], change: Callable[[Array], Array]) -> Array:
    """The array with all of its rows but the last or all but the first changed, by turns.

    XLA gives an operation that changes a part of a larger array to one thread, and would hand the halves of any other to its own threads,
    at a greater cost than a block's.

    Examples:
        >>> import jax.numpy as jnp
        >>> print(changed(jnp.zeros(3), jnp.asarray(0), lambda old: old + 1.0))
        [1. 1. 0.]
    """
    old = jax.lax.dynamic_slice_in_dim(longer, turn % 2, longer.shape[0] - 1)
    return jax.lax.dynamic_update_slice_in_dim(longer, change(old), turn % 2, 0)
