"""Alias tables of binomial counts: a 32-bit word gives a count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32
from scipy.special import betainc, betaincc, gammaln, ndtri

from mipsim._validation import finite_vector, whole

MOST_BITS = 16
"""The widest table has 2^16 columns; a wider binomial window has no table."""

TAIL = 2.0**-34
"""What is cut off on either side: a quarter of the unit 2^-32 in which masses are stored."""
_TOGETHER = 2**20  # entries that are built at once: 8 MB an array
_SMALL = 2**16  # whose masses are: memory that was never touched costs more than the arithmetic

Words = UInt32[Array, "..."]


@dataclass(frozen=True)
class BinomialTable:
    """Walker alias tables of d binomial laws, a row each.

    A count is low_j + column. Entry = threshold in the top 32 - bits bits, alias column in the low `bits` bits.
    """

    entries: np.ndarray  # shape (d, 2^bits), uint32
    low: np.ndarray  # the count of column 0, shape (d,), int64
    bits: int  # log2 of the number of columns

    def rows(self, part: slice) -> BinomialTable:
        """Some of its laws.
        >>> binomial_table(2, [0.5, 0.3]).rows(slice(1)).low
        array([0])
        """
        return BinomialTable(self.entries[part], self.low[part], self.bits)

    def probabilities(self) -> np.ndarray:
        """The law that `draw` has, shape (d, 2^bits): multiples of 2^-32."""
        d, columns = self.entries.shape
        own = (self.entries >> np.uint32(self.bits)).astype(np.int64)
        alias = (self.entries & np.uint32(columns - 1)).astype(np.int64)
        masses = own.copy()
        np.add.at(masses, (np.arange(d)[:, None], alias), (1 << (32 - self.bits)) - own)
        return masses / 2.0**32


def table_bits(n: int, p: np.ndarray) -> int:
    """log2 of the columns that Binomial(n, p_j) needs for every j; a lower bound of it where that is above MOST_BITS + 1."""
    return _columns(n, np.unique(p))[0]


def binomial_table(n: int, p: object, bits: int | None = None) -> BinomialTable:
    """Tabulate Binomial(n, p_j) for every j.

    Cumulative probabilities are rounded to multiples of 2^-32, the resolution of a word, after the tails beyond 2^-34
    are left out: the CDF is off by less than 2e-10 (and by the error of the log-gamma function, 1e-16 n log n).

    `n`: the number of trials, >= 1; `p`: success probabilities in (0, 1), shape (d,); `bits`: log2 of the columns, at
    most 16 and enough for the law; None = as few as fit.

    Source: Walker (1977); the build follows the sweep of Hübschle-Schneider & Sanders (2022).
    """
    n, p = whole("n", n, 1), finite_vector("p", p)
    if not ((p > 0) & (p < 1)).all():
        raise ValueError(f"p holds {p[(p <= 0) | (p >= 1)][0]:g}; every probability must be in (0, 1)")
    distinct, row = np.unique(p, return_inverse=True)
    needed, low = _columns(n, distinct)
    bits = needed if bits is None else whole("bits", bits, 1)
    if bits > MOST_BITS or bits < needed:
        raise ValueError(
            f"Binomial({n}, p) needs 2^{needed} columns or more of the 2^{bits}; it must need at most 2^{MOST_BITS}"
        )
    masses = np.empty((distinct.size, 1 << bits), np.int64)
    together = max(1, _SMALL >> bits)
    for begin in range(0, distinct.size, together):
        part = slice(begin, begin + together)
        masses[part] = _masses(n, distinct[part], low[part, None] + np.arange(1 << bits))
    entries = alias_entries(masses, bits)
    return BinomialTable(entries[row], low[row], bits)


def draw(row: UInt32[Array, " C"], words: Words, bits: int, offset: Words | None = None) -> Words:
    """Turn uniform words into columns of a row of a table (jittable).

    The top `bits` bits of a word pick the column, the others are compared with its threshold.

    `row`: the entries of a single row, or of several rows end to end; `words`: uniform 32-bit words; `bits`: log2 of the
    columns of the table; `offset`: where in `row` the wanted row begins, for each word; None = 0.
    """
    return column_of(looked_up(row, words, bits, offset), words, bits)


def looked_up(row: UInt32[Array, " C"], words: Words, bits: int, offset: Words | None = None) -> Words:
    """The first half of `draw`: the entries of the columns that the top bits pick."""
    column = words >> jnp.uint32(32 - bits)
    return row.at[column if offset is None else column + offset].get(mode="promise_in_bounds")


def column_of(entries: Words, words: Words, bits: int) -> Words:
    """The second half of `draw`: the column itself, or its alias."""
    own = (words & jnp.uint32((1 << (32 - bits)) - 1)) < (entries >> jnp.uint32(bits))
    return jnp.where(own, words >> jnp.uint32(32 - bits), entries & jnp.uint32((1 << bits) - 1))


def least_bits(n: int, p: np.ndarray) -> int:
    """A lower bound of `table_bits` that asks for no quantile, of which a million take ten seconds."""
    # The tails begin 6.4 standard deviations from the mean; of a few counts that is not so.
    widest = int(12.0 * np.sqrt(float(n) * p * (1.0 - p)).max() - 16.0)
    return max(1, max(0, widest).bit_length())


def _columns(n: int, p: np.ndarray) -> tuple[int, np.ndarray]:
    """`table_bits`, and the first counts of the tables."""
    if (least := least_bits(n, p)) > MOST_BITS + 1:  # no table, so that no quantile is computed
        return least, np.zeros(p.shape, np.int64)
    low, high = binomial_window(n, p)
    return max(1, int((high - low).max()).bit_length()), low


def binomial_window(n: int, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last count of Binomial(n, p_j), outside which less than 2^-34 lies on either side."""
    return _window(n, np.asarray(p, np.float64).tobytes())


# A game asks for the windows of n and n - 1 records, each twice.
@lru_cache(maxsize=2)
def _window(n: int, p_bytes: bytes) -> tuple[np.ndarray, np.ndarray]:
    p = np.frombuffer(p_bytes)
    # The quantiles of scipy.stats, to the count; its import takes half a second, which a first game has not to spare.
    mean, sd, z = n * p, np.sqrt(n * p * (1 - p)), -ndtri(TAIL)
    # The guess is Cornish and Fisher's, right to the count in most rows.
    skew, excess = (1 - 2 * p) / sd, (1 - 6 * p * (1 - p)) / sd**2
    middle = mean + sd * skew * (z**2 - 1) / 6
    third = excess * (z**3 - 3 * z) / 24 - skew**2 * (2 * z**3 - 5 * z) / 36
    spread = sd * (z + np.where(sd > 3, third, 0.0))  # the series is none where counts are few

    def at_least(k: np.ndarray) -> np.ndarray:
        return (k >= n) | (betaincc(k + 1, np.maximum(n - k, 0.5), p) >= TAIL)

    def at_most(k: np.ndarray) -> np.ndarray:
        return (k >= n) | (betainc(k + 1, np.maximum(n - k, 0.5), p) <= TAIL)

    window = _first(at_least, middle - spread, n), _first(at_most, middle + spread, n)
    for counts in window:
        counts.flags.writeable = False  # they are shared
    return window


def _first(holds: Callable[[np.ndarray], np.ndarray], guess: np.ndarray, n: int) -> np.ndarray:
    """The least count in 0, ..., n of which a condition holds that holds of all above it and of n, for every row."""
    low, high = np.zeros(guess.shape, np.int64), np.full(guess.shape, n, np.int64)
    guess, step = np.rint(np.clip(guess, 0, n)), 1
    while True:  # a bracket (low - 1, high] around the guess, doubled until it holds the count
        begin = np.clip(guess - step, 0, n).astype(np.int64)
        end = np.clip(guess + step, 0, n).astype(np.int64)
        above, below = ~holds(begin), holds(end)
        low, high = np.where(above, begin + 1, low), np.where(~above, begin, np.where(below, end, high))
        if (~above | below).all() and (above | (begin == 0)).all():
            break
        step *= 4
    while (low < high).any():
        middle = (low + high) // 2
        enough = holds(middle)
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low


def _masses(n: int, p: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Probabilities in units of 2^-32, each row summing to 2^32 exactly; int64 (d, C)."""
    x = np.minimum(counts, n).astype(np.float64)
    log_p = gammaln(n + 1.0) - gammaln(x + 1) - gammaln(n - x + 1) + x * np.log(p)[:, None]
    pmf = np.where(counts <= n, np.exp(log_p + (n - x) * np.log1p(-p)[:, None]), 0.0)
    # Rounding the cumulative sums, not the terms, keeps the whole CDF within 2^-33 and the total exact.
    cdf = np.cumsum(pmf / pmf.sum(axis=1, keepdims=True), axis=1)
    return np.diff(np.rint(np.minimum(cdf, 1.0) * 2.0**32).astype(np.int64), axis=1, prepend=0)


def alias_entries(masses: np.ndarray, bits: int) -> np.ndarray:
    """Build Walker alias rows, thousands at once, a column of every row a step, in exact integers.
    `masses`: probabilities in units of 2^-32, int64 of shape (d, 2^bits), each row summing to 2^32; `bits`: log2 of the
    number of columns, 1 to 16. Returns the entries of a `BinomialTable`, uint32, shape (d, 2^bits).
    """
    together = max(1, _TOGETHER >> bits)
    parts = [_alias_rows(masses[k : k + together], bits) for k in range(0, max(1, len(masses)), together)]
    return np.concatenate(parts)


def _alias_rows(masses: np.ndarray, bits: int) -> np.ndarray:
    d, columns = masses.shape
    full = np.int64(1) << (32 - bits)
    heavy = masses > full
    # Light columns first and heavy ones after, each in order.
    order = np.argsort(heavy, axis=1, kind="stable")
    begin = np.arange(d) * columns  # of each row, all end to end
    order += begin[:, None]
    order, masses = order.ravel(), masses.ravel()
    light_end = begin + columns - heavy.sum(axis=1)
    end = begin + columns
    last = end - 1
    threshold = np.full(d * columns, full - 1, dtype=np.int64)
    alias = np.tile(np.arange(columns, dtype=np.int64), d)
    light, giver = begin.copy(), light_end.copy()
    at = order[np.minimum(giver, last)]
    left = np.where(giver < end, masses[at], full)
    while True:
        lends = np.flatnonzero((left > full) & (light < light_end))
        # A full threshold does not fit into its bits; a column that is its own alias needs none.
        c = order[light[lends]]
        mass = masses[c]
        threshold[c] = np.minimum(mass, full - 1)
        alias[c] = np.where(mass < full, at[lends], c) & (columns - 1)
        left[lends] += mass - full
        light[lends] += 1
        # A heavy column that retained exactly its own share needs no alias; a column that gave too much borrows.
        passes = np.flatnonzero((left <= full) & (giver < last))
        giver[passes] += 1
        c, rest, after = at[passes], left[passes], order[giver[passes]]
        threshold[c] = np.minimum(rest, full - 1)
        alias[c] = np.where(rest < full, after, c) & (columns - 1)
        left[passes] = rest + masses[after] - full
        at[passes] = after
        if not lends.size and not passes.size:
            break
    # An untouched column keeps itself, whatever the comparison says.
    return ((threshold << bits) | alias).astype(np.uint32).reshape(d, columns)
