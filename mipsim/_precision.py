"""The scope in which every game is played: float64, and a fixed meaning for random keys."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jaxtyping import Array


@contextmanager
def exact_scope() -> Iterator[None]:
    """Float64, and every other setting of JAX's that could change a result or stop a game at what it was before anybody set it.

    The offset of seeds cannot be set for a while: `fixed_key` makes keys that it does not move.
    """
    with (
        jax.enable_x64(True),
        jax.threefry_partitionable(True),
        jax.default_prng_impl("threefry2x32"),
        jax.numpy_dtype_promotion("standard"),
        jax.numpy_rank_promotion("allow"),
        jax.default_matmul_precision(None),
        jax.transfer_guard("allow"),
        jax.debug_nans(False),  # a score may be infinite, and arithmetic on the way there NaN
        jax.debug_infs(False),
        jax.disable_jit(False),
    ):
        yield


def fixed_key(seed: int) -> Array:
    """The key of a seed, whatever JAX's flags add to seeds. Must be called inside `exact_scope`."""
    words = np.array([seed >> 32 & 0xFFFFFFFF, seed & 0xFFFFFFFF], np.uint32)
    return jax.random.wrap_key_data(jax.device_put(words), impl="threefry2x32")


def in_float64(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes in float64 whoever calls it.

    Called where JAX has no float64, it returns NumPy arrays: JAX would cut its own to float32 at their next use. Under a user's
    `jax.jit` without float64 the arguments are float32 already, and so is the result: its dtype says so.

    >>> import jax.numpy as jnp
    >>> result = in_float64(lambda x: jnp.sum(x) / 3)(np.ones(1))
    >>> type(result).__name__, result.dtype.name
    ('ndarray', 'float64')
    """

    @functools.wraps(method)
    def computed(*args: Any, **kwargs: Any) -> Any:
        enabled = jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
        if enabled or any(isinstance(x, Tracer) for x in jax.tree.leaves((args, kwargs))):
            return method(*args, **kwargs)
        with exact_scope():
            return jax.tree.map(
                lambda x: np.asarray(x) if isinstance(x, jax.Array) else x, method(*args, **kwargs)
            )

    return computed


def of_float64(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that returns a function or None; the function then computes in float64 whoever calls it.
    >>> import jax.numpy as jnp
    >>> third = of_float64(lambda thing: lambda x: jnp.sum(x) / 3)
    >>> third(None)(np.ones(1)).dtype.name
    'float64'
    """

    @functools.wraps(method)
    def find(*args: Any) -> Any:
        result = method(*args)
        return None if result is None else in_float64(result)

    return find
