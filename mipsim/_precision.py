"""The one scope in which every game is played: float64, and one fixed meaning for random keys."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax


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
