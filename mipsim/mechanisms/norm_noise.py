"""Noise whose density depends on a norm only."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from mipsim._validation import choice, number, real_array
from mipsim._words import quoted
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_base
from mipsim.mechanisms.noise import AbstractNoise

RADII = ("gamma", "exponential")
"""Laws of the norm: Gamma(d, scale) gives the density exp(-||x||/scale); Exponential(scale) is corollary 10's."""


def weighted_norm(x: Array, sigma: Array, moment: float) -> Array:
    """(mean of |x_i / sigma_i|^M)^(1/M) over the last axis; the largest |x_i / sigma_i| for M = inf.

    Source: Izzo, Yoon, Arik, Zou (2024), corollary 10.

    >>> print(weighted_norm(jnp.array([3.0, 4.0]), jnp.array([1.0, 1.0]), np.inf))
    4.0
    """
    ratio = jnp.abs(x) / sigma
    most = jnp.max(ratio, axis=-1, keepdims=True)
    if np.isinf(moment):
        return most[..., 0]
    safe = jnp.where(most > 0, most, 1.0)  # by the largest, so that no power overflows
    return most[..., 0] * jnp.mean((ratio / safe) ** moment, axis=-1) ** (1.0 / moment)


def general_normal(key: PRNGKeyArray, moment: float, shape: tuple[int, ...]) -> Array:
    """Draw from the density proportional to exp(-|y|^M), by rejection under a tangent for M > 1.

    JAX's own sampler goes through a gamma variate for each entry, which is ten times slower in a vmapped game.

    `key`: random key; `moment`: M > 0, or inf: uniform on [-1, 1].

    Source: Nadarajah (2005) for the law; |y|^M >= 1 + M (|y| - 1) gives the envelope.

    >>> bool(jnp.abs(general_normal(jax.random.key(0), np.inf, (100,))).max() <= 1.0)
    True
    """
    if np.isinf(moment):
        return jax.random.uniform(key, shape, minval=-1.0, maxval=1.0)
    if moment == 2.0:
        return jax.random.normal(key, shape) / np.sqrt(2.0)
    if moment <= 1.0:
        return jax.random.generalized_normal(key, moment, shape)
    tail = np.exp(-1.0) / moment  # the envelope holds 1 on [0, 1] and this beyond

    def propose(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        chain, y, waiting = state
        chain, key_place, key_accept = jax.random.split(chain, 3)
        place = jax.random.uniform(key_place, shape, minval=-1.0 - tail, maxval=1.0 + tail)
        inner = jnp.abs(place)
        beyond = 1.0 - jnp.log(jnp.maximum((inner - 1.0) / tail, jnp.finfo(inner.dtype).tiny)) / moment
        size = jnp.where(inner < 1.0, inner, beyond)
        envelope = jnp.where(inner < 1.0, 0.0, -1.0 - moment * (size - 1.0))
        accepted = jnp.log1p(-jax.random.uniform(key_accept, shape)) < -(size**moment) - envelope
        return chain, jnp.where(waiting & accepted, jnp.sign(place) * size, y), waiting & ~accepted

    start = (key, jnp.zeros(shape), jnp.ones(shape, bool))
    return jax.lax.while_loop(lambda state: jnp.any(state[2]), propose, start)[1]


def draw_noise(key: PRNGKeyArray, sigma: Array, moment: float, scale: Array | float, radius: str) -> Array:
    """Draw X = r U, shape of sigma: U = Y/||Y|| with Y_i ~ GenNormal(0, sigma_i, M), r of the given law.
    `key`: random key; `sigma`: shape (d,), > 0; `moment`: M > 0 or inf (Y_i uniform on [-sigma_i, sigma_i]); `scale`: of
    r, > 0, without unit: ||.|| counts in sigmas; `radius`: a member of `RADII`.

    Source: Izzo, Yoon, Arik, Zou (2024), corollary 10; the density of theorem 9 has the radius Gamma(d, scale).
    """
    key_y, key_r = jax.random.split(key)
    y = general_normal(key_y, moment, sigma.shape)
    u = y / weighted_norm(y, jnp.ones_like(sigma), moment)
    d = sigma.shape[0]
    r = jax.random.exponential(key_r) if radius == "exponential" else jax.random.gamma(key_r, float(d))
    return r * scale * u * sigma


def _moment_order(value: object) -> float:
    infinite = isinstance(value, float) and value == np.inf
    return np.inf if infinite else number("moment", value, 0.0, low_open=True)


def _coordinate_scale(value: object) -> np.ndarray:
    scale = real_array("coordinate_scale", value)
    if scale.ndim > 1 or not scale.size or (scale <= 0).any():
        raise ValueError(
            f"coordinate_scale is {quoted(value)}; it must be a positive number or a vector of shape (d,) of them"
        )
    return scale


class NormNoise(AbstractNoise):
    """base + X, X of density exp(-||x||/scale) up to a constant, ||x|| = (mean |x_i / sigma_i|^M)^(1/M).

    With sigma_i = d^(-1/M) the norm is the plain l_M norm. The norm of X is Gamma(d, scale); radius "exponential" is the
    printed recipe of corollary 10, whose norm is Exponential(scale) and whose density is ||x||^-(d - 1) exp(-||x||/scale).

    Args:
        base: the mechanism whose output, a vector of shape (d,), is made noisy, or a function `(key, records) -> output`.
        scale: the scale of the norm of the noise, no deviation, > 0, without unit.
        coordinate_scale: sigma, the scale of each coordinate, > 0, a number or shape (d,), in the unit of the output.
        moment: M > 0, or infinity.
        radius: "gamma" or "exponential".

    Source: Izzo, Yoon, Arik, Zou (2024), theorem 9 and corollary 10.

    Examples:
        >>> import mipsim as mi
        >>> noise = NormNoise(mi.EmpiricalMean(), scale=2.0, coordinate_scale=[1.0, 3.0])
        >>> noise.release(jax.random.key(0), np.ones((4, 2))).shape
        (2,)
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    scale: float = eqx.field(static=True)
    coordinate_scale: np.ndarray = eqx.field(converter=_coordinate_scale, default=1.0)
    moment: float = eqx.field(static=True, converter=_moment_order, default=2.0)
    radius: str = eqx.field(static=True, default="gamma")

    def __check_init__(self) -> None:
        number("scale", self.scale, 0.0, low_open=True)
        choice("radius", self.radius, RADII)

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        sigma = jnp.broadcast_to(jnp.asarray(self.coordinate_scale), shape)
        return draw_noise(key, sigma, self.moment, self.scale, self.radius)

    def check_fits(self, shape: tuple[int, ...]) -> None:
        if len(shape) != 1 or self.coordinate_scale.shape not in ((), shape):
            raise ValueError(
                f"coordinate_scale has shape {self.coordinate_scale.shape}; it must be a number or fit the output's shape {shape}, a vector"
            )
