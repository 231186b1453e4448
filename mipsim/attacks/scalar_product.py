"""The scalar-product attack."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mipsim._validation import finite_vector
from mipsim.attacks.base import AbstractLinearAttack, aimed_at


class ScalarProduct(AbstractLinearAttack):
    """(z - z_ref)' output.

    Args:
        reference: a reference point z_ref, shape (d,).
        target: the point the attack is aimed at, shape (d,); None = the target of each game.

    Source: Dwork, Smith, Steinke, Ullman, Vadhan (2015); Azize & Basu (2025), appendix B.5.

    Examples:
        >>> import numpy as np
        >>> print(ScalarProduct([0.0, 1.0]).score(np.ones(2), np.array([0.25, 0.5])))
        0.25
    """

    reference: np.ndarray
    aim: np.ndarray | None

    def __init__(self, reference: object, target: object = None) -> None:
        self.reference = finite_vector("reference", reference)
        self.aim = None if target is None else finite_vector("target", target, self.reference.shape[0])

    def weights(self, target: Float[Array, " d"]) -> Float[Array, " d"]:
        return aimed_at(self.aim, target, self.reference.shape[0]) - self.reference

    def offset(self, target: Float[Array, " d"]) -> Float[Array, ""]:
        return jnp.zeros(())

    def offsets(self, target: np.ndarray) -> np.ndarray | None:
        return np.zeros_like(target) if self.aim is None else None
