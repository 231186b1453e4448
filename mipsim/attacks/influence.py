"""The covariance score of a Z-estimator, by its influence function."""

from typing import ClassVar, Literal

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import choice, member, sample_size
from mipsim.attacks.base import AbstractLinearAttack
from mipsim.mechanisms.expansion import Expansion

Reading = Literal["corrected", "printed", "printed, V reversed"]


class InfluenceScore(AbstractLinearAttack):
    """I(z)' Sigma^-1 (thetahat - theta_0) - (1/2n) I(z)' Sigma^-1 I(z), I(z) = -V^-1 psi(z) of mean 0.

    Args:
        expansion: theta_0, V, E[psi psi'] and psi of the estimator.
        n: records behind the estimate, >= 2.
        reading: "corrected" is the score above. "printed" is the paper's: (I - theta_0)' V^-1 (thetahat - theta_0)
            - (1/2n) (I - theta_0)' V^-1 (I - theta_0) with I = V^-1 psi and V the derivative of E psi; "printed, V
            reversed" has -V in the place of V, as some authors define it.

    Source: Azize & Basu (2025), section 3, "MI games with Z-estimators"; the correction is derived in the register.

    Examples:
        >>> from mipsim.mechanisms.expansion import median_expansion
        >>> attack = InfluenceScore(median_expansion([0.0], [0.5]), n=100)
        >>> print(attack.score(np.array([3.0]), np.array([0.2])).round(4))
        0.195
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    expansion: Expansion
    precision: np.ndarray
    reading: str = eqx.field(static=True)
    n: int

    def __init__(self, expansion: Expansion, n: int, reading: Reading = "corrected") -> None:
        self.expansion = member(
            "expansion", expansion, Expansion, "an Expansion, as mean_expansion(data) gives"
        )
        self.n = sample_size(n)
        self.reading = choice("reading", reading, ("corrected", "printed", "printed, V reversed"))
        matrix = expansion.covariance if reading == "corrected" else expansion.derivative
        self.precision = np.linalg.inv(-matrix if reading == "printed, V reversed" else matrix)

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " k"]:
        """Coefficient of each coordinate of the estimate, shape (k,), the estimate's."""
        return self._point(target) @ self.precision

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        """-weights . theta_0 - weights . point / (2 n), the point being the influence as the reading has it."""
        w = self.weights(target)
        return -jnp.sum(w * self.expansion.theta) - jnp.sum(w * self._point(target)) / (2 * self.n)

    def _point(self, target: Float[Array, " d"]) -> Float[Array, " k"]:
        influence = self.expansion.influence(target)  # -V^-1 psi, which is the paper's I where V is reversed
        if self.reading == "corrected":
            return influence
        return (-influence if self.reading == "printed" else influence) - self.expansion.theta
