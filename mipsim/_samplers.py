"""Draws that a generator of random numbers may know a faster way to than JAX's own samplers."""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, UInt32

Sampler = Callable[..., Array]

_OWN: dict[object, Mapping[str, Sampler]] = {}


def register_samplers(keys: object, samplers: Mapping[str, Sampler]) -> None:
    """Say how keys of a type, `key.dtype`, draw what functions of this module return, by their names."""
    _OWN[keys] = samplers


def is_own(key: PRNGKeyArray) -> bool:
    """Whether a key is of a generator that was registered, and none of JAX's."""
    return key.dtype in _OWN


def normals(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Independent standard normals."""
    return _sampled("normals", jax.random.normal, key, shape)


def exponentials(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Independent exponentials of mean 1."""
    return _sampled("exponentials", jax.random.exponential, key, shape)


def laplaces(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Independent Laplace variates of scale 1."""
    return _sampled("laplaces", jax.random.laplace, key, shape)


def cosines(key: PRNGKeyArray, shape: tuple[int, ...]) -> Float[Array, "..."]:
    """Cosines of independent angles, uniform on the circle."""
    return _sampled("cosines", _cosines, key, shape)


def events(key: PRNGKeyArray, n: int, thresholds: UInt32[Array, " d"]) -> Bool[Array, "n d"]:
    """Independent events, n of each probability threshold / 2^32."""
    own = _OWN.get(key.dtype, {}).get("events")
    if own is None:
        return jax.random.bits(key, (n, thresholds.shape[0]), jnp.uint32) < thresholds
    return own(key, n, thresholds)


def places(key: PRNGKeyArray, shape: tuple[int, ...], count: int) -> Int[Array, "..."]:
    """Independent whole numbers, each of 0, ..., count - 1 alike."""
    own = _OWN.get(key.dtype, {}).get("uniforms")
    if own is None:
        return jax.random.randint(key, shape, 0, count)
    return (own(key, shape) * count).astype(int)


def _sampled(name: str, usual: Sampler, key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    return _OWN.get(key.dtype, {}).get(name, usual)(key, shape)


def _cosines(key: PRNGKeyArray, shape: tuple[int, ...]) -> Array:
    return jnp.cos(2 * jnp.pi * jax.random.uniform(key, shape))
