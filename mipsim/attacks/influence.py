"""The covariance score of a Z-estimator, by its influence function."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import member, sample_size
from mipsim.attacks.base import AbstractLinearAttack
from mipsim.mechanisms.expansion import Expansion


class InfluenceScore(AbstractLinearAttack):
    """I(z)' Sigma^-1 (thetahat - theta_0) - (1/2n) I(z)' Sigma^-1 I(z), I(z) = -V^-1 psi(z) of mean 0.

    Args:
        expansion: theta_0, V, E[psi psi'] and psi of the estimator.
        n: records behind the estimate, >= 2.

    Source: Azize & Basu (2025), section 3, "MI games with Z-estimators"; the correction is derived in the register.

    Examples:
        >>> from mipsim.mechanisms.expansion import Expansion
        >>> median = Expansion([0.0], [[-1.0]], [[1.0]], jnp.sign)  # of a normal law with variance 2 / pi
        >>> print(InfluenceScore(median, n=100).score(np.array([3.0]), np.array([0.2])).round(4))
        0.195
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    expansion: Expansion
    precision: np.ndarray
    n: int

    def __init__(self, expansion: Expansion, n: int) -> None:
        self.expansion = member(
            "expansion", expansion, Expansion, "an Expansion, as least_squares_expansion(rows) gives"
        )
        self.n = sample_size(n)
        self.precision = np.linalg.inv(expansion.covariance)

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " k"]:
        """Coefficient of each coordinate of the estimate, shape (k,), the estimate's."""
        return self.expansion.influence(target) @ self.precision

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        """-weights . theta_0 - weights . I(z) / (2 n)."""
        w = self.weights(target)
        return -jnp.sum(w * self.expansion.theta) - jnp.sum(w * self.expansion.influence(target)) / (
            2 * self.n
        )
