"""The empirical mean."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import sample_size
from mipsim.distributions.base import AbstractDistribution, Member, Row
from mipsim.mechanisms.base import AbstractMechanism, ExactDraw
from mipsim.mechanisms.release import Release


class EmpiricalMean(AbstractMechanism):
    """(1/n) sum_i Z_i, without noise.

    Source: Azize & Basu (2025), section 3.

    Examples:
        >>> import jax, numpy as np
        >>> print(EmpiricalMean().release(jax.random.key(0), np.array([[0.0, 1.0], [1.0, 1.0]])))
        [0.5 1. ]
    """

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Float[Array, " d"]:
        return jnp.mean(records, axis=0)

    def rows(self, n: int) -> int:
        return sample_size(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return (dimension,)

    def mean_of_rows(self, n: int) -> Release | None:
        return Release(n)

    def exact_draw(self) -> ExactDraw | None:
        return _draw_mean


def _draw_mean(key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member) -> Row:
    """Sum n - 1 rows from their exact law, then add the target or a fresh record."""
    draw_sum = data.sum_sampler()
    if draw_sum is None:
        raise ValueError(f"{type(data).__name__} data have no exact law of a sum; draw the records")
    key_rest, key_row = jax.random.split(key)
    row = jnp.where(member, target, data.sample(key_row, 1)[0])
    return (draw_sum(key_rest, n - 1) + row) / n
