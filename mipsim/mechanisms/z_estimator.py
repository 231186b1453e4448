"""Z-estimators as mechanisms: the median, least squares and logistic regression."""

from abc import abstractmethod

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import sample_size, whole
from mipsim.mechanisms.base import AbstractMechanism


class AbstractZEstimator(AbstractMechanism):
    """Releases a zero of theta -> (1/n) sum_i psi_theta(X_i); always played literally.

    Source: van der Vaart (1998), chapter 5.

    Examples:
        >>> isinstance(Median(), AbstractZEstimator), Median().exact_draw()
        (True, None)
    """

    @abstractmethod
    def estimate(self, records: Float[Array, "n d"]) -> Float[Array, " k"]:
        """Return the estimate from the records, shape (k,)."""

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Float[Array, " k"]:
        return self.estimate(records)

    def rows(self, n: int) -> int:
        return sample_size(n)


class Median(AbstractZEstimator):
    """The coordinatewise median, psi_theta(x) = sign(x - theta); the midpoint of the two middle values if n is even.

    Source: Azize & Basu (2025), section 3; van der Vaart (1998), example 5.3.

    Examples:
        >>> print(Median().estimate(jnp.array([[1.0, 0.0], [2.0, 5.0], [9.0, 1.0]])))
        [2. 1.]
    """

    def estimate(self, records: Float[Array, "n d"]) -> Float[Array, " d"]:
        return jnp.median(records, axis=0)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return (dimension,)


class LeastSquares(AbstractZEstimator):
    """Ordinary least squares: psi_theta(x, y) = x (y - x' theta). A record is a row (x_1, ..., x_p, y).

    A constant 1 stands before the x of every record: theta begins with the intercept.

    Source: van der Vaart (1998), chapter 5.

    Examples:
        >>> line = jnp.array([[0.0, 1.0], [1.0, 3.0], [2.0, 5.0]])
        >>> print(LeastSquares().estimate(line).round(6))
        [1. 2.]
    """

    def estimate(self, records: Float[Array, "n d"]) -> Float[Array, " k"]:
        x, y = design(records)
        return jnp.linalg.solve(x.T @ x, x.T @ y)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return _coefficients(dimension)


class LogisticRegression(AbstractZEstimator):
    """Maximum likelihood for P(y = 1 | x) = 1/(1 + exp(-x' theta)), by Newton steps from 0.

    psi_theta(x, y) = x (y - 1/(1 + exp(-x' theta))). A record is a row (x_1, ..., x_p, y) with y in {0, 1}; theta begins with the
    intercept.

    Args:
        steps: Newton steps, >= 1. Eight reach rounding error where a maximum exists; separable records have none, and
            theta then grows with every step.

    Source: van der Vaart (1998), chapter 5; McCullagh & Nelder (1989), section 4.4, for the Newton steps.

    Examples:
        >>> rows = jnp.array([[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
        >>> print(LogisticRegression().estimate(rows).round(4))  # log odds 0 at x = 0, and log 2 at x = 1
        [0.     0.6931]
    """

    steps: int = eqx.field(static=True)

    def __init__(self, steps: int = 8) -> None:
        self.steps = whole("steps", steps, 1)

    def estimate(self, records: Float[Array, "n d"]) -> Float[Array, " k"]:
        x, y = design(records)

        def step(_: int, theta: Array) -> Array:
            fitted = jax.nn.sigmoid(x @ theta)
            curvature = (x * (fitted * (1 - fitted))[:, None]).T @ x
            return theta + jnp.linalg.solve(curvature, x.T @ (y - fitted))

        return jax.lax.fori_loop(0, self.steps, step, jnp.zeros(x.shape[1], x.dtype))

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return _coefficients(dimension)


def design(records: Float[Array, "n d"]) -> tuple[Float[Array, "n k"], Float[Array, " n"]]:
    """Split rows (x, y) into the design matrix, a column of ones first, and y."""
    x, y = records[:, :-1], records[:, -1]
    return jnp.hstack([jnp.ones_like(x[:, :1]), x]), y


def _coefficients(dimension: int) -> tuple[int]:
    if dimension < 2:
        raise ValueError(f"records have dimension {dimension}; a regression needs rows (x, y) of at least 2")
    return (dimension,)
