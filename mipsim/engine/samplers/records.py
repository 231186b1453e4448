"""A linear score of records drawn from a finite list, clipped or not: every record is reduced to a number once."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, UInt64

from mipsim.attacks.base import AbstractAttack, AbstractLinearAttack
from mipsim.distributions.empirical import Empirical
from mipsim.engine.random.counter import Draws, normals, words_of
from mipsim.engine.samplers.base import BLOCK, AbstractSampler, Coin
from mipsim.forms.release import release_of
from mipsim.forms.score import line_at
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget

_MOST_RECORDS = 2**20  # a longer list is played literally: its table would leave the cache
_ROW_COINS = 0x80000000  # the Philox words of a game from here on are its records' coins


class RecordSumSampler(AbstractSampler):
    """A linear score of records drawn from a finite list: every record is projected once, a game sums n numbers.

    The numbers are whole multiples of `unit`, so that their sum does not depend on its order. An index is the upper part
    of a 32-bit word times N: each record comes up with probability 1/N to within 2^-32. So does the coin that keeps it.

    Attributes:
        values: what each record adds to the score, in units of `unit`, int64, shape (N,).
        target_value: what the target adds.
        unit, offset: the score is offset + unit x sum.
        noise: standard deviation of Gaussian noise in the score.
        coin: as in `NormalSampler`.
        kept: a record is kept where its coin, a 32-bit word, is below this.
        rows: how many records are summed.
        has_coins: whether records have coins.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "records"
    values: Int[Array, " N"]
    target_value: Int[Array, ""]
    unit: Float[Array, ""]
    offset: Float[Array, ""]
    noise: Float[Array, ""]
    coin: Coin
    kept: UInt64[Array, ""]
    rows: Int[Array, ""]
    has_noise: bool = eqx.field(static=True)
    has_coins: bool = eqx.field(static=True)

    def scores(self, draws: Draws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        words = words_of(draws)

        def kept(values: list[Array], group: Array | int) -> list[Array]:
            if not self.has_coins:
                return values
            coins = words(group + _ROW_COINS)
            return [jnp.where(coins[i].astype(jnp.uint64) < self.kept, v, 0) for i, v in enumerate(values)]

        def add(group: Array, total: Array) -> Array:
            return total + sum(kept([self._value(word) for word in words(group)], group.astype(jnp.uint32)))

        groups, left = (self.rows - 1) // 4, (self.rows - 1) % 4
        total = jax.lax.fori_loop(0, groups, add, jnp.zeros(draws.games.shape, jnp.int64))
        # The last one to four records: of them the final one gives way to the target.
        values = [self._value(word) for word in words(groups)]
        values = [jnp.where((side == 1) & (left == i), self.target_value, v) for i, v in enumerate(values)]
        last = kept(values, groups.astype(jnp.uint32))
        total = sum((jnp.where(left >= i, value, 0) for i, value in enumerate(last)), total)
        score = self.offset + self.unit * total.astype(jnp.float64)
        return score + self.noise * normals(draws) if self.has_noise else score

    def _value(self, word: Array) -> Array:
        place = (word.astype(jnp.uint64) * jnp.uint64(self.values.shape[0])) >> jnp.uint64(32)
        return self.values.at[place.astype(jnp.uint32)].get(mode="promise_in_bounds")


def records_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> RecordSumSampler | None:
    """The sampler of a linear score of listed records, or None. Must be called inside `exact_scope`."""
    release, data = release_of(game.mechanism, game.n), game.data
    if not isinstance(game, FixedTarget) or not isinstance(attack, AbstractLinearAttack):
        return None
    if release is None or release.noises or not isinstance(data, Empirical):
        return None
    if data.records.shape[0] > _MOST_RECORDS or (release.rate < 1.0 and release.inclusion < 1.0):
        return None
    weights, offset = line_at(attack, game.target)
    records, target = (_clipped(rows, release.clip) for rows in (data.records, game.target[None]))
    # Counted from the records' mean, so that no digit is lost to a constant; where records are left out, so is their share of it.
    whole = release.rate == 1.0
    middle = records.mean(axis=0) if whole else np.zeros(data.dimension)
    expected = release.rows * release.rate
    values, own = (records - middle) @ weights / expected, float((target[0] - middle) @ weights) / expected
    noise = float(np.sqrt(np.sum(weights**2 * release.variance)))
    greatest = max(float(np.abs(values).max()), abs(own))
    unit = greatest * release.rows / 2.0**52 if greatest > 0 else 1.0  # a sum stays exact as a float64
    return RecordSumSampler(
        values=jnp.asarray(np.rint(values / unit).astype(np.int64)),
        target_value=jnp.asarray(round(own / unit), jnp.int64),
        unit=jnp.asarray(unit),
        offset=jnp.asarray(offset + float(weights @ middle)),
        noise=jnp.asarray(noise),
        coin=Coin(release.inclusion),
        kept=jnp.asarray(round(release.rate * 2.0**32), jnp.uint64),
        rows=jnp.asarray(release.rows),
        has_noise=noise > 0,
        has_coins=not whole,
        block=BLOCK // 4,
    )


def _clipped(rows: np.ndarray, clip: float | None) -> np.ndarray:
    """Rows no longer than `clip`, where there is one."""
    if clip is None or clip == np.inf:
        return rows
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows * np.where(norms > clip, clip / np.where(norms > clip, norms, 1.0), 1.0)
