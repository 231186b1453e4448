"""A linear score of records drawn from a finite list: every record is reduced to a number once."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.distributions.empirical import Empirical
from mipsim.engine.random.counter import Draws, normals, words_of
from mipsim.engine.samplers.base import BLOCK, AbstractSampler, Coin
from mipsim.forms.release import mean_of
from mipsim.forms.score import line_at
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget

_MOST_RECORDS = 2**20  # a longer list is played literally: its table would leave the cache


class RecordSumSampler(AbstractSampler):
    """A linear score of records drawn from a finite list: every record is projected once, a game sums n numbers.

    The numbers are whole multiples of `unit`, so that their sum does not depend on its order. An index is the upper part
    of a 32-bit word times N: each record comes up with probability 1/N to within 2^-32.

    Attributes:
        values: what each record adds to the score, in units of `unit`, int64, shape (N,).
        target_value: what the target adds.
        unit, offset: the score is offset + unit x sum.
        noise: standard deviation of Gaussian noise in the score.
        coin: as in `NormalSampler`.
        rows: how many records are summed.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "records"
    values: Int[Array, " N"]
    target_value: Int[Array, ""]
    unit: Float[Array, ""]
    offset: Float[Array, ""]
    noise: Float[Array, ""]
    coin: Coin
    rows: int = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        words = words_of(draws)

        def add(group: Array, total: Array) -> Array:
            return total + sum(self._value(word) for word in words(group))

        groups, left = divmod(self.rows - 1, 4)
        total = jax.lax.fori_loop(0, groups, add, jnp.zeros(draws.games.shape, jnp.int64))
        # The last one to four records: of them the final one gives way to the target.
        last = words(groups)
        total = sum((self._value(word) for word in last[:left]), total)
        total = total + jnp.where(side == 1, self.target_value, self._value(last[left]))
        score = self.offset + self.unit * total.astype(jnp.float64)
        return score + self.noise * normals(draws) if self.has_noise else score

    def _value(self, word: Array) -> Array:
        place = (word.astype(jnp.uint64) * jnp.uint64(self.values.shape[0])) >> jnp.uint64(32)
        return self.values.at[place.astype(jnp.uint32)].get(mode="promise_in_bounds")


def records_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> RecordSumSampler | None:
    """The sampler of a linear score of listed records, or None. Must be called inside `exact_scope`."""
    release, data = mean_of(game.mechanism, game.n), game.data
    if not isinstance(game, FixedTarget) or not isinstance(attack, AbstractLinearAttack):
        return None
    if release is None or not isinstance(data, Empirical) or data.records.shape[0] > _MOST_RECORDS:
        return None
    weights, offset = line_at(attack, game.target)
    # Counted from the records' mean, so that no digit is lost to a constant.
    values = (data.records - data.mean) @ weights / release.rows
    target = float((game.target - data.mean) @ weights) / release.rows
    noise = float(np.sqrt(np.sum(weights**2 * release.variance)))
    greatest = max(float(np.abs(values).max()), abs(target))
    unit = greatest * release.rows / 2.0**52 if greatest > 0 else 1.0  # a sum stays exact as a float64
    return RecordSumSampler(
        values=jnp.asarray(np.rint(values / unit).astype(np.int64)),
        target_value=jnp.asarray(round(target / unit), jnp.int64),
        unit=jnp.asarray(unit),
        offset=jnp.asarray(offset + float(weights @ data.mean)),
        noise=jnp.asarray(noise),
        coin=Coin(release.inclusion),
        rows=release.rows,
        has_noise=noise > 0,
        block=BLOCK // 4,
    )
