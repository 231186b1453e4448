"""Arithmetic cut in two loops: a CPU overlaps more steps of two short chains than of one that is as long as both."""

from typing import Any

import jax
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jaxtyping import Array

APART = Primitive("apart")
"""What `apart` is in a traced program."""


def apart(x: Array) -> Array:
    """The same numbers, on a CPU made and kept before they are used: XLA draws no loop together over them.

    A core looks some 250 instructions ahead. A word, its logarithm and its place in a sum are about 70, each of which waits for the one
    before: three numbers at once, and arithmetic that idles half of the time. Other devices have threads enough, and less use for memory:
    there it changes nothing.

    Examples:
        >>> import jax.numpy as jnp
        >>> print(apart(jnp.arange(3)))
        [0 1 2]
    """
    return APART.bind(x)


def _lowered_on_cpu(context: Any, x: Any) -> Any:
    return mlir.lower_fun(jax.lax.optimization_barrier, multiple_results=False)(context, x)


APART.def_impl(lambda x: x)
APART.def_abstract_eval(lambda x: x)
batching.primitive_batchers[APART] = lambda xs, axes: (APART.bind(*xs), axes[0])
mlir.register_lowering(APART, lambda context, x: [x])
mlir.register_lowering(APART, _lowered_on_cpu, platform="cpu")
