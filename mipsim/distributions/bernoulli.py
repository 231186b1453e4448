"""Independent Bernoulli coordinates."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._samplers import events
from mipsim._validation import finite_vector
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractProduct,
    Count,
    Row,
    Vector,
    check_each,
    coordinates,
    moment_order,
)
from mipsim.distributions.discrete import transformed_values
from mipsim.distributions.transforms import AbstractTransform


class Bernoulli(AbstractProduct):
    """Records in {0, 1}^d with P(z_j = 1) = p_j, coordinates independent.

    A record is sampled by comparing 32 random bits with round(p 2^32), clipped to [1, 2^32 - 1]: the
    sampled probability differs from p by at most 2^-32. Sums are sampled from Binomial(n, p).

    Args:
        p: success probabilities in (0, 1), a number or shape (d,).
        d: the number of coordinates, where p is a number (default 1).

    Source: Azize & Basu (2025), section 6.1 (the data of the experiments).

    Examples:
        >>> data = Bernoulli([0.3, 0.6])
        >>> print(data.mean, data.variance, data.easiest_target(), data.hardest_target())
        [0.3 0.6] [0.21 0.24] [1. 0.] [0. 1.]
    """

    p: np.ndarray

    def __init__(self, p: object, d: int | None = None) -> None:
        (self.p,) = coordinates(d, p=p)
        check_each("p", self.p, (self.p >= 0) & (self.p <= 1), "; every probability must be in (0, 1)")
        demand = "; every probability must be strictly between 0 and 1"
        inner = (self.p > 0) & (self.p < 1)
        check_each("p", self.p, inner, f", a constant coordinate with zero variance{demand}")

    @property
    def mean(self) -> Vector:
        return self.p

    def central_moment(self, order: int) -> Vector:
        """(1-p)(-p)^r + p (1-p)^r, shape (d,)."""
        r = moment_order(order)
        return (1 - self.p) * (-self.p) ** r + self.p * (1 - self.p) ** r

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        xp = np if isinstance(self.p, np.ndarray) else jnp
        threshold = jnp.asarray(xp.clip(xp.round(self.p * 2.0**32), 1, 2**32 - 1).astype(xp.uint32))
        return events(key, n, threshold).astype(float)

    def in_support(self, point: object) -> bool:
        z = finite_vector("point", point, self.dimension)
        return bool(np.isin(z, (0.0, 1.0)).all())

    def easiest_target(self) -> Vector:
        """1 where p <= 1/2, else 0: the rarer value of each coordinate."""
        return (self.p <= 0.5).astype(np.float64)

    def hardest_target(self) -> Vector:
        """1 where p > 1/2, else 0: the commoner value of each coordinate."""
        return (self.p > 0.5).astype(np.float64)

    def sum_sampler(self) -> Callable[[PRNGKeyArray, Count], Row]:
        """Draw the column sums, independent Binomial(n, p_j), shape (d,)."""

        def draw(key: PRNGKeyArray, n: Count) -> Row:
            sample = jax.random.binomial(key, jnp.maximum(n, 1.0), jnp.asarray(self.p))
            return jnp.where(n == 0, 0.0, sample)

        return draw

    def sum_ratio(self) -> Callable[[Row, int, Row, Row], Row]:
        """log(s / (n p)) where the target is 1, log((n - s) / (n (1 - p))) where it is 0, shape (d,).

        This is the ratio of the two binomial probabilities. A target that is neither 0 nor 1 is outside the
        support and gives NaN, which the engine reports as an error.
        """

        def ratio(total: Row, n: int, target: Row, noise_variance: Row) -> Row:
            ones = jnp.maximum(total, 0.0) / (n * self.p)
            zeros = jnp.maximum(n - total, 0.0) / (n * (1 - self.p))
            return jnp.log(jnp.where(target == 1, ones, jnp.where(target == 0, zeros, jnp.nan)))

        return ratio

    def lattice(self) -> tuple[float, Vector, np.ndarray]:
        return 1.0, np.zeros(self.dimension), np.stack([1 - self.p, self.p], 1)

    def transformed(self, transform: AbstractTransform) -> AbstractDistribution | None:
        if transform.fixes(np.zeros(self.dimension), np.ones(self.dimension)):
            return self
        moved = transformed_values(np.array([0.0, 1.0]), np.stack([1.0 - self.p, self.p], axis=1), transform)
        if moved is not None and np.array_equal(moved.values, [0.0, 1.0]):
            return Bernoulli(moved.probabilities[:, 1])
        return moved
