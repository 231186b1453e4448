"""Additive noise around another mechanism."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import real_array
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism


def _noise_scale(name: str, value: object) -> np.ndarray:
    scale = real_array(name, value)
    if scale.ndim > 1:
        raise ValueError(f"{name} has shape {scale.shape}; it must be a number or a vector of shape (d,)")
    if (scale < 0).any():
        raise ValueError(f"{name} is {float(scale.min()):g}; noise must be >= 0")
    return scale


def _fits(name: str, scale: np.ndarray, output: tuple[int, ...] | None) -> None:
    """Say that a scale does not fit the shape of an output; None is a shape not yet known."""
    if output is not None and scale.shape not in ((), output):
        raise ValueError(
            f"{name} has shape {scale.shape}; it must be a number or have the output's shape {output}"
        )


class GaussianNoise(AbstractMechanism):
    """base + N(0, diag(gamma^2)) / sqrt(n), the noisy mean of the paper.

    Args:
        base: the mechanism whose output is made noisy, or a function `(key, records) -> output`.
        gamma: standard deviation on the scale of one record, a number or shape (d,); the output receives
            gamma / sqrt(n), n being the size of the whole data set.

    Raises:
        ValueError: if gamma is negative or not finite, or (in a game) does not fit the output's shape.

    Source: Azize & Basu (2025), theorem 4.1.

    Examples:
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> print(GaussianNoise(EmpiricalMean(), 0.5).gamma)
        0.5
    """

    base: AbstractMechanism = eqx.field(converter=as_mechanism)
    gamma: np.ndarray = eqx.field(converter=partial(_noise_scale, "gamma"))

    @property
    def has_exact_law(self) -> bool:
        """Whether the base has one."""
        return self.base.has_exact_law

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        """Release the base's output plus noise."""
        key_base, key_noise = jax.random.split(key)
        return self._noisy(key_noise, self.base.release(key_base, records), records.shape[0])

    def release_from_law(
        self,
        key: PRNGKeyArray,
        data: AbstractDistribution,
        n: int,
        target: Float[Array, " d"],
        member: Member,
    ) -> Array:
        """Draw the base's output from its law, then add the noise."""
        key_base, key_noise = jax.random.split(key)
        return self._noisy(key_noise, self.base.release_from_law(key_base, data, n, target, member), n)

    def rows(self, n: int) -> int:
        """As many as the base uses."""
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        """As the base's; checks that gamma fits it."""
        shape = self.base.output_shape(dimension)
        _fits("gamma", self.gamma, shape)
        return shape

    def _noisy(self, key: PRNGKeyArray, output: Array, n: int) -> Array:
        _fits("gamma", self.gamma, output.shape)
        return output + self.gamma * jax.random.normal(key, output.shape, output.dtype) / jnp.sqrt(n)


class LaplaceNoise(AbstractMechanism):
    """base + independent Laplace(scale) on every coordinate of the output.

    Args:
        base: the mechanism whose output is made noisy, or a function `(key, records) -> output`.
        scale: the Laplace scale b (standard deviation b sqrt 2) in the units of the output, a number or shape
            (d,); unlike `GaussianNoise.gamma` it is not divided by sqrt(n).

    Raises:
        ValueError: if scale is negative or not finite, or (in a game) does not fit the output's shape.

    Source: Dwork, McSherry, Nissim, Smith (2006): scale = sensitivity / epsilon makes the output epsilon-DP.

    Examples:
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> print(LaplaceNoise(EmpiricalMean(), 0.1).scale)
        0.1
    """

    base: AbstractMechanism = eqx.field(converter=as_mechanism)
    scale: np.ndarray = eqx.field(converter=partial(_noise_scale, "scale"))

    @property
    def has_exact_law(self) -> bool:
        """Whether the base has one."""
        return self.base.has_exact_law

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        """Release the base's output plus noise."""
        key_base, key_noise = jax.random.split(key)
        return self._noisy(key_noise, self.base.release(key_base, records))

    def release_from_law(
        self,
        key: PRNGKeyArray,
        data: AbstractDistribution,
        n: int,
        target: Float[Array, " d"],
        member: Member,
    ) -> Array:
        """Draw the base's output from its law, then add the noise."""
        key_base, key_noise = jax.random.split(key)
        return self._noisy(key_noise, self.base.release_from_law(key_base, data, n, target, member))

    def rows(self, n: int) -> int:
        """As many as the base uses."""
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        """As the base's; checks that scale fits it."""
        shape = self.base.output_shape(dimension)
        _fits("scale", self.scale, shape)
        return shape

    def _noisy(self, key: PRNGKeyArray, output: Array) -> Array:
        _fits("scale", self.scale, output.shape)
        return output + self.scale * jax.random.laplace(key, output.shape, output.dtype)
