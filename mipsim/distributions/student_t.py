"""Independent Student-t coordinates."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray
from scipy.special import gammaln, kve

from mipsim._samplers import cosines, exponentials
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractProduct,
    AbstractUnbounded,
    CharacteristicFunction,
    Vector,
    check_each,
    coordinates,
    moment_order,
    positive,
)


class StudentT(AbstractUnbounded, AbstractProduct):
    """mean + scale T with T a Student t of df degrees of freedom, coordinates independent.

    Args:
        df: degrees of freedom > 2, a number or shape (d,). Moments of order >= df do not exist:
            theorems that need a fourth moment need df > 4.
        mean: a number or shape (d,).
        scale: the factor of T, no deviation, > 0, a number or shape (d,); the variance is scale^2 df / (df - 2).
        d: the number of coordinates, where all of these are numbers (default 1).

    Examples:
        >>> data = StudentT(5.0, d=2)
        >>> print(data.variance.round(4), data.central_moment(6))
        [1.6667 1.6667] [inf inf]
    """

    df: np.ndarray
    location: np.ndarray
    scale: np.ndarray

    def __init__(self, df: object, mean: object = 0.0, scale: object = 1.0, d: int | None = None) -> None:
        self.df, self.location, self.scale = coordinates(d, df=df, mean=mean, scale=scale)
        check_each("df", self.df, self.df > 2, "; it must be > 2 for a finite variance")
        positive("scale", self.scale)

    def central_moment(self, order: int) -> Vector:
        """(scale^2 df)^(r/2) prod_{i <= r/2} (2i-1)/(df-2i) for even r < df, 0 for odd r < df, else inf."""
        r = moment_order(order)
        value = np.zeros_like(self.scale) if r % 2 else (self.scale * np.sqrt(self.df)) ** r
        exists = self.df > r
        for i in range(1, r // 2 + 1):
            value = value * (2 * i - 1) / np.where(exists, self.df - 2 * i, 1.0)
        return np.where(exists, value, np.inf)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Draw n records, shape (n, d), sqrt(df (exp(2 E / df) - 1)) cos(2 pi U), E exponential, U uniform.

        Source: Bailey (1994), the polar form of the Student-t law: exact, and without a rejection loop.
        """
        key_radius, key_angle = jax.random.split(key)
        shape = (n, self.location.shape[0])
        radius = jnp.sqrt(self.df * jnp.expm1(2 * exponentials(key_radius, shape) / self.df))
        return radius * cosines(key_angle, shape) * self.scale + self.location

    def characteristic(self) -> CharacteristicFunction:
        """K_{k/2}(x) x^{k/2} / (Gamma(k/2) 2^{k/2 - 1}) at x = sqrt(k) scale |u|, k degrees of freedom."""

        def transform(u: np.ndarray) -> np.ndarray:
            df = self.df
            x = np.maximum(np.sqrt(df) * np.abs(self.scale * u), 1e-12)
            with np.errstate(under="ignore"):
                logs = 0.5 * df * np.log(x) - gammaln(df / 2) - (df / 2 - 1) * np.log(2) - x
                return np.where(u == 0, 1.0, kve(df / 2, x) * np.exp(logs))

        return transform

    def location_scale(self) -> tuple[Vector, Vector, AbstractDistribution]:
        return self.scale, np.sqrt(self.df / (self.df - 2)), StudentT(self.df)
