"""The gradient likelihood ratio attack."""

from itertools import pairwise
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.special import log_ndtr
from jaxtyping import Array, Float

from mipsim._validation import finite_matrix, finite_vector, flag, moments, sample_size
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.covariance import Moments
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.attacks.shrunk import ShrunkMoments

_ROWS = 600
"""Of a matrix at a time: in fewer a product is slow, and in more there are more of them."""


class GLiR(AbstractQuadraticAttack):
    """-n (m - theta)' Sigma^-1 (m - theta): near the target's gradient speaks for "in".

    For Gaussian gradients and no noise this ranks as the likelihood ratio does, so that for a single target no attack is
    stronger. Under H0 the quadratic form is chi2_d(n K), K = ||Sigma^-1/2 (theta - mu)||^2; the p-value that algorithm 1
    thresholds is its distribution function at that value, an increasing function of it for each target, which leaves the curve
    of a fixed target as it is. For targets of different K compare p-values: `GLiRPValue`.

    Args:
        data: the law of a gradient, or its moments, such as `ShrunkMoments`; its covariance Sigma is not singular.
        n: rows of the batch, >= 2.

    Source: Leemann et al. (2023), algorithm 1 (which prints n - 1 where n belongs) and appendix E.1.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Gaussian(np.zeros(2), np.array([1.0, 4.0]))
        >>> print(GLiR(data, n=10).score(np.array([1.0, 2.0]), np.zeros(2)))
        -20.0
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    n: int
    inverse: np.ndarray

    def __init__(self, data: Moments, n: int) -> None:
        self.n = sample_size(n)
        self.inverse = _inverse(data)

    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return target

    def metric(self, target: Float[Array, " d"]) -> Float[Array, "..."]:
        """The matrix n Sigma^-1: (d,) where the covariance is diagonal, else (d, d)."""
        return jnp.asarray(self.n * self.inverse)

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        return -square


class GLiRPValue(AbstractAttack):
    """-Phi^-1(p), p = F_{chi2_d(n K)}(S), S = n (m - theta)' Sigma^-1 (m - theta): the p-value of S under H0, which is comparable between targets.

    K = ||Sigma^-1/2 (theta - mu)||^2 differs from target to target, and with it the law of S. Algorithm 1 prints F^-1(S) where F(S) is
    meant, and n - 1 where n belongs. Phi^-1(p) is that of Sankaran's power of S / (d + n K), which is off by less than 1e-4 within six
    standard deviations where d >= 100 and n K >= 50 d.

    Args:
        data: the law of a gradient, or its moments, such as `ShrunkMoments`; its covariance Sigma is not singular.
        n: rows of the batch, >= 2.
        axes: orthonormal columns, shape (k, r): gradients are vectors of k coordinates side by side, such as the outputs of a last layer, which vary
            along these axes only, and `data` is the law of their coordinates along them. None: that of the gradients themselves.
        logarithm: the score is -log p, which algorithm 1 adds over the steps; it ranks a single step as -Phi^-1(p) does.

    Raises:
        ValueError: if Sigma is singular, or the axes are no orthonormal columns for it.

    Source: Leemann et al. (2023), algorithm 1; Sankaran (1963), "Approximations to the non-central chi-square distribution".

    Examples:
        >>> import mipsim as mi
        >>> attack = GLiRPValue(mi.Gaussian(0.0, 1.0, d=100), n=10)
        >>> print(attack.score(np.ones(100), np.zeros(100)).round(2), attack.score(np.ones(100), np.full(100, 0.2)).round(2))
        1.57 8.07
        >>> attack = GLiRPValue(mi.Gaussian(0.0, 1.0, d=100), n=10, axes=np.eye(200)[:, :100], logarithm=True)
        >>> print(attack.score(np.ones(200), np.zeros(200)).round(2))  # p = Phi(-1.57)
        2.84
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    n: int
    mean: np.ndarray
    inverse: tuple[np.ndarray, ...]  # as `_squares` reads it
    axes: np.ndarray | None
    degrees: int = eqx.field(static=True)
    logarithm: bool = eqx.field(static=True)

    def __init__(self, data: Moments, n: int, axes: object = None, logarithm: bool = False) -> None:
        self.n = sample_size(n)
        self.mean = finite_vector("data.mean", moments("data", data).mean)
        self.inverse = _from_the_diagonal(_inverse(data))
        self.degrees, self.logarithm = self.mean.size, flag("logarithm", logarithm)
        self.axes = None if axes is None else finite_matrix("axes", axes)
        if self.axes is not None:
            columns = self.axes.shape[1]
            if not np.allclose(self.axes.T @ self.axes, np.eye(columns), atol=1e-9):
                raise ValueError("axes has columns that are not orthonormal; axes' axes must be the identity")
            if self.degrees % columns:
                raise ValueError(
                    f"axes has {columns} columns; their number must divide the {self.degrees} coordinates of data"
                )

    def score(self, target: Float[Array, " D"], output: Float[Array, " D"]) -> Float[Array, ""]:
        if self.axes is not None:
            target, output = (along(gradient, self.axes) for gradient in (target, output))
            if target.shape != self.mean.shape:
                raise ValueError(
                    f"target has shape {target.shape} along axes; it must have {self.mean.shape}, as data has"
                )
        # Both at once, for a large matrix is read once more for each product.
        statistic, susceptibility = self._squares(jnp.stack([output - target, target - self.mean]))
        d = self.degrees
        mean, half_variance = d + susceptibility, d + 2.0 * susceptibility
        power = 1.0 - 2.0 * mean * (d + 3.0 * susceptibility) / (3.0 * half_variance**2)
        p, m = half_variance / mean**2, (power - 1.0) * (1.0 - 3.0 * power)
        centre = 1.0 + power * p * (power - 1.0 - 0.5 * (2.0 - power) * m * p)
        spread = power * jnp.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
        probit = ((statistic / mean) ** power - centre) / spread
        return -log_ndtr(probit) if self.logarithm else -probit

    def _squares(self, away: Float[Array, "2 D"]) -> Float[Array, "2"]:
        total, first = jnp.zeros(2), 0
        for rows in self.inverse:
            rest = away[:, first:]
            pulled = rows * rest if rows.ndim == 1 else rest @ rows.T
            total += jnp.sum(rest[:, : len(rows)] * pulled, axis=1)
            first += len(rows)
        return self.n * total


def along(gradients: Any, axes: Any) -> Any:
    """The coordinates of gradients, shape (..., m k), along axes of shape (k, r) of each of their m parts: shape (..., m r).
    >>> along(np.array([1.0, 2.0, 3.0, 4.0]), np.array([[0.6], [0.8]]))
    array([2.2, 5. ])
    """
    lead = gradients.shape[:-1]
    return (gradients.reshape(*lead, -1, len(axes)) @ axes).reshape(*lead, -1)


def _inverse(data: Moments) -> np.ndarray:
    moments("data", data)
    if isinstance(data, ShrunkMoments):  # which is positive definite
        return data.inverse_matrix()
    covariance = np.asarray(data.covariance, np.float64)
    if not _is_positive_definite(covariance):
        raise ValueError(
            "data has a singular covariance; it must be positive definite to be inverted: ShrunkMoments regularises it"
        )
    return 1.0 / covariance if covariance.ndim == 1 else np.linalg.inv(covariance)


def _from_the_diagonal(inverse: np.ndarray) -> tuple[np.ndarray, ...]:
    """Rows of a matrix, some at a time, each from the block on the diagonal on, with what lies below that block added to what is beyond it.

    A quadratic form needs no more: the products are about half as many. Of a diagonal matrix the diagonal.
    """
    if inverse.ndim == 1:
        return (inverse,)
    edges = np.linspace(0, len(inverse), -(-len(inverse) // _ROWS) + 1).astype(int)
    blocks = []
    for first, end in pairwise(edges):
        blocks.append(inverse[first:end, first:].copy())
        blocks[-1][:, end - first :] += inverse[end:, first:end].T
    return tuple(blocks)


def _is_positive_definite(covariance: np.ndarray) -> bool:
    """Whether a covariance, or the variances of a diagonal covariance, can be inverted in float64."""
    if not np.isfinite(covariance).all():
        return False
    if covariance.ndim == 1:
        return bool((covariance > 0.0).all())
    values = np.linalg.eigvalsh(covariance)
    return bool(values[0] > 1e-14 * values[-1])
