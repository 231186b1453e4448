"""Additive noise around another mechanism."""

from abc import abstractmethod
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import real_array
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.mechanisms.base import AbstractMechanism, OutputLaw, output_law
from mipsim.mechanisms.function import as_mechanism


class AbstractNoise(AbstractMechanism):
    """base + independent noise on its output. A member says how the noise is drawn and which outputs it fits.

    Attributes:
        base: the mechanism whose output is made noisy.

    Examples:
        >>> class Coins(AbstractNoise):
        ...     base: AbstractMechanism = eqx.field(converter=as_mechanism)
        ...
        ...     def draw(self, key, shape, n, dtype):
        ...         return jax.random.rademacher(key, shape, dtype)
        ...
        ...     def check_fits(self, shape):
        ...         pass
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> abs(Coins(EmpiricalMean()).release(jax.random.key(0), np.zeros((3, 2)))).tolist()
        [1.0, 1.0]
    """

    base: eqx.AbstractVar[AbstractMechanism]

    @abstractmethod
    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        """Draw the noise for an output of this shape and dtype, of n records."""

    @abstractmethod
    def check_fits(self, shape: tuple[int, ...]) -> None:
        """Say that the parameters do not fit an output of this shape, if so.

        Raises:
            ValueError: naming the parameter.
        """

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        """Release the base's output plus noise."""
        key_base, key_noise = jax.random.split(key)
        return self.noisy(key_noise, self.base.release(key_base, records), records.shape[0])

    def noisy(self, key: PRNGKeyArray, output: Array, n: int) -> Array:
        """The output plus noise."""
        self.check_fits(output.shape)
        return output + self.draw(key, output.shape, n, output.dtype)

    def rows(self, n: int) -> int:
        """As many as the base uses."""
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        """As the base's; checks that the parameters fit it."""
        shape = self.base.output_shape(dimension)
        if shape is not None:
            self.check_fits(shape)
        return shape


@output_law.register
def _(mechanism: AbstractNoise) -> OutputLaw | None:
    draw = output_law(mechanism.base)
    if draw is None:
        return None

    def draw_noisy(
        key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Float[Array, " d"], member: Member
    ) -> Array:
        key_base, key_noise = jax.random.split(key)
        return mechanism.noisy(key_noise, draw(key_base, data, n, target, member), n)

    return draw_noisy


def _noise_scale(name: str, value: object) -> np.ndarray:
    scale = real_array(name, value)
    if scale.ndim > 1:
        raise ValueError(f"{name} has shape {scale.shape}; it must be a number or a vector of shape (d,)")
    if (scale < 0).any():
        raise ValueError(f"{name} is {float(scale.min()):g}; noise must be >= 0")
    return scale


def _check_scale(name: str, scale: np.ndarray, output: tuple[int, ...]) -> None:
    if scale.shape not in ((), output):
        raise ValueError(
            f"{name} has shape {scale.shape}; it must be a number or have the output's shape {output}"
        )


class GaussianNoise(AbstractNoise):
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

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        """Gamma Z / sqrt(n) with Z standard normal."""
        return jax.random.normal(key, shape, dtype) * self.gamma / jnp.sqrt(n)

    def check_fits(self, shape: tuple[int, ...]) -> None:
        """Gamma is a number or has the output's shape."""
        _check_scale("gamma", self.gamma, shape)


class LaplaceNoise(AbstractNoise):
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

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        """Laplace draws times the scale."""
        return jax.random.laplace(key, shape, dtype) * self.scale

    def check_fits(self, shape: tuple[int, ...]) -> None:
        """Scale is a number or has the output's shape."""
        _check_scale("scale", self.scale, shape)
