"""The gradient likelihood ratio attack."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import finite_vector, sample_size
from mipsim.attacks.base import AbstractAttack
from mipsim.attacks.covariance import Moments
from mipsim.attacks.quadratic import AbstractQuadraticAttack


class GLiR(AbstractQuadraticAttack):
    """-n (m - theta)' C^-1 (m - theta): near the target's gradient speaks for "in".

    For Gaussian gradients and no noise this ranks as the likelihood ratio does, so that for one target no attack is
    stronger. Under H0 the quadratic form is chi2_d(n K), K = ||C^-1/2 (theta - mu)||^2; the p-value that algorithm 1
    thresholds is its distribution function at that value, an increasing function of it for each target, which leaves the curve
    of a fixed target as it is. For targets of different K compare p-values: `GLiRPValue`, or `mipsim.theory.leemann.step_log_p_value`.

    Args:
        data: the law of one gradient, or its moments, such as `ShrunkMoments`; its covariance C is not singular.
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
        """The matrix n C^-1: (d,) where the covariance is diagonal, else (d, d)."""
        return jnp.asarray(self.n * self.inverse)

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        return -square


class GLiRPValue(AbstractAttack):
    """-Phi^-1(p), p = F_{chi2_d(n K)}(S), S = n (m - theta)' C^-1 (m - theta): the p-value of S under H0, which is comparable between targets.

    K = ||C^-1/2 (theta - mu)||^2 differs from target to target, and with it the law of S. Algorithm 1 prints F^-1(S) where F(S) is
    meant, and n - 1 where n belongs. Phi^-1(p) is that of Sankaran's power of S / (d + n K), which is off by less than 1e-4 within six
    standard deviations where d >= 100 and n K >= 50 d.

    Args:
        data: the law of one gradient, or its moments, such as `ShrunkMoments`; its covariance C is not singular.
        n: rows of the batch, >= 2.

    Source: Leemann et al. (2023), algorithm 1; Sankaran (1963), "Approximations to the non-central chi-square distribution".

    Examples:
        >>> import mipsim as mi
        >>> attack = GLiRPValue(mi.Gaussian(0.0, 1.0, d=100), n=10)
        >>> print(attack.score(np.ones(100), np.zeros(100)).round(2), attack.score(np.ones(100), np.full(100, 0.2)).round(2))
        1.57 8.07
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    n: int
    mean: np.ndarray
    inverse: np.ndarray

    def __init__(self, data: Moments, n: int) -> None:
        self.n = sample_size(n)
        self.mean = finite_vector("data.mean", data.mean)
        self.inverse = _inverse(data)

    def score(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, ""]:
        d, statistic, susceptibility = (
            self.mean.size,
            self._square(output - target),
            self._square(target - self.mean),
        )
        mean, half_variance = d + susceptibility, d + 2.0 * susceptibility
        power = 1.0 - 2.0 * mean * (d + 3.0 * susceptibility) / (3.0 * half_variance**2)
        p, m = half_variance / mean**2, (power - 1.0) * (1.0 - 3.0 * power)
        centre = 1.0 + power * p * (power - 1.0 - 0.5 * (2.0 - power) * m * p)
        spread = power * jnp.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
        return -((statistic / mean) ** power - centre) / spread

    def _square(self, away: Float[Array, " d"]) -> Float[Array, ""]:
        pulled = self.inverse * away if self.inverse.ndim == 1 else self.inverse @ away
        return self.n * jnp.sum(away * pulled)


def _inverse(data: Moments) -> np.ndarray:
    covariance = np.asarray(data.covariance, np.float64)
    if covariance.ndim == 2 and np.linalg.cond(covariance) > 1e14:
        raise ValueError(
            "data has a singular covariance; it must be positive definite to be inverted: ShrunkMoments regularises one"
        )
    return 1.0 / covariance if covariance.ndim == 1 else np.linalg.inv(covariance)
