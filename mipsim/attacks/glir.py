"""The gradient likelihood ratio attack."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import sample_size
from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.base import AbstractDistribution


class GLiR(AbstractQuadraticAttack):
    """-n (m - theta)' C^-1 (m - theta): near the target's gradient speaks for "in".

    For Gaussian gradients and no noise this ranks as the likelihood ratio does, so that for one target no attack is
    stronger. Under H0 the quadratic form is chi2_d(n K), K = ||C^-1/2 (theta - mu)||^2; the p-value that algorithm 1
    thresholds is its distribution function at that value, an increasing function of it for each target, which leaves the curve
    of a fixed target as it is. For targets of different K compare p-values: `mipsim.theory.leemann.step_log_p_value`.

    Args:
        data: the law of one gradient, known or estimated; its covariance C is not singular.
        n: rows of the batch, >= 2.

    Source: Leemann et al. (2023), algorithm 1 (which prints n - 1 where n belongs) and appendix E.1.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Gaussian(np.zeros(2), np.array([1.0, 4.0]))
        >>> print(GLiR(data, n=10).score(np.array([1.0, 2.0]), np.zeros(2)))
        -20.0
    """

    n: int = eqx.field(static=True)
    inverse: np.ndarray

    def __init__(self, data: AbstractDistribution, n: int) -> None:
        covariance = data.covariance
        if covariance.ndim == 2 and np.linalg.cond(covariance) > 1e14:
            raise ValueError("data has a singular covariance; it must be positive definite to be inverted")
        self.n = sample_size(n)
        self.inverse = 1.0 / covariance if covariance.ndim == 1 else np.linalg.inv(covariance)

    def centre(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return target

    def metric(self, target: Float[Array, " d"]) -> Float[Array, "..."]:
        """The matrix n C^-1: (d,) where the covariance is diagonal, else (d, d)."""
        return jnp.asarray(self.n * self.inverse)

    def value(self, target: Float[Array, " d"], square: Float[Array, ""]) -> Float[Array, ""]:
        return -square
