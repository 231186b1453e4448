"""The fast kernel for a random target: one random word per coordinate picks its bit of the target and its count."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_table import (
    MOST_BITS,
    alias_entries,
    binomial_table,
    least_bits,
    table_bits,
)
from mipsim.engine.samplers.fixed_point import AbstractTerms, PairedTerms
from mipsim.engine.samplers.table import TableSampler
from mipsim.engine.samplers.table_builder import BLOCK, MOST_BYTES, Sum, int32, padded, tabled, unit_of
from mipsim.forms.score import offsets_at, terms_at, weights_at
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.release import Release, mean_of


class RandomTableSampler(TableSampler):
    """Draws the score of a mean of Bernoulli records for a target that each game draws anew.

    A uniformly chosen record is distributed as a fresh draw, and given it the others are as before. So the pairs (bit of the
    target, count of the column) are independent over the coordinates: on side 0 both parts are independent, on side 1 the
    count is the bit plus that of the other rows. A row of the tables holds the law of a coordinate's pair.
    """

    name: ClassVar[str] = "random table"


def random_table_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> RandomTableSampler | None:
    """The table kernel of a random target, or None where it does not apply.

    It applies to `RandomTarget` of Bernoulli data, a mechanism that `mean_of` reads, and an additive attack that `offsets_at`
    knows (a linear one where there is noise), if the tables fit into half a gigabyte. Must be called inside `exact_scope`.

    Examples:
        >>> import mipsim as mi
        >>> from mipsim._precision import exact_scope
        >>> data = mi.Bernoulli([0.3, 0.6])
        >>> game = mi.RandomTarget(mi.EmpiricalMean(), data, n=10)
        >>> with exact_scope():
        ...     random_table_sampler(game, mi.CovarianceScore(data, n=10)).name
        'random table'
    """
    if not isinstance(game, RandomTarget) or not isinstance(game.data, Bernoulli):
        return None
    mean, p = mean_of(game.mechanism, game.n), np.asarray(game.data.p)
    linear = isinstance(attack, AbstractLinearAttack)
    noisy = mean is not None and mean.has_gaussian_noise
    if mean is None or not isinstance(attack, AbstractAdditiveAttack) or (noisy and not linear):
        return None
    if p.size * 2 * 8 << (least_bits(mean.rows, p) + 2) > MOST_BYTES:
        return None
    targets = np.zeros(p.size), np.ones(p.size)
    offsets = [found for target in targets if (found := offsets_at(attack, target)) is not None]
    # A pair has one bit more than its count; one more may be needed where the windows of the sides do not coincide.
    if len(offsets) < 2 or (bits := table_bits(mean.rows, p)) + 2 > MOST_BITS:
        return None
    if p.size * 2 * 8 << (bits + 2) > MOST_BYTES:
        return None
    distinct, row = np.unique(p, return_inverse=True)
    low, law = pair_law(mean.rows, distinct)
    bits = law.shape[-1].bit_length() - 1
    masses = np.diff(np.rint(np.cumsum(law.reshape(*law.shape[:2], -1), axis=2) * 2.0**32), axis=2, prepend=0)
    masses = masses.astype(np.int64)
    entries = alias_entries(masses.reshape(-1, masses.shape[2]), bits + 1).reshape(masses.shape)
    drawn, sums = (masses / 2.0**32)[row], (low[:, None] + np.arange(1 << bits))[row]
    spread, noise = None, 0.0
    if isinstance(attack, AbstractLinearAttack):
        weights = np.stack([weights_at(attack, target) for target in targets], axis=1) / mean.rows
        terms, base, unit = _linear(weights, np.stack(offsets, axis=1), sums, drawn)
        spread, noise = spread_of(weights, mean)
    else:
        outputs = sums / mean.rows
        both = np.concatenate([terms_at(attack, target, outputs) for target in targets], axis=1)
        shaped = np.broadcast_to(both[:, None, :], drawn.shape)
        shown = np.broadcast_to(np.tile(sums, 2)[:, None, :], drawn.shape) / mean.rows
        terms, base, unit = tabled(attack, shaped, drawn, shown)
    return RandomTableSampler(
        attack=Sum() if linear else attack,
        target=jnp.zeros(p.size),
        counts=jnp.asarray(padded(entries[row]).reshape(-1)),
        terms=terms,
        base=jnp.asarray(base),
        unit=jnp.asarray(unit),
        noise=jnp.asarray(noise),
        inclusion=jnp.asarray(mean.inclusion),
        bits=bits + 1,
        has_coin=mean.inclusion < 1.0,
        has_noise=spread is not None,
        block=BLOCK,
        spread=spread,
    )


def spread_of(weights: np.ndarray, mean: Release) -> tuple[Int[Array, " pairs"] | None, float]:
    """The `spread` and `noise` of a random target's table: weights are those of the counts for either bit, shape (d, 2).

    Examples:
        >>> spread_of(np.ones((1, 2)), Release(10))
        (None, 0.0)
    """
    variance = (weights * mean.rows) ** 2 * np.broadcast_to(mean.variance, weights.shape[:1])[:, None]
    noise = float(variance.max(axis=1).sum()) / 2.0**62
    if not noise:
        return None, 0.0
    return jnp.asarray(padded(np.rint(variance / noise).astype(np.int64)).reshape(-1)), float(np.sqrt(noise))


def pair_law(rows: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The laws of (bit of the target, column sum) without the target among the rows and with it.

    Args:
        rows: k >= 2, how many records are added up.
        p: success probabilities, shape (d,).

    Returns:
        (low, law): law has shape (d, 2 sides, 2 bits, C), C a power of two; column c stands for the sum low + c, low of shape (d,).

    Examples:
        >>> low, law = pair_law(2, np.array([0.5]))
        >>> print(low, law[0])
        [0] [[[0.125 0.25  0.125 0.   ]
          [0.125 0.25  0.125 0.   ]]
        <BLANKLINE>
         [[0.25  0.25  0.    0.   ]
          [0.    0.25  0.25  0.   ]]]
    """
    tables = binomial_table(rows, p), binomial_table(rows - 1, p)
    laws = [table.probabilities() for table in tables]
    low = np.minimum(tables[0].low, tables[1].low)
    last = [(one > 0).shape[1] - 1 - np.argmax(one[:, ::-1] > 0, axis=1) for one in laws]
    top = max(int((tables[side].low + last[side] + side - low).max()) for side in (0, 1))
    columns, most = 1 << top.bit_length(), max(one.shape[1] for one in laws)
    wide = np.zeros((p.size, 2, 2, columns + most))
    places, each = np.arange(p.size)[:, None], (1 - p, p)
    for side in (0, 1):
        for bit in (0, 1):
            begin = tables[side].low - low + side * bit
            span = begin[:, None] + np.arange(laws[side].shape[1])
            wide[places, side, bit, span] = laws[side] * each[bit][:, None]
    return low, wide[..., :columns]


def _linear(
    weights: np.ndarray, offsets: np.ndarray, sums: np.ndarray, law: np.ndarray
) -> tuple[AbstractTerms, float, float]:
    """Terms weights x sum + offsets in fixed point, with base and unit; weights and offsets have shape (d, 2), for either bit."""
    bits = sums.shape[1].bit_length() - 1
    each = weights[:, :, None] * sums[:, None, :] + offsets[:, :, None]
    terms = np.broadcast_to(each.reshape(sums.shape[0], 1, -1), law.shape)
    centre = (law * terms).sum(axis=2).mean(axis=1)
    unit = unit_of(terms, law, centre)
    # Where the least weight is a whole number of units, so is every multiple of it: scores that tie then stay tied.
    least = np.abs(weights[weights != 0]).min(initial=np.inf)
    if np.isfinite(least) and least >= unit:
        unit = float(least / np.floor(least / unit))
    steps, zero = np.rint(weights / unit), np.rint(centre / unit)
    middle = np.rint((law * np.tile(sums, 2)[:, None, :]).sum(axis=2).mean(axis=1))
    # What rounding the weights changes is put right at the mean count.
    rest = np.rint((offsets + (weights - steps * unit) * middle[:, None]) / unit)
    firsts = np.asarray(steps * sums[:, :1] + rest - zero[:, None]).astype(np.int64)
    paired = PairedTerms(
        steps=jnp.asarray(padded(int32(steps)).reshape(-1)),
        jumps=jnp.asarray(padded(int32(firsts[:, 1] - firsts[:, 0]))),
        first=jnp.asarray(int32(firsts[:, 0].sum())),
        bits=bits,
        has_impossible=False,
    )
    return paired, float((zero * unit).sum()), unit
