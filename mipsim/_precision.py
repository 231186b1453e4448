"""The one scope in which every game is played: float64, and one fixed meaning for random keys."""

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np
from jax.core import Tracer


@contextmanager
def exact_scope() -> Iterator[None]:
    """Float64 on, and `jax_threefry_partitionable` fixed, so that no global flag changes a result.

    Examples:
        >>> import jax.numpy as jnp
        >>> with exact_scope():
        ...     print(jnp.ones(1).dtype)
        float64
    """
    with jax.enable_x64(True), jax.threefry_partitionable(True):
        yield


def in_float64(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that computes in float64 whoever calls it.

    Called where JAX has no float64, it returns NumPy arrays: JAX would cut its own to float32 at their next use. Under a user's
    `jax.jit` without float64 the arguments are float32 already, and so is the result: its dtype says so.

    Examples:
        >>> import jax.numpy as jnp
        >>> found = in_float64(lambda x: jnp.sum(x) / 3)(np.ones(1))
        >>> type(found).__name__, found.dtype.name
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
