"""Building the tables of the fast kernel, in NumPy, once per run."""

import jax
import numpy as np

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
from mipsim.forms.release import mean_of
from mipsim.forms.score import line_at, terms_at
from mipsim.games.base import AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget

BLOCK = 16384  # games: the accumulators, 64 kB, stay in the L2 cache of a core
_SMALLER = BLOCK // 2  # where sums are whole numbers: XLA would hand the sum of a larger block to two threads, at a greater cost than it takes
MOST_BYTES = 2**29  # of the tables: half a GiB
_TOP = 2**31 - 2**20  # the int32 range, less the rounding of up to 2^20 terms


def table_sampler(game: AbstractMembershipGame, attack: AbstractAttack) -> TableSampler | None:
    """The table kernel of a game and attack, or None where it does not apply.

    It applies to `FixedTarget` of Bernoulli data, a mechanism that `mean_of` reads, and an additive attack
    (a linear one where there is noise), if the tables fit into half a gigabyte. Must be called inside `exact_scope`.

    Raises:
        ValueError: if the attack's contributions are NaN or +inf at a count that can occur.
    """
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
    target = np.asarray(game.target, dtype=np.float64)
    tables = binomial_table(mean.rows, p, bits), binomial_table(mean.rows - 1, p, bits)
    terms, base, unit, weights = _fixed_point(attack, target, mean.rows, tables)
    noise = 0.0 if weights is None else float(np.sqrt(np.sum(weights**2 * mean.variance)))
    counts = np.stack([t.entries for t in tables], axis=1)
    return TableSampler(
        attack=attack,
        target=jax.device_put(target),
        counts=jax.device_put(padded(counts).reshape(-1)),
        terms=terms,
        base=jax.device_put(np.float64(base)),
        unit=jax.device_put(np.float64(unit)),
        noise=jax.device_put(np.float64(noise)),
        inclusion=jax.device_put(np.float64(mean.inclusion)),
        bits=bits,
        has_coin=mean.inclusion < 1.0,
        has_noise=noisy,
        block=BLOCK if noisy else _SMALLER,
    )


def _fixed_point(
    attack: AbstractAdditiveAttack, target: np.ndarray, rows: int, tables: tuple[BinomialTable, BinomialTable]
) -> tuple[AbstractTerms, float, float, np.ndarray | None]:
    """The terms of the counts in fixed point, with base and unit; also the weights of a linear attack."""
    columns = np.arange(1 << tables[0].bits)
    shift = np.stack([np.zeros_like(target), target], axis=1)
    low = np.stack([t.low for t in tables], axis=1) + shift
    sums = low[:, :, None] + columns
    law = np.stack([t.probabilities() for t in tables], axis=1)
    possible = law > 0
    # Columns that never come up hold any value that is harmless.
    sums = np.where(possible, sums, low[:, :, None])
    if isinstance(attack, AbstractLinearAttack):
        weights, _ = line_at(attack, target)
        terms = (weights / rows)[:, None, None] * sums
        mean_count = (law * sums).sum(axis=2)
        centre = np.rint(mean_count.mean(axis=1))
        unit = unit_of(terms, law, weights / rows * centre)
        # Whole weights times whole counts: scores that tie stay tied, exactly.
        step = np.rint(weights / rows / unit)
        starts = np.rint(step[:, None] * (low - centre[:, None])).astype(np.int64).sum(axis=0)
        steps, firsts = jax.device_put((padded(int32(step)), int32(starts)))
        linear = LinearTerms(steps=steps, starts=firsts, has_impossible=False)
        # What rounding the weights changes is put right at the mean of the "out" world.
        base = np.sum(weights / rows * centre + (weights / rows - step * unit) * (mean_count[:, 0] - centre))
        return linear, float(base), unit, weights
    return *tabled(attack, terms_at(attack, target, sums / rows), law, sums / rows), None


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
    away = np.where(law > 0, np.abs(terms - centre[:, None, None]), 0.0)
    means = (law * terms).sum(axis=2)
    variance = np.maximum((law * (terms - means[:, :, None]) ** 2).sum(axis=2), 0.0).sum(axis=0).max()
    shift = np.abs((means - centre[:, None]).sum(axis=0)).max()
    half_range = min(away.max(axis=(1, 2)).sum(), shift + max(64 * np.sqrt(variance), 32 * away.max()))
    return float(half_range) / _TOP if half_range > 0 else 1.0


def int32(values: np.ndarray) -> np.ndarray:
    """Whole float64 values modulo 2^32, as int32."""
    return values.astype(np.int64).astype(np.uint32).view(np.int32)


def padded(table: np.ndarray) -> np.ndarray:
    """Fill the last group of coordinates with rows whose values are zero."""
    missing = -table.shape[0] % GROUP
    return np.concatenate([table, np.zeros((missing, *table.shape[1:]), table.dtype)])
