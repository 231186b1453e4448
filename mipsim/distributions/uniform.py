"""Independent uniform coordinates."""

import jax
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import finite_vector
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractProduct,
    CharacteristicFunction,
    Vector,
    check_each,
    coordinates,
    moment_order,
)
from mipsim.distributions.transforms import AbstractTransform


class Uniform(AbstractProduct):
    """Coordinates uniform on [low, high], independent.

    Args:
        low: a number or shape (d,).
        high: a number or shape (d,), above low in every coordinate.
        d: the number of coordinates, where low and high are numbers (default 1).

    Examples:
        >>> data = Uniform(-1.0, [1.0, 2.0])
        >>> print(data.mean, data.variance.round(4), data.easiest_target(), data.hardest_target())
        [0.  0.5] [0.3333 0.75  ] [1. 2.] [0.  0.5]
    """

    low: np.ndarray
    high: np.ndarray

    def __init__(self, low: object, high: object, d: int | None = None) -> None:
        self.low, self.high = coordinates(d, low=low, high=high)
        wide = self.high > self.low
        demand = f"; it must exceed low = {self.low[int(np.argmin(wide))]:g}"
        check_each("high", self.high, wide, demand)

    @property
    def mean(self) -> Vector:
        return (self.low + self.high) / 2

    def central_moment(self, order: int) -> Vector:
        """((high - low) / 2)^r / (r + 1) for even r and 0 for odd r, shape (d,)."""
        r = moment_order(order)
        half = (self.high - self.low) / 2
        return np.zeros_like(half) if r % 2 else half**r / (r + 1)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        return jax.random.uniform(key, (n, self.low.shape[0])) * (self.high - self.low) + self.low

    def in_support(self, point: object) -> bool:
        z = finite_vector("point", point, self.dimension)
        return bool(((self.low <= z) & (z <= self.high)).all())

    def easiest_target(self) -> Vector:
        return self.high.copy()

    def hardest_target(self) -> Vector:
        return self.mean

    def characteristic(self) -> CharacteristicFunction:
        return lambda u: np.sinc((self.high - self.low) * u / (2 * np.pi))

    def location_scale(self) -> tuple[Vector, Vector, AbstractDistribution]:
        return (
            self.high - self.low,
            np.full(self.dimension, np.sqrt(1 / 12)),
            Uniform(-0.5, 0.5, self.dimension),
        )

    def transformed(self, transform: AbstractTransform) -> AbstractDistribution | None:
        return self if transform.fixes(self.low, self.high) else None
