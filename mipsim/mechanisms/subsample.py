"""Sub-sampling of the records before another mechanism."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from mipsim._validation import number, sample_size
from mipsim._words import kind_of
from mipsim.distributions.base import AbstractDistribution, Member, Row
from mipsim.mechanisms.base import AbstractMechanism, ExactDraw
from mipsim.mechanisms.function import as_base
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.release import Release
from mipsim.mechanisms.sgd_step import SGDStep


class Subsampled(AbstractMechanism):
    """base applied to k = sampling_rate n rows sampled uniformly without replacement.

    Args:
        base: the mechanism that sees the k rows, or a function `(key, records) -> output`.
        sampling_rate: the share of rows sampled, in (0, 1]; sampling_rate n must be whole.

    Source: Azize & Basu (2025), theorem 4.2.

    Examples:
        >>> Subsampled(EmpiricalMean(), 0.1).rows(1000)
        100
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    sampling_rate: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        number("sampling_rate", self.sampling_rate, 0.0, 1.0, low_open=True)

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        key_rows, key_base = jax.random.split(key)
        n = records.shape[0]
        chosen = jax.random.choice(key_rows, n, (self.sampled_rows(n),), replace=False)
        return self.base.release(key_base, records[chosen])

    def rows(self, n: int) -> int:
        sample_size(n, self.sampling_rate)
        return self.base.rows(self.sampled_rows(n))

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return self.base.output_shape(dimension)

    def sampled_rows(self, n: int) -> int:
        """How many of n rows are sampled."""
        return round(self.sampling_rate * n)

    def exact_draw(self) -> ExactDraw | None:
        draw = self.base.exact_draw()
        if draw is None:
            return None

        def sampled(
            key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member
        ) -> Array:
            # The target, if a member, is among the k rows with probability sampling_rate exactly.
            key_coin, key_base = jax.random.split(key)
            retained = self.sampled_rows(n)
            among = jnp.logical_and(member, jax.random.randint(key_coin, (), 0, n) < retained)
            return draw(key_base, data, retained, target, among)

        return sampled

    def mean_of_rows(self, n: int) -> Release | None:
        retained = self.sampled_rows(n)
        inner = self.base.mean_of_rows(retained)
        return inner and replace(inner, inclusion=inner.inclusion * (retained / n))


class PoissonSubsampled(AbstractMechanism):
    """The sum of the rows included by independent coins, divided by the expected number sampling_rate n.

    Dividing by the expected size, as DP-SGD does, keeps the output defined when no row is included. Below it stands the empirical
    mean, or an `SGDStep`, whose noise is then noise_multiplier x clip on the sum of the clipped rows that were included: a step of
    DP-SGD on a Poisson sample.

    Args:
        base: `EmpiricalMean()` or an `SGDStep`.
        sampling_rate: the probability that a row is included, in (0, 1].

    Source: Abadi et al. (2016), algorithm 1.

    Examples:
        >>> PoissonSubsampled(EmpiricalMean(), 0.5).rows(10), PoissonSubsampled(SGDStep(1.0, 2.0), 0.5).rows(10)
        (10, 10)
    """

    base: AbstractMechanism = eqx.field(converter=as_base)
    sampling_rate: float = eqx.field(static=True)

    def __check_init__(self) -> None:
        number("sampling_rate", self.sampling_rate, 0.0, 1.0, low_open=True)
        if not isinstance(self.base, (EmpiricalMean, SGDStep)):
            raise ValueError(
                f"base is {kind_of(self.base)}; PoissonSubsampled takes EmpiricalMean() or an SGDStep"
            )

    def release(self, key: PRNGKeyArray, records: Float[Array, "n d"]) -> Array:
        key_coins, key_base = jax.random.split(key)
        retained = jax.random.bernoulli(key_coins, self.sampling_rate, (records.shape[0], 1))
        return self.base.release(key_base, jnp.where(retained, records, 0.0)) / self.sampling_rate

    def rows(self, n: int) -> int:
        return self.base.rows(n)

    def output_shape(self, dimension: int) -> tuple[int, ...] | None:
        return self.base.output_shape(dimension)

    def exact_draw(self) -> ExactDraw | None:
        if not isinstance(self.base, EmpiricalMean):
            return None  # a clipped step needs its rows
        rate = self.sampling_rate

        def sum_by_coins(
            key: PRNGKeyArray, data: AbstractDistribution, n: int, target: Row, member: Member
        ) -> Array:
            draw_sum = data.sum_sampler()
            assert draw_sum is not None  # a game with an exact law has data whose sums have an exact law
            key_count, key_coin, key_rest, key_row = jax.random.split(key, 4)
            # How many of the other n - 1 rows are included, and whether the target or the row in its place is: the rows that are
            # included are as any others.
            retained = jnp.asarray(n - 1.0) if rate == 1.0 else jax.random.binomial(key_count, n - 1.0, rate)
            row = jnp.where(member, target, data.sample(key_row, 1)[0])
            own = jax.random.uniform(key_coin) < rate
            return (draw_sum(key_rest, retained) + jnp.where(own, row, 0.0)) / (rate * n)

        return sum_by_coins

    def mean_of_rows(self, n: int) -> Release | None:
        inner, rate = self.base.mean_of_rows(n), self.sampling_rate
        return inner and replace(inner, rate=rate * inner.rate, variance=np.asarray(inner.variance / rate**2))
