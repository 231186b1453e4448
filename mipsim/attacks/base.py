"""What every attack provides: a score, higher = "in"."""

from abc import abstractmethod
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._family import AbstractMember


def aimed_at(aim: np.ndarray | None, target: Float[Array, " d"], dimension: int) -> Float[Array, " d"]:
    """Return the point that an attack is aimed at: `aim`, or the game's target where it is None."""
    if jnp.shape(target) != (dimension,):
        raise ValueError(f"the game's target has shape {jnp.shape(target)}; the attack needs ({dimension},)")
    return jnp.asarray(target if aim is None else aim)


class AbstractAttack(AbstractMember):
    """A score of an output for a target. What the attack knows is its fields.

    Source: Azize & Basu (2025), section 2.

    Examples:
        >>> class Distance(AbstractAttack):
        ...     def score(self, target, output):
        ...         return -jnp.sum((output - target) ** 2)
        >>> print(Distance().score(np.ones(2), np.zeros(2)))
        -2.0
    """

    FLOAT64: ClassVar[tuple[str, ...]] = (
        "score",
        "weights",
        "offset",
        "contributions",
        "link",
        "centre",
        "metric",
        "value",
    )

    @abstractmethod
    def score(self, target: Float[Array, " d"], output: Array) -> Float[Array, ""]:
        """Return the score, a scalar; higher means that the target is more likely in. NaN is an error."""


class AbstractAdditiveAttack(AbstractAttack):
    """An attack whose score is `link(sum of a term per coordinate)`.

    The engine tabulates the terms where an output coordinate takes few values, which is what makes it fast.

    Source: standard; for product data the log-likelihood ratio has this form, with the identity as the link.

    Examples:
        >>> class Distance(AbstractAdditiveAttack):
        ...     def contributions(self, target, output):
        ...         return -((output - target) ** 2)
        ...
        ...     def link(self, target, total):
        ...         return total
        >>> print(Distance().score(np.ones(2), np.zeros(2)))
        -2.0
    """

    OPTIONAL: ClassVar[tuple[str, ...]] = ("offsets",)

    def offsets(self, target: np.ndarray) -> np.ndarray | None:
        """What each coordinate of the target adds to the offset, float64, shape (d,); None where that is not known.

        It is known if the score at any target is a function, the same for all targets, of a sum over coordinates whose term j
        depends on target_j and output_j alone. Weights and offset do not show that: a full covariance matrix mixes the coordinates.
        """
        return None

    @abstractmethod
    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        """Term j of the sum, a function of target_j and output_j only; -inf is allowed, NaN and +inf not."""

    @abstractmethod
    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        """Map the sum of the terms to the score; must be strictly increasing in the total."""

    def score(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, ""]:
        return self.link(target, jnp.sum(self.contributions(target, output)))


class AbstractLinearAttack(AbstractAdditiveAttack):
    """An additive attack whose terms are linear: score = weights . output + offset.

    Source: standard; the scalar product and the covariance score of Azize & Basu (2025) are of this form.

    Examples:
        >>> class Sum(AbstractLinearAttack):
        ...     def weights(self, target):
        ...         return jnp.ones_like(target)
        ...
        ...     def offset(self, target):
        ...         return -jnp.sum(target)
        >>> print(Sum().score(np.ones(2), np.array([0.5, 1.0])))
        -0.5
    """

    @abstractmethod
    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        """Coefficient of each output coordinate."""

    @abstractmethod
    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        """The constant term."""

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        return self.weights(target) * output

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        return total + self.offset(target)
