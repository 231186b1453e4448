"""The statistic of GLiR on gradients of networks at real records under H0, sampled, against the law that its p-value assumes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtri

from mipsim.referee import Replication
from mipsim.referee.replication import share
from sims.gradients import single_threaded
from verify import real_gradients

_IN_CACHE = 100_000
"""Counts that are sampled at once: more of them leave the processor's cache, and take three times as long."""
_FEW_ROWS = 1
"""So many rows a record are sampled in turn and counted, which takes less time than drawing Poisson counts."""
_SPARE = 2.5
"""Standard deviations by which the sum of Poisson counts is meant to stay below the number of rows."""
_MOST_MEAN = 1000.0
"""Poisson counts of means up to this are read from a table of 2^16 words, few of which need another draw."""
_ZERO = 1e-10
"""Variances below this share of the largest are rounding of float32."""
LEVEL = 0.01
"""The least level that games judge."""


@dataclass(frozen=True)
class Attacked:
    """A target's gradient among those that batches are sampled from."""

    # g_i - theta of each record that batches are sampled from, in coordinates in which C is the identity, shape (N, d)
    away: np.ndarray
    susceptibility: float  # K = ||Sigma^-1/2 (theta - mu)||^2
    degrees: int  # d of chi2_d


@lru_cache(maxsize=16)
@single_threaded
def known(records: str, rank: float) -> Attacked:
    """With the moments of the law that batches are sampled from: uniform over all records.
    `records`: the data set; `rank`: of the target's K among the records, 1 the largest.
    """
    rows = real_gradients.gradients(records)
    shifted = rows - rows.mean(axis=0)
    values, axes = np.linalg.eigh(shifted.T @ shifted / len(rows))
    varies = values > _ZERO * values[-1]
    whitened = shifted @ (axes[:, varies] / np.sqrt(values[varies]))
    k = np.sum(whitened**2, axis=1)
    target = int(np.argsort(k, kind="stable")[round(rank * (len(k) - 1))])
    return Attacked(whitened - whitened[target], float(k[target]), int(varies.sum()))


def least_rows(of: Attacked) -> float:
    """So many rows bring the first two corrections of the central limit below .05 and .025 probits at levels from .01 to .99.

    S is n |x|^2 - 2 n a'x + n K for the whitened mean x and the target a. Edgeworth's first term moves a probit z by skewness (z^2 - 1) / (6
    sqrt(n)), the skewness that of a'w, w a single record's x; and n |x|^2 and 2 n a'x have the covariance 2 E[a'w |w|^2], which changes the
    standard deviation of S, about 2 sqrt(n K), by the share E[a'w |w|^2] / (2 n K).
    """
    records = of.away - of.away.mean(axis=0)
    along = records @ -of.away.mean(axis=0)
    z = abs(float(ndtri(LEVEL)))
    skewness = float(np.mean(along**3)) / float(np.mean(along**2)) ** 1.5
    tied = abs(float(np.mean(along * np.sum(records**2, axis=1)))) / (2.0 * of.susceptibility)
    return max((skewness * (z**2 - 1.0) / (6.0 * 0.05)) ** 2, tied * z / 0.025)


def statistics(of: Attacked, n: int, rows: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    """A sampler of -rows (m - theta)' Sigma^-1 (m - theta) under H0, m the mean of n records sampled with replacement.

    Products are taken in float32 of records less their mean: rounding moves a mean by 1e-6 of its standard deviation.
    """
    centre = of.away.mean(axis=0)
    centred = (of.away - centre).astype(np.float32)

    @single_threaded
    def draw(generator: np.random.Generator, games: int) -> np.ndarray:
        parts = []
        together = max(1, _IN_CACHE // len(of.away))
        for first in range(0, games, together):
            counts = _counts(generator, n, len(of.away), min(together, games - first))
            mean = (counts @ centred).astype(np.float64) / n + centre
            parts.append(np.einsum("gd,gd->g", mean, mean))
        return -rows * np.concatenate(parts)

    return draw


def _counts(generator: np.random.Generator, n: int, records: int, games: int) -> np.ndarray:
    """How often each record is among n that are sampled with replacement, float32 of shape (games, records).

    Independent Poisson counts, given their sum m, are those of m rows. So m <= n of them and n - m further rows have the law of n
    rows; the few games with m > n are sampled anew.
    """
    mean = (n - _SPARE * n**0.5) / records
    if n <= _FEW_ROWS * records:
        return _added(generator, np.zeros((games, records), np.float32), np.full(games, n))
    if mean > _MOST_MEAN:
        return generator.multinomial(n, np.full(records, 1.0 / records), size=games).astype(np.float32)
    counts = _poisson(generator, mean, games * records).reshape(games, records)
    rest = n - counts.sum(axis=1).astype(np.int64)
    over = rest < 0
    counts[over] = generator.multinomial(n, np.full(records, 1.0 / records), size=int(over.sum()))
    return _added(generator, counts, np.maximum(rest, 0))


def _poisson(generator: np.random.Generator, mean: float, size: int) -> np.ndarray:
    """Poisson counts by inversion of uniform numbers: their first 16 bits mostly tell the count, and 53 more bits do where they do not."""
    cumulative, table = _inverse(mean)
    words = generator.integers(2**64, size=-(-size // 4), dtype=np.uint64).view(np.uint16)[:size]
    counts = table[words]
    unsure = np.flatnonzero(counts < 0.0)
    uniform = (words[unsure] + generator.random(unsure.size)) / 2.0**16
    counts[unsure] = np.searchsorted(cumulative, uniform, side="right")
    return counts


@lru_cache(maxsize=16)
def _inverse(mean: float) -> tuple[np.ndarray, np.ndarray]:
    """The distribution function of Poisson(mean) up to 1, and the count of each 16 bits of a uniform number, -1 where they leave it open."""
    # Beyond lies less than 2^-60, by Chernoff's bound.
    cumulative = scipy.stats.poisson.cdf(np.arange(int(mean + 12.0 * mean**0.5) + 40), mean)
    ends = np.searchsorted(cumulative, np.arange(2**16 + 1) / 2.0**16, side="right")
    last = np.searchsorted(cumulative, np.arange(1, 2**16 + 1) / 2.0**16, side="left")
    return cumulative, np.where(ends[:-1] == last, ends[:-1], -1).astype(np.float32)


def _added(generator: np.random.Generator, counts: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The counts of games, shape (games, records), to which so many rows in each, shape (games,), are added in place."""
    games, records = counts.shape
    rows_of_games = generator.integers(records, size=int(rows.sum()), dtype=np.int32)
    rows_of_games += np.repeat(records * np.arange(games, dtype=np.int32), rows)
    counts += np.bincount(rows_of_games, minlength=counts.size).reshape(counts.shape)
    return counts


def assumed(of: Attacked, n: int, stretched: float = 1.0) -> Callable[[np.random.Generator, int], np.ndarray]:
    """A sampler of -chi2_d(n K), of which F is the distribution function; `stretched` multiplies K."""
    noncentrality = n * of.susceptibility * stretched

    def draw(generator: np.random.Generator, games: int) -> np.ndarray:
        return -generator.noncentral_chisquare(of.degrees, noncentrality, games)

    return draw


def share_below(of: Attacked, n: int, rows: float, level: float = 0.1, games: int = 2_000) -> Replication:
    """P0(p <= level) by batches that are sampled record by record, and SciPy's chi-square law."""
    rng = np.random.default_rng(0)
    square = np.array(
        [np.sum(of.away[rng.integers(len(of.away), size=n)].mean(axis=0) ** 2) for _ in range(games)]
    )
    p = scipy.stats.ncx2.cdf(rows * square, of.degrees, n * of.susceptibility)
    how = f"NumPy and SciPy, {games:,} literal batches under H0, seed 0"
    return Replication(*share((p <= level).sum(), games), what=f"P0(p <= {level:g})", how=how, claim=level)
