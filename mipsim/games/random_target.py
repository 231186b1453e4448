"""The random-target (average) game."""

from collections.abc import Callable
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.games.base import AbstractMembershipGame, Round, as_law, check_game_records
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism


class RandomTarget(AbstractMembershipGame):
    """Draw n records and release; the target is a uniformly chosen record ("in") or a fresh draw ("out").

    Args:
        mechanism: an `AbstractMechanism`, or a function `(key, records) -> output`.
        data: the law of a record.
        n: the number of records, >= 2; n and d must suit the mechanism.

    Source: Azize & Basu (2025), algorithms 5 and 6; Yeom et al. (2018), experiment 1.

    Examples:
        >>> import mipsim as mi
        >>> mi.RandomTarget(mi.EmpiricalMean(), mi.Bernoulli([0.3, 0.6]), n=10).exact_round() is None
        False
    """

    SIZES: ClassVar[tuple[str, ...]] = ("n",)

    mechanism: AbstractMechanism
    data: AbstractDistribution
    n: int

    def __init__(
        self, mechanism: AbstractMechanism | Callable[..., Any], data: AbstractDistribution, n: int
    ) -> None:
        self.mechanism = as_mechanism(mechanism)
        self.data = as_law(data)
        self.mechanism.rows(n)
        self.n = int(n)
        check_game_records(self.mechanism, data)

    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        key_rows, key_place, key_release, key_fresh = jax.random.split(key, 4)
        records = self.data.sample(key_rows, self.n)
        place = jax.random.randint(key_place, (), 0, self.n)
        target = jnp.where(member, records[place], self.data.sample(key_fresh, 1)[0])
        return target, self.mechanism.release(key_release, records)

    def exact_round(self) -> Round | None:
        draw = self.mechanism.exact_draw()
        if draw is None or self.data.sum_sampler() is None:
            return None

        def play(key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
            # In the "in" world a uniformly chosen row is distributed as a fresh draw, and given it the others are as before.
            key_target, key_release = jax.random.split(key)
            target = self.data.sample(key_target, 1)[0]
            return target, draw(key_release, self.data, self.n, target, member)

        return play
