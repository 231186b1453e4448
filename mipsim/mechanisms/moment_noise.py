"""Noise scaled by moments that are estimated from random halves."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import choice, finite_matrix, number, whole
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism
from mipsim.mechanisms.norm_noise import RADII, draw_noise


class MomentNoise(AbstractMechanism):
    """base + noise scaled by moments that are estimated from random halves: the wrapper of algorithm 1.

    sigma_j = (mean over B halves of |theta_j - mean theta_j|^M)^(1/M), then X as in `NormNoise` with these sigmas. The
    printed algorithm halves the training set, so that its sigmas depend on who is in it; with `population` the halves
    are those of the whole data set, as theorem 9 asks. Coordinates that no half changes get no noise.

    Args:
        base: the mechanism, or a function `(key, records) -> output` with output of shape (d,).
        scale: the factor c > 0 of the noise, no deviation, such as (6.16/eta)^(1 + 2/M).
        subsets: B >= 2 halves.
        moment: M >= 1.
        radius: "gamma" or "exponential" (as printed).
        population: the whole data set, shape (n, d), or None for the halves of the training set, as printed.

    Raises:
        ValueError: if a parameter is out of range; in a game, if the set that is to be halved has a single record.

    Source: Izzo, Yoon, Arik, Zou (2024), algorithm 1.

    Examples:
        >>> import mipsim as mi
        >>> wrapped = MomentNoise(mi.EmpiricalMean(), scale=100.0, subsets=8, population=np.arange(8.0)[:, None])
        >>> wrapped.release(jax.random.key(0), np.ones((4, 1))).shape
        (1,)
    """

    base: AbstractMechanism = eqx.field(converter=as_mechanism)
    scale: float = eqx.field(static=True)
    subsets: int = eqx.field(static=True)
    moment: float = eqx.field(static=True, default=2.0)
    radius: str = eqx.field(static=True, default="exponential")
    population: np.ndarray | None = eqx.field(
        converter=lambda value: None if value is None else finite_matrix("population", value), default=None
    )

    def __check_init__(self) -> None:
        number("scale", self.scale, 0.0, low_open=True)
        whole("subsets", self.subsets, 2)
        number("moment", self.moment, 1.0)
        choice("radius", self.radius, RADII)

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        key_base, key_halves, key_noise = jax.random.split(key, 3)
        pool = jnp.asarray(records if self.population is None else self.population)
        if pool.shape[0] < 2:
            raise ValueError(f"{pool.shape[0]} record cannot be halved; give at least 2")
        sigma = self._estimate(key_halves, pool)
        safe = jnp.where(sigma > 0, sigma, 1.0)
        noise = draw_noise(key_noise, safe, self.moment, self.scale, self.radius)
        return self.base.release(key_base, records) + jnp.where(sigma > 0, noise, 0.0)

    def rows(self, n: int) -> int:
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return self.base.output_shape(dimension)

    def _estimate(self, key: PRNGKeyArray, pool: Float[Array, "n d"]) -> Float[Array, " d"]:
        def estimate(k: PRNGKeyArray) -> Array:
            key_half, key_release = jax.random.split(k)
            chosen = jnp.sort(jax.random.permutation(key_half, pool.shape[0])[: pool.shape[0] // 2])
            return self.base.release(key_release, pool[chosen])

        theta = jax.vmap(estimate)(jax.random.split(key, self.subsets))
        return jnp.mean(jnp.abs(theta - theta.mean(axis=0)) ** self.moment, axis=0) ** (1.0 / self.moment)
