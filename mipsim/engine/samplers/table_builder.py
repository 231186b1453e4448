"""Building the tables of the fast kernel, in NumPy, once per run."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.binomial_table import (
    MOST_BITS,
    BinomialTable,
    binomial_table,
    least_bits,
    table_bits,
)
from mipsim.engine.samplers.fixed_point import IMPOSSIBLE, AbstractTerms, LinearTerms, TabledTerms
from mipsim.engine.samplers.table import GROUP, TableSampler
from mipsim.forms.score import line_at, terms_at
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.mechanisms.release import Release, mean_of


class Sum(AbstractAdditiveAttack):
    """The sum of the terms, the offset already among them."""

    def contributions(self, target: Float[Array, " d"], output: Float[Array, " d"]) -> Float[Array, " d"]:
        return output

    def link(self, target: Float[Array, " d"], total: Float[Array, ""]) -> Float[Array, ""]:
        return total


BLOCK = 16384  # games: the accumulators, 64 kB, stay in the L2 cache of a core
_SMALLER = (
    BLOCK // 2
)  # where sums are whole numbers: XLA would hand the sum of a larger block to two threads, at a greater cost than it takes
MOST_BYTES = 2**29  # of the tables: half a GiB
_TOGETHER = 2**16  # entries that are looked at together: half a megabyte an array
_TOP = 2**31 - 2**20  # the int32 range, less the rounding of up to 2^20 terms


class _Plan(NamedTuple):
    """What is known of a table kernel before its tables.

    Attributes:
        release: the mean that the mechanism releases.
        p: of the data, shape (d,).
        bits: log2 of the columns of the tables.
        noisy: whether noise is added.
    """

    release: Release
    p: np.ndarray
    bits: int
    noisy: bool


def _plan(game: AbstractMembershipGame, attack: AbstractAttack) -> _Plan | None:
    if not isinstance(game, FixedTarget) or not isinstance(game.data, Bernoulli):
        return None
    mean = mean_of(game.mechanism, game.n)
    linear = isinstance(attack, AbstractLinearAttack)
    noisy = mean is not None and bool((mean.variance > 0).any())
    if mean is None or not isinstance(attack, AbstractAdditiveAttack) or (noisy and not linear):
        return None
    p = np.asarray(game.data.p)
    if p.size * 2 * 8 << least_bits(mean.rows, p) > MOST_BYTES:
        return None
    bits = table_bits(mean.rows, p)
    if bits > MOST_BITS or p.size * 2 * 8 << bits > MOST_BYTES:
        return None
    return _Plan(mean, p, bits, noisy)


def table_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> TableSampler | None:
    """The table kernel of a game and attack, or None where it does not apply.

    It applies to `FixedTarget` of Bernoulli data, a mechanism that `mean_of` reads, and an additive attack
    (a linear one where there is noise), if the tables fit into half a gigabyte. Must be called inside `exact_scope`.

    Raises:
        ValueError: if the attack's contributions are NaN or +inf at a count that can occur.
    """
    plan = _plan(game, attack)
    if plan is None or not isinstance(game, FixedTarget) or not isinstance(attack, AbstractAdditiveAttack):
        return None
    rows, target = plan.release.rows, np.asarray(game.target, dtype=np.float64)
    line = line_at(attack, target) if isinstance(attack, AbstractLinearAttack) else None
    tables = binomial_table(rows, plan.p, plan.bits), binomial_table(rows - 1, plan.p, plan.bits)
    if line is not None:
        weights, offset = line
        terms, base, unit = _linear(weights / rows, target, tables)
        base += offset
        noise = float(np.sqrt(np.sum(weights**2 * plan.release.variance)))
    else:
        law, sums = _columns(target, tables)
        terms, base, unit = tabled(attack, terms_at(attack, target, sums / rows), law, sums / rows)
        noise = 0.0
    counts = np.stack([t.entries for t in tables], axis=1)
    linear = isinstance(attack, AbstractLinearAttack)
    return TableSampler(
        attack=Sum() if linear else attack,
        target=jax.device_put(np.zeros(plan.p.size) if linear else target),
        counts=jax.device_put(padded(counts).reshape(-1)),
        terms=terms,
        base=jax.device_put(np.float64(base)),
        unit=jax.device_put(np.float64(unit)),
        noise=jax.device_put(np.float64(noise)),
        inclusion=jax.device_put(np.float64(plan.release.inclusion)),
        bits=plan.bits,
        has_coin=plan.release.inclusion < 1.0,
        has_noise=plan.noisy,
        block=BLOCK if plan.noisy else _SMALLER,
    )


def _columns(target: np.ndarray, tables: Sequence[BinomialTable]) -> tuple[np.ndarray, np.ndarray]:
    """The law of the columns, and the sums that they stand for, each of shape (d, 2, C)."""
    shift = np.stack([np.zeros_like(target), target], axis=1)
    low = np.stack([t.low for t in tables], axis=1) + shift
    sums = low[:, :, None] + np.arange(1 << tables[0].bits)
    law = np.stack([t.probabilities() for t in tables], axis=1)
    # Columns that never come up hold any value that is harmless.
    return law, np.where(law > 0, sums, low[:, :, None])


def _linear(
    slopes: np.ndarray, target: np.ndarray, tables: tuple[BinomialTable, BinomialTable]
) -> tuple[AbstractTerms, float, float]:
    """Terms slopes x sum in fixed point, with base and unit; slopes have shape (d,)."""
    mean_count, spans = [], []
    # A part of the coordinates at a time: memory that was never touched costs more than the arithmetic.
    together = max(1, _TOGETHER >> tables[0].bits)
    for begin in range(0, target.size, together):
        part = slice(begin, begin + together)
        law, sums = _columns(target[part], [t.rows(part) for t in tables])
        mean = (law * sums).sum(axis=2)
        centre = slopes[part] * np.rint(mean.mean(axis=1))
        spans.append(_spans(slopes[part][:, None, None] * sums, law, centre))
        mean_count.append(mean)
    mean_count = np.concatenate(mean_count)
    low = np.stack([t.low for t in tables], axis=1) + np.stack([np.zeros_like(target), target], axis=1)
    centre = np.rint(mean_count.mean(axis=1))
    unit = _unit(*(np.concatenate(parts) for parts in zip(*spans, strict=True)))
    # Whole weights times whole counts: scores that tie stay tied, exactly.
    step = np.rint(slopes / unit)
    starts = np.rint(step[:, None] * (low - centre[:, None])).astype(np.int64).sum(axis=0)
    steps, firsts = jax.device_put((padded(int32(step)), int32(starts)))
    # What rounding the weights changes is put right at the mean of the "out" world.
    base = np.sum(slopes * centre + (slopes - step * unit) * (mean_count[:, 0] - centre))
    return LinearTerms(steps=steps, starts=firsts, has_impossible=False), float(base), unit


def tabled(
    attack: AbstractAttack, terms: np.ndarray, law: np.ndarray, outputs: np.ndarray
) -> tuple[AbstractTerms, float, float]:
    """Terms of any kind in fixed point, with base and unit.

    Args:
        attack: named where a term is no number.
        terms: of every column, shape (d, 2, C).
        law: the columns' probabilities, shape (d, 2, C).
        outputs: the outputs that they stand for, shape (d, 2, C).

    Raises:
        ValueError: if a term that can occur is NaN or +inf.
    """
    possible = law > 0
    bad = possible & (np.isnan(terms) | (terms == np.inf))
    if bad.any():
        j, side, column = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"attack {type(attack).__name__} contributes {terms[j, side, column]} at coordinate {j} for the output "
            f"{outputs[j, side, column]:g}; contributions must be numbers or -inf"
        )
    finite = np.where(np.isfinite(terms), terms, 0.0)
    centre = (law * finite).sum(axis=2).mean(axis=1)
    unit = unit_of(finite, law, centre)
    quantised = np.rint((finite - centre[:, None, None]) / unit)
    impossible = terms == -np.inf
    values = padded(int32(np.where(impossible, np.float64(IMPOSSIBLE), quantised)))
    found = TabledTerms(
        values=jax.device_put(values.reshape(-1)), has_impossible=bool((impossible & possible).any())
    )
    return found, float(centre.sum()), unit


def unit_of(terms: np.ndarray, law: np.ndarray, centre: np.ndarray) -> float:
    """The unit of the fixed point: as small as an int32 total, counted from the centres, allows.

    A total wraps only beyond half_range. That is the greatest possible total; or, if less, the distance of the worlds'
    means from the centre plus the greater of 64 standard deviations and 32 greatest single terms, which by Bernstein's
    inequality is passed with probability below 1e-19.
    """
    return _unit(*_spans(terms, law, centre))


def _spans(terms: np.ndarray, law: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, ...]:
    """Of each coordinate: the greatest distance of a term from the centre, the means of either side from it, and the variances."""
    away = np.where(law > 0, np.abs(terms - centre[:, None, None]), 0.0)
    means = (law * terms).sum(axis=2)
    variances = (law * (terms - means[:, :, None]) ** 2).sum(axis=2)
    return away.max(axis=(1, 2)), means - centre[:, None], variances


def _unit(away: np.ndarray, means: np.ndarray, variances: np.ndarray) -> float:
    variance = np.maximum(variances, 0.0).sum(axis=0).max()
    shift = np.abs(means.sum(axis=0)).max()
    half_range = min(away.sum(), shift + max(64 * np.sqrt(variance), 32 * away.max()))
    return float(half_range) / _TOP if half_range > 0 else 1.0


def int32(values: np.ndarray) -> np.ndarray:
    """Whole float64 values modulo 2^32, as int32."""
    return np.remainder(values, 2.0**32).astype(np.int64).astype(np.uint32).view(np.int32)


def padded(table: np.ndarray) -> np.ndarray:
    """Fill the last group of coordinates with rows whose values are zero."""
    missing = -table.shape[0] % GROUP
    return np.concatenate([table, np.zeros((missing, *table.shape[1:]), table.dtype)])
