"""Linear scores of records sampled from a finite list, transformed or not: every record is reduced to a number once."""

from collections.abc import Callable
from functools import reduce
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mipsim.attacks.base import AbstractLinearAttack
from mipsim.distributions.empirical import Empirical
from mipsim.engine.random.counter import GameDraws, normals, words_of
from mipsim.engine.samplers.base import BLOCK, AbstractSampler, Coin, RowCount, row_count
from mipsim.engine.samplers.fixed_point import scaled
from mipsim.forms.problem import FixedProblem, Problem
from mipsim.forms.score import line_at
from mipsim.mechanisms.release import Release

_MOST_RECORDS = 2**20  # a longer list is played literally: its table would leave the cache
_MOST_PAIRS = 2**25  # of records, for a random target: a table of 256 MiB
_TOGETHER = 256  # targets whose weights are requested at once
_TARGET = 0x80000000  # the Philox words of a game that choose its target


class RecordSumSampler(AbstractSampler):
    """A linear score of records sampled from a finite list: every record is projected once, a game sums some n numbers.

    The numbers are whole multiples of `unit`, so that their sum does not depend on its order. An index is the upper part
    of a 32-bit word times N: each record comes up with probability 1/N to within 2^-32. The number of records differs between
    games of a Poisson sample. A random target is itself a record of the list: there is a table of what each record adds for each target.
    """

    fidelity: ClassVar[str] = "projected"
    name: ClassVar[str] = "projected"
    # what each record adds to the score of each target, in units of `unit`, int64, shape (targets x N,)
    values: Int[Array, " pairs"]
    target_values: Int[Array, " targets"]  # what each target adds, shape (targets,)
    # unit, offsets: the score of a target is its offset + unit x sum
    unit: Float[Array, ""]
    offsets: Float[Array, " targets"]
    noises: Float[Array, " targets"]  # standard deviations of Gaussian noise in the score, shape (targets,)
    coin: Coin  # whether the target, if a member, is among the records
    rows: Int[Array, ""]  # how many records there are
    count: RowCount | None  # how many of them are included besides the target, or None where all are
    has_noise: bool = eqx.field(static=True)

    def scores(self, draws: GameDraws) -> Float[Array, " G"]:
        side = self.coin.side(draws)
        targets = self.offsets.shape[0]
        length = self.values.shape[0] // targets
        target = _place(words_of(draws)(_TARGET)[0], targets)
        records = self.count.of_games(draws) if self.count else self.rows - side
        records = jnp.broadcast_to(records, draws.games.shape)

        def add(group: Array, total: Array, places: list[Array]) -> Array:
            for i, place in enumerate(places):
                value = _at(self.values, target * jnp.uint32(length) + place)
                total = total + jnp.where(4 * group + i < records, value, 0)
            return total

        # As many turns as the game with most records in the block takes: what a game adds does not depend on it.
        total = _over_groups((records.max() + 3) // 4, add, draws, length)
        total = total + jnp.where(side == 1, _at(self.target_values, target), 0)
        score = _at(self.offsets, target) + scaled(self.unit, total)
        return score + _at(self.noises, target) * normals(draws) if self.has_noise else score


def _over_groups(
    groups: Array, add: Callable[[Array, Array, list[Array]], Array], draws: GameDraws, count: int
) -> Array:
    """What is added up over so many groups of four records of a list of `count`.

    The places of a group are computed a turn before they are looked up, and packed: a loop that looks up has no vectors, and
    XLA would make the words in it. With a list of up to 2^16 records that is twice as fast on a CPU.
    """
    words, bits = words_of(draws), 16 if count <= 2**16 else 32
    per_word, mask = 64 // bits, jnp.uint64(2**bits - 1)

    def packed(group: Array) -> list[Array]:
        chosen = [
            _place(word, count).astype(jnp.uint64) << jnp.uint64(bits * (i % per_word))
            for i, word in enumerate(words(group))
        ]
        return [reduce(jnp.bitwise_or, chosen[first : first + per_word]) for first in range(0, 4, per_word)]

    def turn(group: Array, state: tuple[Array, list[Array]]) -> tuple[Array, list[Array]]:
        places = [
            ((x >> jnp.uint64(bits * i)) & mask).astype(jnp.uint32) for x in state[1] for i in range(per_word)
        ]
        return add(group, state[0], places), packed(group + 1)

    start = jnp.zeros(draws.games.shape, jnp.int64), packed(jnp.zeros_like(groups))
    return jax.lax.fori_loop(0, groups, turn, start)[0]


def _place(word: Array, count: int) -> Array:
    return ((word.astype(jnp.uint64) * jnp.uint64(count)) >> jnp.uint64(32)).astype(jnp.uint32)


def _at(values: Array, place: Array) -> Array:
    return values.at[place].get(mode="promise_in_bounds")


def records_sampler(problem: Problem[Empirical, AbstractLinearAttack]) -> AbstractSampler | None:
    """The sampler of a linear score of listed records, or None where there are too many. Must be called inside `exact_scope`.
    `problem`: read without looking for the distribution of a transformed record, since a table of all pairs serves random
    targets too.
    """
    release, data, attack = problem.mean, problem.data, problem.attack
    count = data.records.shape[0]
    if isinstance(problem, FixedProblem):
        return _fixed(release, data.records, problem.target, attack) if count <= _MOST_RECORDS else None
    return _random(release, data.records, attack) if count**2 <= _MOST_PAIRS else None


def _fixed(
    release: Release, records: np.ndarray, target: np.ndarray, attack: AbstractLinearAttack
) -> AbstractSampler | None:
    weights, offset = line_at(attack, target)
    records, row = (_transformed(rows, release) for rows in (records, target[None]))
    middle, expected = _middle(records, release), release.rows * release.rate
    values, own = (records - middle) @ weights / expected, float((row[0] - middle) @ weights) / expected
    noise = float(np.sqrt(np.sum(weights**2 * release.variance)))
    unit = _unit(release.rows, values, np.array(own))
    numbers, share = np.rint(values / unit).astype(np.int64), round(own / unit)
    offset = offset + float(weights @ middle)
    lines = np.array([share]), unit, np.array([offset]), np.array([noise])
    return _counted(release, numbers, *lines)


def _random(release: Release, records: np.ndarray, attack: AbstractLinearAttack) -> AbstractSampler | None:
    def line(point: Array) -> tuple[Array, Array]:
        return attack.weights(point), jnp.asarray(attack.offset(point), jnp.float64)

    parts = jax.lax.map(line, jnp.asarray(records), batch_size=_TOGETHER)
    weights, offsets = (np.asarray(part, np.float64) for part in parts)
    records = _transformed(records, release)
    middle = _middle(records, release)
    values = weights @ (records - middle).T / (release.rows * release.rate)
    unit = _unit(release.rows, values)
    numbers = np.rint(values / unit).astype(np.int64)
    noises = np.sqrt(np.sum(weights**2 * release.variance, axis=1))
    lines = np.diagonal(numbers), unit, offsets + weights @ middle, noises
    return _counted(release, numbers.reshape(-1), *lines)


def _counted(
    release: Release,
    values: np.ndarray,
    target_values: np.ndarray,
    unit: float,
    offsets: np.ndarray,
    noises: np.ndarray,
) -> RecordSumSampler | None:
    whole = release.rate == 1.0
    count = None if whole else row_count(release.rows, release.rate)
    if count is None and not whole:
        return None
    return RecordSumSampler(
        values=jnp.asarray(values),
        target_values=jnp.asarray(target_values),
        unit=jnp.asarray(unit),
        offsets=jnp.asarray(offsets),
        noises=jnp.asarray(noises),
        coin=Coin(release.inclusion if whole else release.rate),
        rows=jnp.asarray(release.rows),
        count=count,
        has_noise=bool((noises > 0).any()),
        block=BLOCK // 4,
    )


def _middle(records: np.ndarray, release: Release) -> np.ndarray:
    """What records are counted from: their mean, so that no digit is lost to a constant; where some are left out, so is their share of it."""
    return records.mean(axis=0) if release.rate == 1.0 else np.zeros(records.shape[1])


def _unit(rows: int, *values: np.ndarray) -> float:
    """Of the values: a sum of as many stays exact as a float64."""
    greatest = max(float(np.abs(each).max()) for each in values)
    return greatest * rows / 2.0**52 if greatest > 0 else 1.0


def _transformed(rows: np.ndarray, release: Release) -> np.ndarray:
    return rows if release.transform is None else release.transform.apply(rows)
