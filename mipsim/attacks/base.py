"""What every attack provides: a score, higher = "in"."""

from abc import abstractmethod

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float


def aimed_at(aim: np.ndarray | None, target: Float[Array, " d"], dimension: int) -> Float[Array, " d"]:
    """Return the point that an attack is aimed at: `aim`, or the game's target where it is None.

    Raises:
        ValueError: if the game's target has not the attack's dimension.
    """
    if jnp.shape(target) != (dimension,):
        raise ValueError(f"the game's target has shape {jnp.shape(target)}; the attack needs ({dimension},)")
    return jnp.asarray(target if aim is None else aim)


class AbstractAttack(eqx.Module):
    """A score of an output for a target. What the attack knows is its fields."""

    @abstractmethod
    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        """Return the score, a scalar; higher means that the target is more likely in. NaN is an error."""


class AbstractAdditiveAttack(AbstractAttack):
    """An attack whose score is `link(sum of one term per coordinate)`.

    The engine tabulates the terms where an output coordinate takes few values, which is what makes it fast.
    """

    @abstractmethod
    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        """Term j of the sum, a function of target_j and output_j only; -inf is allowed, NaN and +inf not."""

    @abstractmethod
    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        """Map the sum of the terms to the score; must be strictly increasing in the total."""

    def score(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, ""]:
        """Return link(sum of the contributions)."""
        return self.link(target, jnp.sum(self.contributions(target, output)))


class AbstractLinearAttack(AbstractAdditiveAttack):
    """An additive attack whose terms are linear: score = weights . output + offset."""

    @abstractmethod
    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """Coefficient of each output coordinate."""

    @abstractmethod
    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        """The constant term."""

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        """Term j is weights_j output_j."""
        return self.weights(target) * output

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        """Add the offset."""
        return total + self.offset(target)
