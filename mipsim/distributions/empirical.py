"""A user's own records as a law."""

from typing import Literal

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._samplers import places
from mipsim._validation import choice, finite_matrix, finite_vector, positive_definite_factor
from mipsim.distributions.base import AbstractDistribution, Vector, moment_order
from mipsim.distributions.transforms import AbstractTransform


class Empirical(AbstractDistribution):
    """A uniformly chosen row of a data set: games draw n rows independently, with replacement.

    The coordinates of a row are dependent, so the law is not a product; its moments are those of the rows
    (divisor N).

    Args:
        records: shape (N, d), N >= 2, no constant column.
        covariance: what `covariance` returns, and so what attacks built on this law use: "full" (default) the
            (d, d) matrix, of 8 d^2 bytes, or "diagonal" the variances only. Choose "diagonal" where the
            matrix is singular (always when N <= d, and with one-hot columns) or too large.

    Source: Efron (1979), the empirical distribution.

    Examples:
        >>> data = Empirical([[0.0, 0.0], [1.0, 2.0], [2.0, 1.0]])
        >>> print(data.mean, data.covariance.round(2).tolist())
        [1. 1.] [[0.67, 0.33], [0.33, 0.67]]
        >>> data.mahalanobis_squared([0.0, 0.0]).__round__(9)
        2.0
    """

    records: np.ndarray
    location: np.ndarray
    cov: np.ndarray

    def __init__(self, records: object, covariance: Literal["full", "diagonal"] = "full") -> None:
        self.records = finite_matrix("records", records)
        rows = self.records.shape[0]
        if rows < 2:
            raise ValueError(f"records has {rows} row; it must have at least 2")
        constant = (self.records == self.records[0]).all(axis=0)
        if constant.any():
            raise ValueError(
                f"records has the constant column {int(np.argmax(constant))}, of zero variance; leave it out"
            )
        self.location = self.records.mean(axis=0)
        shifted = self.records - self.location
        full = choice("covariance", covariance, ("full", "diagonal")) == "full"
        self.cov = shifted.T @ shifted / rows if full else (shifted**2).mean(axis=0)

    @property
    def is_product(self) -> bool:
        return False

    @property
    def mean(self) -> Vector:
        return self.location

    @property
    def covariance(self) -> np.ndarray:
        """The covariance of the rows (divisor N), shape (d, d), or its diagonal, shape (d,), as chosen."""
        return self.cov

    def central_moment(self, order: int) -> Vector:
        r = moment_order(order)
        return np.zeros_like(self.location) if r == 1 else ((self.records - self.location) ** r).mean(axis=0)

    def sample(self, key: PRNGKeyArray, n: int) -> Float[Array, "n d"]:
        """Draw n rows with replacement, shape (n, d)."""
        return jnp.asarray(self.records)[places(key, (n,), self.records.shape[0])]

    def in_support(self, point: object) -> bool:
        return bool((self.records == finite_vector("point", point, self.dimension)).all(axis=1).any())

    def easiest_target(self) -> Vector:
        return self.records[int(np.argmax(self._distances()))].copy()

    def hardest_target(self) -> Vector:
        return self.records[int(np.argmin(self._distances()))].copy()

    def transformed(self, transform: AbstractTransform) -> AbstractDistribution | None:
        moved = transform.apply(self.records)
        if np.array_equal(moved, self.records):
            return self
        return Empirical(moved) if (np.ptp(moved, axis=0) > 0).all() else None

    def _distances(self) -> np.ndarray:
        shifted = self.records - self.location
        if self.cov.ndim == 1:
            return np.sum(shifted**2 / self.cov, axis=1)
        factor = positive_definite_factor("covariance", self.cov)
        return np.sum(np.linalg.solve(factor, shifted.T) ** 2, axis=0)
