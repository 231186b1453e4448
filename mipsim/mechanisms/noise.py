"""Additive noise around another mechanism."""

from abc import abstractmethod
from dataclasses import replace
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim.distributions.base import AbstractDistribution, Member, Row
from mipsim.distributions.laplace import Laplace
from mipsim.mechanisms.base import AbstractMechanism, ExactDraw
from mipsim.mechanisms.function import as_base
from mipsim.mechanisms.release import NoiseLaw, Release, traced_scale


class AbstractNoise(AbstractMechanism):
    """base + independent noise on its output. A member says how the noise is sampled and which outputs it fits.

    Attributes:
        base: the mechanism whose output is made noisy.

    Examples:
        >>> class Coins(AbstractNoise):
        ...     base: AbstractMechanism = eqx.field(converter=as_base)
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
        key_base, key_noise = jax.random.split(key)
        return self.noisy(key_noise, self.base.release(key_base, records), records.shape[0])

    def noisy(self, key: PRNGKeyArray, output: Array, n: int) -> Array:
        """The output plus noise."""
        self.check_fits(output.shape)
        return output + self.draw(key, output.shape, n, output.dtype)

    def rows(self, n: int) -> int:
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        shape = self.base.output_shape(dimension)
        if shape is not None:
            self.check_fits(shape)
        return shape

    def exact_draw(self) -> ExactDraw | None:
        draw = self.base.exact_draw()
        if draw is None:
            return None

        def noisy(
            key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member
        ) -> Array:
            key_base, key_noise = jax.random.split(key)
            return self.noisy(key_noise, draw(key_base, data, n, target, member), n)

        return noisy


def _check_scale(name: str, scale: np.ndarray, output: tuple[int, ...]) -> None:
    if scale.shape not in ((), output):
        raise ValueError(
            f"{name} has shape {scale.shape}; it must be a number or have the output's shape {output}"
        )


class GaussianNoise(AbstractNoise):
    """base + N(0, diag(record_deviation^2)) / sqrt(n), the noisy mean of the paper.

    Args:
        base: the mechanism whose output is made noisy, or a function `(key, records) -> output`.
        record_deviation: standard deviation >= 0 on the scale of a record, gamma, a number or shape (d,); the output receives
            record_deviation / sqrt(n), n being the size of the whole data set.

    Source: Azize & Basu (2025), theorem 4.1.

    Examples:
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> print(GaussianNoise(EmpiricalMean(), 0.5).record_deviation)
        0.5
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    record_deviation: np.ndarray = eqx.field(converter=partial(traced_scale, "record_deviation"))

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        return jax.random.normal(key, shape, dtype) * self.record_deviation / jnp.sqrt(n)

    def check_fits(self, shape: tuple[int, ...]) -> None:
        _check_scale("record_deviation", self.record_deviation, shape)

    def mean_of_rows(self, n: int) -> Release | None:
        inner = self.base.mean_of_rows(n)
        gamma = np.asarray(self.record_deviation, dtype=np.float64)
        return inner and replace(inner, variance=np.asarray(inner.variance + gamma**2 / n))


class AbstractIndependentNoise(AbstractNoise):
    """base + independent noise on every coordinate of the output. A member says what its law is, and that is all.

    Its release, its fast samplers and its exact laws follow from `noise_law`.

    Examples:
        >>> from mipsim.distributions.uniform import Uniform
        >>> class UniformNoise(AbstractIndependentNoise):
        ...     base: AbstractMechanism = eqx.field(converter=as_base)
        ...     half: float
        ...
        ...     @property
        ...     def noise_law(self):
        ...         return NoiseLaw(Uniform(-1.0, 1.0), self.half)
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> bool(abs(UniformNoise(EmpiricalMean(), 0.5).release(jax.random.key(0), np.zeros((3, 2)))).max() <= 0.5)
        True
    """

    @property
    @abstractmethod
    def noise_law(self) -> NoiseLaw:
        """The law of the noise, in units of the output."""

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], n: int, dtype: Any) -> Array:
        return self.noise_law.draw(key, shape, dtype)

    def check_fits(self, shape: tuple[int, ...]) -> None:
        _check_scale("scale", self.noise_law.scale, shape)

    def mean_of_rows(self, n: int) -> Release | None:
        inner, noise = self.base.mean_of_rows(n), self.noise_law
        return inner and (replace(inner, noises=(*inner.noises, noise)) if noise.scale.any() else inner)


class LaplaceNoise(AbstractIndependentNoise):
    """base + independent Laplace(scale) on every coordinate of the output.

    Args:
        base: the mechanism whose output is made noisy, or a function `(key, records) -> output`.
        scale: the Laplace scale b >= 0 (standard deviation b sqrt 2) in the units of the output, a number or shape
            (d,); unlike `GaussianNoise.record_deviation` it is not divided by sqrt(n).

    Source: Dwork, McSherry, Nissim, Smith (2006): scale = sensitivity / epsilon makes the output epsilon-DP.

    Examples:
        >>> from mipsim.mechanisms.mean import EmpiricalMean
        >>> print(LaplaceNoise(EmpiricalMean(), 0.1).scale)
        0.1
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    scale: np.ndarray = eqx.field(converter=partial(traced_scale, "scale"))

    @property
    def noise_law(self) -> NoiseLaw:
        return NoiseLaw(Laplace(0.0, 1.0), self.scale)
