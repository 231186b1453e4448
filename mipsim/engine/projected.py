"""The samplers of a score whose law has one or two dimensions: a draw or two a game, whatever n and d are."""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, UInt32, UInt64

from mipsim.attacks.quadratic import AbstractQuadraticAttack
from mipsim.distributions.binomial_table import draw
from mipsim.engine.sampler import AbstractSampler
from mipsim.engine.words import chi_square, long_word, normals, uniform, words_of

_COIN, _KEPT = 0xFFFFFFFF, 0xFFFFFFFE
"""What a game's Philox words are for: whether the target is among the rows, and how many others are."""


class NormalSampler(AbstractSampler):
    """A linear score of Gaussian data: one float64 normal a game.

    Side 0 is the law of the score without the target among the rows, side 1 with it.

    Attributes:
        mean, sd: of the score on either side, shape (2,).
        drawn: the probability that the target, if a member, is among the rows of the release.
        has_coin: whether that is below 1.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "normal"
    mean: Float[Array, "2"]
    sd: Float[Array, "2"]
    drawn: Float[Array, ""]
    has_coin: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        side = _side(self, seed, stream, world, games)
        return self.mean[side] + self.sd[side] * normals(seed, stream, world, games)


class PoissonNormalSampler(AbstractSampler):
    """A linear score of Gaussian data whose rows are kept by coins: a binomial count and one normal a game.

    Attributes:
        counts: alias entries of the number of kept rows besides the target, shape (2, C), for either world.
        low: the number of column 0, shape (2,).
        offset, target_mean: the score without rows, and what the target adds if it is kept.
        row_mean, row_variance: what one kept row adds.
        noise_variance: of Gaussian noise, in the score.
        drawn: the probability that a row is kept.
        bits: log2 C.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "poisson normal"
    counts: UInt32[Array, "2 C"]
    low: Int[Array, "2"]
    offset: Float[Array, ""]
    target_mean: Float[Array, ""]
    row_mean: Float[Array, ""]
    row_variance: Float[Array, ""]
    noise_variance: Float[Array, ""]
    drawn: Float[Array, ""]
    bits: int = eqx.field(static=True)
    block: int = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True, default=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        side = _side(self, seed, stream, world, games)
        word = words_of(seed, stream, world, games)(_KEPT)[0]
        column = draw(self.counts[world], word, self.bits, jnp.uint32(0))
        kept = (self.low[world] + column.astype(jnp.int64)).astype(jnp.float64)
        mean = self.offset + kept * self.row_mean + side * self.target_mean
        sd = jnp.sqrt(kept * self.row_variance + self.noise_variance)
        return mean + sd * normals(seed, stream, world, games)


class QuadraticSampler(AbstractSampler):
    """A score that is a function of a quadratic form, scale ((Z + shift)^2 + chi2_{d-1}): two draws a game.

    Attributes:
        attack: whose `value` makes the score of the form.
        target: z*, shape (d,).
        scale, shift: of the form on either side, shape (2,).
        degrees: d - 1.
        drawn, has_coin: as in `NormalSampler`.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "quadratic"
    attack: AbstractQuadraticAttack
    target: Float[Array, " d"]
    scale: Float[Array, "2"]
    shift: Float[Array, "2"]
    drawn: Float[Array, ""]
    degrees: int = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        side = _side(self, seed, stream, world, games)
        rest = chi_square(words_of(seed, stream, world, games), self.degrees, games.shape[0])
        along = normals(seed, stream, world, games) + self.shift[side]
        square = self.scale[side] * (along**2 + rest)
        return jax.vmap(lambda s: self.attack.value(self.target, s))(square).astype(jnp.float64)


class RandomNormalSampler(AbstractSampler):
    """The covariance score of Gaussian data for a random target: |t|^2 of the target and one normal a game.

    In coordinates where one record is N(0, I) the target is t ~ N(0, I_d), and given it the score is
    scale (|t| s Z + share |t|^2) + slope |t|^2: only |t|^2 ~ chi2_d matters.

    Attributes:
        scale: of the score.
        sd: s on either side, shape (2,).
        share: what the target adds to the mean, 0 or 1/rows, shape (2,).
        slope: of the constant term.
        degrees: d.
        drawn, has_coin: as in `NormalSampler`.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "random normal"
    scale: Float[Array, ""]
    sd: Float[Array, "2"]
    share: Float[Array, "2"]
    slope: Float[Array, ""]
    drawn: Float[Array, ""]
    degrees: int = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        side = _side(self, seed, stream, world, games)
        square = chi_square(words_of(seed, stream, world, games), self.degrees, games.shape[0])
        normal = normals(seed, stream, world, games)
        along = jnp.sqrt(square) * self.sd[side] * normal + self.share[side] * square
        return self.scale * along + self.slope * square


class RecordSumSampler(AbstractSampler):
    """A linear score of records drawn from a finite list: every record is projected once, a game sums n numbers.

    The numbers are whole multiples of `unit`, so that their sum does not depend on its order. An index is the upper part
    of a 32-bit word times N: each record comes up with probability 1/N to within 2^-32.

    Attributes:
        values: what each record adds to the score, in units of `unit`, int64, shape (N,).
        target_value: what the target adds.
        unit, offset: the score is offset + unit x sum.
        noise: standard deviation of Gaussian noise in the score.
        drawn, has_coin: as in `NormalSampler`.
        rows: how many records are summed.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "records"
    values: Int[Array, " N"]
    target_value: Int[Array, ""]
    unit: Float[Array, ""]
    offset: Float[Array, ""]
    noise: Float[Array, ""]
    drawn: Float[Array, ""]
    rows: int = eqx.field(static=True)
    has_coin: bool = eqx.field(static=True)
    has_noise: bool = eqx.field(static=True)
    block: int = eqx.field(static=True)

    def scores(
        self,
        seed: UInt32[Array, "2"],
        stream: Int[Array, ""],
        world: Int[Array, ""],
        games: UInt64[Array, " G"],
    ) -> Float[Array, " G"]:
        """Draw the scores of the games."""
        side = _side(self, seed, stream, world, games)
        words = words_of(seed, stream, world, games)

        def add(group: Array, total: Array) -> Array:
            return total + sum(self._value(word) for word in words(group))

        total = jax.lax.fori_loop(0, (self.rows - 1) // 4, add, jnp.zeros(games.shape, jnp.int64))
        # The last one to four records: of them the final one gives way to the target.
        last = words((self.rows - 1) // 4)
        left = (self.rows - 1) % 4
        total = total + sum((self._value(word) for word in last[:left]), jnp.zeros(games.shape, jnp.int64))
        total = total + jnp.where(side == 1, self.target_value, self._value(last[left]))
        score = self.offset + self.unit * total.astype(jnp.float64)
        return score + self.noise * normals(seed, stream, world, games) if self.has_noise else score

    def _value(self, word: Array) -> Array:
        place = (word.astype(jnp.uint64) * jnp.uint64(self.values.shape[0])) >> jnp.uint64(32)
        return self.values.at[place.astype(jnp.uint32)].get(mode="promise_in_bounds")


_Coined = NormalSampler | PoissonNormalSampler | QuadraticSampler | RandomNormalSampler | RecordSumSampler


def _side(
    sampler: _Coined, seed: Array, stream: Array, world: Array, games: UInt64[Array, " G"]
) -> Int[Array, "..."]:
    """1 for games with the target among the rows: all of world 1, or those whose coin says so."""
    if not sampler.has_coin:
        return world
    high, low, *_ = words_of(seed, stream, world, games)(_COIN)
    return jnp.where(uniform(long_word(high, low)) < sampler.drawn, world, 0)
