"""The fixed-target game."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import finite_vector
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.games.base import AbstractMembershipGame, Round, as_law, check_game_records
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism


class FixedTarget(AbstractMembershipGame):
    """Draw n records; in the "in" world replace a uniformly chosen record by the target; release.

    Args:
        mechanism: an `AbstractMechanism`, or a function `(key, records) -> output`.
        data: the law of a record.
        n: the number of records, >= 2; n and d must suit the mechanism.
        target: the point z*, shape (d,).

    Source: Azize & Basu (2025), algorithms 1 and 2; Ye et al. (2022), definition 3.3.

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> print(mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=data.easiest_target()).target)
        [1. 0.]
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    mechanism: AbstractMechanism
    data: AbstractDistribution
    n: int
    target: np.ndarray

    def __init__(
        self,
        mechanism: AbstractMechanism | Callable[..., Any],
        data: AbstractDistribution,
        n: int,
        target: object,
    ) -> None:
        self.mechanism = as_mechanism(mechanism)
        self.data = as_law(data)
        self.mechanism.rows(n)
        self.n = int(n)
        self.target = finite_vector("target", target, data.dimension)
        check_game_records(self.mechanism, data, self.target)

    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        return jnp.asarray(self.target), self.mechanism.release(*self.records(key, member))

    def records(self, key: PRNGKeyArray, member: Member) -> tuple[PRNGKeyArray, Float[Array, "n d"]]:
        """What a round gives to the mechanism: a key, and the records.

        Examples:
            >>> import jax, mipsim as mi
            >>> game = mi.FixedTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3, 0.6]), n=10, target=[9.0, 9.0])
            >>> records = [game.records(jax.random.key(0), member)[1] for member in (False, True)]
            >>> print((records[0] != records[1]).sum(axis=0))  # the target replaces a single record
            [1 1]
        """
        key_rows, key_place, key_release = jax.random.split(key, 3)
        records = self.data.sample(key_rows, self.n)
        place = jax.random.randint(key_place, (), 0, self.n)
        entered = member & (jnp.arange(self.n) == place)  # chosen row by row: the records need not be stored
        return key_release, jnp.where(entered[:, None], self.target, records)

    def exact_round(self) -> Round | None:
        draw = self.mechanism.exact_draw()
        if draw is None or self.data.sum_sampler() is None:
            return None

        def play(key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
            target = jnp.asarray(self.target)
            return target, draw(key, self.data, self.n, target, member)

        return play
