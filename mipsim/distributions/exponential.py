"""Independent exponential coordinates."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._samplers import exponentials
from mipsim._validation import finite_vector
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractProduct,
    CharacteristicFunction,
    Count,
    Row,
    Vector,
    coordinates,
    moment_order,
    no_easiest_target,
    positive,
)


class Exponential(AbstractProduct):
    """Coordinates with density exp(-x / scale) / scale on x >= 0, independent.

    Args:
        scale: the mean b > 0 of each coordinate (its standard deviation too), a number or shape (d,).
        d: the number of coordinates, where scale is a number (default 1).

    Examples:
        >>> data = Exponential([1.0, 2.0])
        >>> print(data.mean, data.variance, data.central_moment(3))
        [1. 2.] [1. 4.] [ 2. 16.]
    """

    scale: np.ndarray

    def __init__(self, scale: object, d: int | None = None) -> None:
        (self.scale,) = coordinates(d, scale=scale)
        positive("scale", self.scale)

    @property
    def mean(self) -> Vector:
        return self.scale

    def central_moment(self, order: int) -> Vector:
        """D_r b^r with the derangement numbers D_r = r D_{r-1} + (-1)^r, D_0 = 1, shape (d,)."""
        derangements = 1.0
        for r in range(1, moment_order(order) + 1):
            derangements = r * derangements + (-1) ** r
        return derangements * self.scale**order

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return exponentials(key, (n, self.scale.shape[0])) * self.scale

    def in_support(self, point: object) -> bool:
        return bool((finite_vector("point", point, self.dimension) >= 0).all())

    def easiest_target(self) -> Vector:
        raise ValueError(no_easiest_target(self))

    def hardest_target(self) -> Vector:
        return self.scale.copy()

    def characteristic(self) -> CharacteristicFunction:
        def transform(u: np.ndarray) -> np.ndarray:
            s = self.scale * u
            return np.exp(-1j * s) / (1 - 1j * s)

        return transform

    def location_scale(self) -> tuple[Vector, Vector, AbstractDistribution]:
        return self.scale, np.ones(self.dimension), Exponential(1.0, self.dimension)

    def sum_sampler(self) -> Callable[[PRNGKeyArray, Count], Row]:
        """Draw the column sums, b Gamma(n), shape (d,)."""

        def draw(key: PRNGKeyArray, n: Count) -> Row:
            sample = jax.random.gamma(key, jnp.maximum(n, 1.0), self.scale.shape) * self.scale
            return jnp.where(n == 0, 0.0, sample)

        return draw

    def sum_ratio(self) -> Callable[[Row, int, Row, Row], Row]:
        """(n-2) log(s-z) - (n-1) log s + z/b + log((n-1) b) where s > z, else -inf, shape (d,).

        The sum s is b Gamma(n) without and z + b Gamma(n-1) with the target. A negative target is outside the
        support and gives NaN, which the engine reports as an error.
        """

        def ratio(total: Row, n: int, target: Row, noise_variance: Row) -> Row:
            rest = total - target
            possible = rest > 0
            log_rest, log_total = (jnp.log(jnp.where(possible, x, 1.0)) for x in (rest, total))
            log = (
                (n - 2) * log_rest - (n - 1) * log_total + target / self.scale + jnp.log((n - 1) * self.scale)
            )
            return jnp.where(target < 0, jnp.nan, jnp.where(possible, log, -jnp.inf))

        return ratio
