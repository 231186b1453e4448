"""Independent Laplace coordinates."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.special import factorial

from mipsim._samplers import laplaces
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractProduct,
    AbstractUnbounded,
    CharacteristicFunction,
    Count,
    Row,
    Vector,
    coordinates,
    moment_order,
    positive,
)


class Laplace(AbstractUnbounded, AbstractProduct):
    """Coordinates with density exp(-|x - mean| / scale) / (2 scale), independent.

    Args:
        mean: a number or shape (d,).
        scale: b > 0, a number or shape (d,); the variance is 2 b^2.
        d: the number of coordinates, where mean and scale are numbers (default 1).

    Examples:
        >>> data = Laplace(0.0, [1.0, 2.0])
        >>> print(data.variance, data.central_moment(4))
        [2. 8.] [ 24. 384.]
    """

    location: np.ndarray
    scale: np.ndarray

    def __init__(self, mean: object, scale: object, d: int | None = None) -> None:
        self.location, self.scale = coordinates(d, mean=mean, scale=scale)
        positive("scale", self.scale)

    def central_moment(self, order: int) -> Vector:
        """Moment r! b^r for even r and 0 for odd r, shape (d,)."""
        r = moment_order(order)
        return np.zeros_like(self.scale) if r % 2 else float(factorial(r)) * self.scale**r

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return laplaces(key, (n, self.location.shape[0])) * self.scale + self.location

    def characteristic(self) -> CharacteristicFunction:
        return lambda u: 1 / (1 + (self.scale * u) ** 2)

    def location_scale(self) -> tuple[Vector, Vector, AbstractDistribution]:
        return self.scale, np.full(self.dimension, np.sqrt(2.0)), Laplace(0.0, 1.0, self.dimension)

    def sum_sampler(self) -> Callable[[PRNGKeyArray, Count], Row]:
        """Draw n mean + b (G - G') with G, G' independent Gamma(n), shape (d,): a Laplace is E - E'."""

        def draw(key: PRNGKeyArray, n: Count) -> Row:
            plus, minus = jax.random.gamma(key, jnp.maximum(n, 1.0), (2, self.location.shape[0]))
            return jnp.where(n == 0, 0.0, (plus - minus) * self.scale + n * self.location)

        return draw
