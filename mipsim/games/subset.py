"""The subset game: the training set is a uniformly chosen half of a finite data set."""

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import finite_matrix, whole
from mipsim._words import quoted
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.distributions.empirical import Empirical
from mipsim.games.base import AbstractMembershipGame, check_game_records
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import as_mechanism


class Subset(AbstractMembershipGame):
    """Draw half of the n records, with the target among them ("in") or not ("out"); release from that half.

    Given y* = 1{x* in D_train}, the other members are uniform among the other records, which is how the two worlds are
    played. The mechanism sees the half in the order of the data set, so that the order tells nothing.

    Args:
        mechanism: an `AbstractMechanism`, or a function `(key, records) -> output` of records of shape (n/2, d).
        records: the data set, shape (n, d), n even and >= 2, no constant column; equal rows are different records.
        target: the index of x* in the records, 0 <= target < n.

    Attributes:
        records: the data set, shape (n, d).
        data: the law of a uniformly chosen record.
        place: the index of x*.

    Source: Izzo, Yoon, Arik, Zou (2024), definition 1, with k = n/2.

    Examples:
        >>> import jax, mipsim as mi
        >>> game = mi.Subset(mi.EmpiricalMean(), [[1.0], [2.0], [4.0], [8.0]], target=3)
        >>> [float(game.play(jax.random.key(1), member)[1][0]) < 4 for member in (False, True)]  # without and with the 8
        [True, False]
        >>> mi.Subset(mi.EmpiricalMean(), [[1.0], [2.0], [4.0]], target=0)
        Traceback (most recent call last):
        ...
        ValueError: records has 3 rows; their number must be even, since the training set is half of them
    """

    mechanism: AbstractMechanism
    data: AbstractDistribution
    records: np.ndarray
    n: int = eqx.field(static=True)
    place: int = eqx.field(static=True)

    def __init__(
        self, mechanism: AbstractMechanism | Callable[..., Any], records: object, target: int
    ) -> None:
        self.mechanism = as_mechanism(mechanism)
        rows = finite_matrix("records", records)
        if len(rows) % 2:
            raise ValueError(
                f"records has {len(rows)} rows; their number must be even, since the training set is half of them"
            )
        self.place = whole("target", target, 0)
        if self.place >= len(rows):
            raise ValueError(
                f"target is {quoted(self.place)}; it must be the index of a record, 0 to {len(rows) - 1}"
            )
        self.records = rows
        self.data = Empirical(rows, covariance="diagonal")
        self.n = len(rows)
        # A mechanism that draws from its records says here that it cannot; a single record is always allowed.
        if self.n >= 4:
            self.mechanism.rows(self.n // 2)
        check_game_records(self.mechanism, self.data)

    @property
    def target(self) -> np.ndarray:
        """The record x*, shape (d,)."""
        return self.records[self.place].copy()

    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " d"], Array]:
        key_half, key_release = jax.random.split(key)
        order = jax.random.uniform(key_half, (self.n,))
        # The target comes first or last in the random order; the first half of the order is the training set.
        order = order.at[self.place].set(jnp.where(member, -1.0, 2.0))
        chosen = jnp.sort(jnp.argsort(order)[: self.n // 2])
        records = jnp.asarray(self.records)
        return records[self.place], self.mechanism.release(key_release, records[chosen])
