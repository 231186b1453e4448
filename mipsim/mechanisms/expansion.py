"""The first-order expansion of Z-estimators: influence function and covariance.

A Z-estimator is a zero of theta -> (1/n) sum_i psi_theta(X_i). With V the derivative of theta -> E psi_theta(X) at its
zero theta_0, thetahat - theta_0 = (1/n) sum_i I(X_i) + o_p(n^-1/2), where I(x) = -V^-1 psi_theta0(x) has mean 0 and
covariance Sigma = V^-1 E[psi psi'] V^-T. For least squares V = -E[x x'].
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._precision import exact_scope, in_float64
from mipsim._validation import finite_matrix, finite_vector, positive_definite_factor
from mipsim.mechanisms.z_estimator import LogisticRegression, design

Map = Callable[[Array], Array]


class Expansion(eqx.Module):
    """What the first order knows of a Z-estimator with k parameters.

    Source: van der Vaart (1998), theorem 5.21; Azize & Basu (2025), equation 7.

    >>> median = Expansion([0.0], [[-1.0]], [[1.0]], jnp.sign)
    >>> print(median.influence(np.array([3.0])), median.covariance)
    [1.] [[1.]]
    """

    theta: np.ndarray  # theta_0, shape (k,)
    derivative: np.ndarray  # V, shape (k, k), non-singular
    spread: np.ndarray  # E[psi psi'] at theta_0, shape (k, k), positive definite
    # record of shape (d,) -> psi_theta0(record), shape (k,); traceable by JAX
    psi: Map = eqx.field(static=True)

    def __init__(self, theta: object, derivative: object, spread: object, psi: Map) -> None:
        self.theta = finite_vector("theta", theta)
        k = self.theta.shape[0]
        self.derivative = finite_matrix("derivative", derivative, k)
        self.spread = finite_matrix("spread", spread, k)
        for name, matrix in (("derivative", self.derivative), ("spread", self.spread)):
            if matrix.shape != (k, k):
                raise ValueError(f"{name} has shape {matrix.shape}; it must have shape ({k}, {k})")
        if np.linalg.matrix_rank(self.derivative) < k:
            raise ValueError("derivative is singular; the estimator must determine theta to first order")
        positive_definite_factor("spread", self.spread)
        self.psi = psi

    @in_float64
    def influence(self, record: Float[Array, " d"]) -> Float[Array, " k"]:
        """I(x) = -V^-1 psi_theta0(x), of mean 0, shape (k,)."""
        return -jnp.linalg.solve(jnp.asarray(self.derivative), self.psi(record))

    @property
    def covariance(self) -> np.ndarray:
        """Sigma = V^-1 E[psi psi'] V^-T, the covariance of I(X), shape (k, k)."""
        inverse = np.linalg.inv(self.derivative)
        return inverse @ self.spread @ inverse.T


def least_squares_expansion(population: object) -> Expansion:
    """Least squares on rows sampled from a population of records (x, y), all moments being averages over its rows.
    `population`: shape (N, p + 1), the rows (x, y), with neither design nor spread singular.

    Source: van der Vaart (1998), theorem 5.21, at psi = x (y - x' theta).

    >>> expansion = least_squares_expansion([[-1.0, 0.0], [-1.0, -2.0], [1.0, 2.0], [1.0, 0.0]])
    >>> print(expansion.theta.round(9) + 0.0, expansion.covariance.round(9) + 0.0)
    [0. 1.] [[1. 0.]
     [0. 1.]]
    """
    x, y = _split(population)
    theta = np.linalg.lstsq(x, y)[0]
    return _regression(x, y - x @ theta, theta, -x.T @ x / len(y), lambda fitted: fitted)


def logistic_expansion(population: object) -> Expansion:
    """Logistic regression on rows sampled from a population of records (x, y), y in {0, 1}.

    theta_0 is the population's own maximum; V = -E[x x' p (1 - p)], p = 1/(1 + exp(-x' theta_0)).

    `population`: shape (N, p + 1), the rows (x, y); not separable.

    Source: van der Vaart (1998), theorem 5.21, at psi = x (y - p).

    >>> rows = [[0.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]]
    >>> print(logistic_expansion(rows).theta.round(4))
    [0.     0.6931]
    """
    x, y = _split(population)
    with exact_scope():
        fits = (LogisticRegression(k).estimate(jnp.asarray(population)) for k in (25, 26))
        theta, later = (np.asarray(fit, np.float64) for fit in fits)
    # Where there is no maximum every Newton step is of the same length.
    if not np.allclose(theta, later, rtol=1e-6, atol=1e-9):
        raise ValueError("population is separable; a logistic regression needs a population that is not")
    fitted = 1.0 / (1.0 + np.exp(-x @ theta))
    derivative = -(x * (fitted * (1 - fitted))[:, None]).T @ x / len(y)
    return _regression(x, y - fitted, theta, derivative, jax.nn.sigmoid)


def _split(population: object) -> tuple[np.ndarray, np.ndarray]:
    records = finite_matrix("population", population)
    if records.shape[1] < 2:
        raise ValueError(f"population has {records.shape[1]} column; it must hold rows (x, y)")
    with exact_scope():
        x, y = design(jnp.asarray(records))
        return np.asarray(x, np.float64), np.asarray(y, np.float64)


def _regression(
    x: np.ndarray, residual: np.ndarray, theta: np.ndarray, derivative: np.ndarray, link: Map
) -> Expansion:
    def psi(record: Array) -> Array:
        row, value = design(record[None, :])
        return row[0] * (value[0] - link(row[0] @ jnp.asarray(theta)))

    scaled = x * residual[:, None]
    return Expansion(theta, derivative, scaled.T @ scaled / len(residual), psi)
