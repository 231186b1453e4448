"""A mechanism that answers a single question about its records: an extreme example of Izzo et al. (2024)."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import finite_vector, number, whole
from mipsim.mechanisms.base import AbstractMechanism


class RandomizedResponse(AbstractMechanism):
    """Answer "is this point among the records?" as revealingly as (epsilon, delta)-DP allows.

    The output is a code among four: 0 "certainly not" and 3 "certainly" with probability delta each where true, else 2
    (or 1) with probability (1 - delta)/(1 + e^-epsilon) where the point is (or is not) among the records, and the
    other of the two with the rest. With delta = 0 it is Warner's randomised response.

    Args:
        point: shape (d,); equality is exact.
        epsilon: >= 0.
        delta: in [0, 1].

    Source: Izzo, Yoon, Arik, Zou (2024), theorem 4 (tightness); Kairouz, Oh, Viswanath (2015); Warner (1965).

    Examples:
        >>> import jax
        >>> answer = RandomizedResponse([0.0], epsilon=1.0, delta=1.0)
        >>> print(*(answer.release(jax.random.key(0), np.array([[x]])) for x in (0.0, 1.0)))
        3.0 0.0
        >>> print(RandomizedResponse([0.0], epsilon=float(np.log(3.0))).law(True).round(3))
        [0.   0.25 0.75 0.  ]
    """

    point: np.ndarray = eqx.field(converter=partial(finite_vector, "point"))
    epsilon: float = eqx.field(static=True)
    delta: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        number("epsilon", self.epsilon, 0.0)
        number("delta", self.delta, 0.0, 1.0)

    def law(self, present: bool) -> np.ndarray:
        """Probabilities of the codes 0, 1, 2, 3, shape (4,)."""
        likely = (1.0 - self.delta) / (1.0 + np.exp(-self.epsilon))
        unlikely = (1.0 - self.delta) / (1.0 + np.exp(min(self.epsilon, 700.0)))
        table = np.array([0.0, unlikely, likely, self.delta])
        return table if present else table[::-1].copy()

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        present = jnp.any(jnp.all(records == self.point, axis=-1))
        odds = jnp.where(present, jnp.asarray(self.law(True)), jnp.asarray(self.law(False)))
        return jnp.sum(jax.random.uniform(key) >= jnp.cumsum(odds)[:3]).astype(odds.dtype)

    def rows(self, n: int) -> int:
        return whole("n", n, 1)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        if self.point.shape[0] != dimension:
            raise ValueError(
                f"point has dimension {self.point.shape[0]}; it must be that of the data, {dimension}"
            )
        return ()
