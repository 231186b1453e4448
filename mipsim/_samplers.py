"""Draws that a generator of random numbers may know a faster way to than JAX's own."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

Sampler = Callable[[PRNGKeyArray, tuple[int, ...]], Array]

_NORMALS: dict[object, Sampler] = {}
_COSINES: dict[object, Sampler] = {}


def register_samplers(keys: object, *, normals: Sampler, cosines: Sampler) -> None:
    """Say how keys of a type, `key.dtype`, draw what the functions of this module return."""
    _NORMALS[keys], _COSINES[keys] = normals, cosines


def normals(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Independent standard normals.

    Examples:
        >>> print(normals(jax.random.key(0), (2,)).shape)
        (2,)
    """
    return _NORMALS.get(key.dtype, jax.random.normal)(key, shape)


def cosines(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Cosines of independent angles, uniform on the circle.

    Examples:
        >>> print(cosines(jax.random.key(0), (2,)).shape)
        (2,)
    """
    return _COSINES.get(key.dtype, _cosines)(key, shape)


def _cosines(key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    return jnp.cos(2 * jnp.pi * jax.random.uniform(key, shape))
