"""Gaussian records, with a diagonal or a full covariance."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._samplers import normals
from mipsim._validation import real_array
from mipsim.distributions.base import (
    AbstractDistribution,
    AbstractUnbounded,
    CharacteristicFunction,
    Count,
    Row,
    Vector,
    coordinates,
    moment_order,
    positive,
)


class Gaussian(AbstractUnbounded):
    """N(mean, cov) in R^d.

    Args:
        mean: shape (d,), or a number that is repeated.
        cov: a variance > 0 shared by the coordinates, variances of shape (d,), or a symmetric positive
            semi-definite matrix of shape (d, d) without a zero variance.
        d: the number of coordinates, where mean and cov are numbers (default 1).

    Source: Azize & Basu (2025), appendix B.2.

    Examples:
        >>> Gaussian(0.0, [1.0, 4.0]).is_product, Gaussian([0.0, 0.0], [[1.0, 0.5], [0.5, 1.0]]).is_product
        (True, False)
    """

    location: np.ndarray
    cov: np.ndarray
    factor: np.ndarray  # standard deviations (d,), or L of shape (d, d) with L L' = cov

    def __init__(self, mean: object, cov: object, d: int | None = None) -> None:
        covariance = real_array("cov", cov)
        if covariance.ndim != 2:
            self.location, self.cov = coordinates(d, mean=mean, cov=covariance)
            self.factor = np.sqrt(positive("cov", self.cov, ", a variance"))
            return
        if covariance.shape[0] != covariance.shape[1]:
            raise ValueError(f"cov has shape {covariance.shape}; it must be a number, (d,) or (d, d)")
        (self.location,) = coordinates(covariance.shape[0] if d is None else d, mean=mean)
        if covariance.shape[0] != self.location.shape[0]:
            size = self.location.shape[0]
            raise ValueError(f"cov has shape {covariance.shape}; it must have shape ({size}, {size})")
        self.cov = covariance.copy()
        self.factor = _square_root(self.cov)

    @property
    def is_product(self) -> bool:
        return self.cov.ndim == 1

    @property
    def covariance(self) -> np.ndarray:
        return self.cov

    def central_moment(self, order: int) -> Vector:
        """(r - 1)!! sigma^r for even r and 0 for odd r, shape (d,)."""
        r = moment_order(order)
        sd = np.sqrt(self.cov if self.is_product else np.diagonal(self.cov))
        return np.zeros_like(sd) if r % 2 else float(np.prod(np.arange(1.0, r, 2.0))) * sd**r

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        normal = normals(key, (n, self.location.shape[0]))
        return (normal * self.factor if self.cov.ndim == 1 else normal @ self.factor.T) + self.location

    def characteristic(self) -> CharacteristicFunction | None:
        return (lambda u: np.exp(-0.5 * self.cov * u**2)) if self.is_product else None

    def location_scale(self) -> tuple[Vector, Vector, AbstractDistribution] | None:
        if not self.is_product:
            return None
        return self.factor, np.ones(self.dimension), Gaussian(0.0, 1.0, self.dimension)

    def sum_sampler(self) -> Callable[[PRNGKeyArray, Count], Row]:
        """Draw N(n mean, n cov), shape (d,)."""

        def draw(key: PRNGKeyArray, n: Count) -> Row:
            normal = jax.random.normal(key, self.location.shape)
            step = normal * self.factor if self.cov.ndim == 1 else normal @ self.factor.T
            return jnp.sqrt(n) * step + n * self.location

        return draw

    def sum_ratio(self) -> Callable[[Row, int, Row, Row], Row] | None:
        """Log N(total; (n-1) mu + z, (n-1) s^2 + n g^2) - log N(total; n mu, n s^2 + n g^2), shape (d,)."""
        if not self.is_product:
            return None  # it is no sum over coordinates

        def ratio(total: Row, n: int, target: Row, noise_variance: Row) -> Row:
            out = n * (self.cov + noise_variance)
            inside = out - self.cov
            shift = total - n * self.location
            square = shift**2 / out - (shift - (target - self.location)) ** 2 / inside
            return 0.5 * (square - jnp.log1p(-self.cov / out))

        return ratio


def _square_root(cov: np.ndarray) -> np.ndarray:
    variances = np.diagonal(cov)
    if not np.allclose(cov, cov.T, rtol=1e-10, atol=1e-12 * float(np.abs(cov).max())):
        raise ValueError("cov is not symmetric; it must be a symmetric positive semi-definite matrix")
    positive("cov's diagonal", variances, ", a variance")
    try:
        return np.linalg.cholesky(cov)
    except np.linalg.LinAlgError:
        pass  # singular or indefinite: the eigenvalues tell which
    values, vectors = np.linalg.eigh(cov)
    if values[0] < -1e-10 * values[-1]:
        raise ValueError(f"cov has the eigenvalue {values[0]:.3g}; it must be positive semi-definite")
    return vectors * np.sqrt(np.clip(values, 0.0, None))
