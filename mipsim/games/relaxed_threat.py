"""The relaxed threat model: the attacker knows the data set without the record, and not the record."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._memory import fits_memory
from mipsim._precision import exact_scope, in_users_precision, users_precision
from mipsim._validation import finite_matrix, finite_vector, member, number, whole
from mipsim.distributions.base import AbstractDistribution, Member
from mipsim.distributions.empirical import Empirical
from mipsim.games.base import AbstractMembershipGame
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.function import FunctionMechanism


class RelaxedThreat(AbstractMembershipGame):
    """Release query(D) + noise ("out") or query(D and the record) + noise ("in"), D fixed and known.

    The attacker is not handed the record but what it can compute, query(D): that is the first argument of the attack's score.
    Given D nothing is random but the noise and, where the record takes part by a coin, that coin. With `shadows`, the output
    is a matrix: the release in row 0, then that many releases of D alone that the attacker makes for comparison.

    Args:
        query: a function `records -> answer` of shape (k,), for any number of rows, deterministic; evaluated outside of the games,
            in the precision of your own process (`jax.enable_x64`).
        records: D, shape (n, d), n >= 2, no constant column.
        record: the record, shape (d,), which is added to D.
        noise: the law of the noise, of dimension k.
        sampling_rate: the probability that the record takes part, in (0, 1].
        shadows: releases of D that the attacker makes, >= 0.

    Attributes:
        data: the law of a uniformly chosen row of D.
        known: query(D), shape (k,).
        shift: query(D and the record) - query(D), shape (k,); its norm is at most the sensitivity.
        precision: in which the query was evaluated.

    Source: Kaissis et al. (2023), section 3, the security game.

    Examples:
        >>> import mipsim as mi
        >>> game = RelaxedThreat(lambda rows: rows.sum(axis=0), [[0.0], [1.0]], [2.0], mi.Gaussian(0.0, 1.0, d=1))
        >>> print(game.known, game.shift, game.play(jax.random.key(0), True)[0])
        [1.] [2.] [1.]
    """

    mechanism: AbstractMechanism
    data: AbstractDistribution
    n: int = eqx.field(static=True)
    record: np.ndarray
    noise: AbstractDistribution
    known: np.ndarray
    shift: np.ndarray
    sampling_rate: float = eqx.field(static=True)
    shadows: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __init__(
        self,
        query: Callable[[Array], Array],
        records: object,
        record: object,
        noise: AbstractDistribution,
        *,
        sampling_rate: float = 1.0,
        shadows: int = 0,
    ) -> None:
        member("query", query, Callable, "callable(records)")
        rows = finite_matrix("records", records)
        self.data = Empirical(rows, covariance="diagonal")
        self.n = len(rows)
        self.record = finite_vector("record", record, rows.shape[1])
        self.noise = member(
            "noise", noise, AbstractDistribution, "a distribution, such as Gaussian(0.0, 1.0)"
        )
        self.sampling_rate = number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
        self.shadows = whole("shadows", shadows, 0)
        fits_memory((1 + self.shadows) * noise.dimension, shadows=self.shadows)
        self.precision = users_precision()
        with exact_scope():
            without, again, within = (
                in_users_precision(query, jnp.asarray(r))
                for r in (rows, rows, np.vstack([rows, self.record]))
            )
        self.known = finite_vector("query(records)", without, noise.dimension)
        if not np.array_equal(self.known, np.asarray(again)):
            raise ValueError(
                "query gives two answers for the same records; it must be deterministic: its noise is the argument noise"
            )
        self.shift = finite_vector("query(records and the record)", within, noise.dimension) - self.known
        self.mechanism = FunctionMechanism(_Noisy(query, noise))

    def play(self, key: PRNGKeyArray, member: Member) -> tuple[Float[Array, " k"], Array]:
        """Play a round; returns (query(D), output), the output of shape (k,) or (1 + shadows, k)."""
        key_coin, key_noise = jax.random.split(key)
        moved = jnp.logical_and(member, jax.random.uniform(key_coin) < self.sampling_rate)
        releases = jnp.asarray(self.known) + self.noise.sample(key_noise, 1 + self.shadows)
        releases = releases.at[0].add(jnp.where(moved, self.shift, 0.0))
        return jnp.asarray(self.known), releases if self.shadows else releases[0]


class _Noisy:
    """query(records) + noise, as a mechanism's function."""

    def __init__(self, query: Callable[[Array], Array], noise: AbstractDistribution) -> None:
        self.query = query
        self.noise = noise

    def __call__(self, key: PRNGKeyArray, records: Array) -> Array:
        return self.query(records) + self.noise.sample(key, 1)[0]
