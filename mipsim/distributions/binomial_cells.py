"""Tables of wide binomial laws that do not grow with them: a word picks a cell of counts, another the place in it."""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
import scipy
from jaxtyping import Array, UInt32

from mipsim._validation import whole
from mipsim.distributions.binomial_table import MOST_BITS, TAIL, alias_entries, binomial_window

NARROW = 10
"""log2 of the columns up to which a table of counts does as well: wider ones take long to build and outgrow the cache."""
LEAST_BITS = 9
"""512 cells: they are at most a twentieth of a standard deviation wide, so that a spline is off by little."""
MOST_ERROR = 1e-9
"""What a distribution function may be off by, as those of other tables of sums; rounding takes 2e-10 of it."""
MOST_SHIFT = 8
"""log2 of the widest cell: the place in it is the sum of four numbers, the bytes of a word."""
MOST_COUNTS = 2**31
"""Over all distinct laws, each of which is computed count by count: half a minute."""

_FURTHER = 8  # columns beyond those of the window: a bell is four cells wide, and a fifth is in reserve
_TOGETHER = 2**20  # counts whose probabilities are in memory at once: 8 MB an array


@dataclass(frozen=True)
class BinomialCells:
    """d binomial laws, each a mixture of a bell of counts that is moved by whole cells.

    A count is low_j + column x 2^shift_j + Z, Z the sum of four independent uniform numbers of 0, ..., 2^shift_j - 1. So its
    law is a cubic spline over the counts with a knot in every cell. Where shift_j is 0 the table holds the law itself.
    """

    # the probabilities of the columns in units of 2^-32, a row for each different law, int64
    masses: np.ndarray
    row: np.ndarray  # of each coordinate, shape (d,)
    low: np.ndarray  # shape (d,), int64
    shifts: np.ndarray  # log2 of the width of a cell, shape (d,), at most 8
    bits: int  # log2 of the number of columns
    # a bound on the difference of the distribution functions, over all counts of all coordinates
    error: float

    def entries(self) -> np.ndarray:
        """Alias entries of the columns, as those of a `BinomialTable`, uint32, shape (d, 2^bits)."""
        return alias_entries(self.masses, self.bits)[self.row]


@dataclass(frozen=True)
class Layout:
    """Where the cells of d binomial laws lie, so that several laws of the same coordinate can share them."""

    # low, high: the first and last count that matter, shape (d,)
    low: np.ndarray
    high: np.ndarray
    shifts: np.ndarray  # log2 of the width of a cell, shape (d,)
    bits: int  # log2 of the number of columns


def place_in_cell(words: UInt32[Array, "..."], shift: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """Z of uniform words: the sum of the lowest `shift` bits of each of their four bytes (jittable)."""
    mask = ((jnp.uint32(1) << shift) - jnp.uint32(1)) * jnp.uint32(0x00010001)
    pairs = (words & mask) + ((words >> jnp.uint32(8)) & mask)
    return (pairs & jnp.uint32(0xFFFF)) + (pairs >> jnp.uint32(16))


def cell_layout(n: int, p: np.ndarray) -> Layout | None:
    """Cells for Binomial(n, p_j) and Binomial(n - 1, p_j), for every j.
    Returns None where there are none: a law is too wide for 2^16 columns of 2^8 counts, or all together have too many
    counts.
    """
    distinct, row = np.unique(p, return_inverse=True)
    about = 13.0 * np.sqrt(float(n) * distinct * (1 - distinct))
    if about.max() > 2.0 ** (MOST_BITS + MOST_SHIFT) or about.sum() > MOST_COUNTS:
        return None
    (low, high), (other, _) = binomial_window(n, distinct), binomial_window(max(n - 1, 1), distinct)
    low = np.minimum(low, other)
    counts = high - low + 1
    bits = LEAST_BITS
    while (counts > ((1 << bits) - _FURTHER) << MOST_SHIFT).any():
        bits += 1
    shifts = np.ceil(np.log2(np.maximum(counts / ((1 << bits) - _FURTHER), 1.0))).astype(np.int64)
    shifts[counts <= 1 << bits] = 0
    row = row.ravel()
    return Layout(low[row], high[row], shifts[row], bits) if bits <= MOST_BITS else None


def binomial_cells(n: int, p: np.ndarray, layout: Layout) -> BinomialCells:
    """Tabulate Binomial(n, p_j) for every j.

    The weights of the bells are those that give every cell its own probability; then they are rounded, in sum, to multiples of
    2^-32. What the distribution function is off by after that is computed at every count, not estimated.

    `n`: the number of trials, >= 1; `p`: success probabilities in (0, 1), shape (d,); `layout`: where the cells lie.

    Source: Schoenberg (1946) for splines as mixtures of bells; Walker (1977) for the alias table.
    """
    n, bits = whole("n", n, 1), layout.bits
    distinct, item, row = np.unique(p, return_index=True, return_inverse=True)
    masses = np.zeros((distinct.size, 1 << bits), np.int64)
    first, error = layout.low[item].copy(), 0.0
    lows, spans, shifts = first.copy(), (layout.high - layout.low)[item], layout.shifts[item]
    for shift in np.unique(shifts):
        own, width = np.flatnonzero(shifts == shift), 1 << int(shift)
        counts = int(spans[own].max()) + 1
        together = max(1, _TOGETHER // (counts + _FURTHER * width))
        for rows in (own[k : k + together] for k in range(0, own.size, together)):
            law = _law(n, distinct[rows], lows[rows], counts)
            if width == 1:
                masses[rows], off = _alone(law, bits)
            else:
                masses[rows], lead, off = _in_cells(law, width, bits)
                first[rows] -= lead
            # Five roundings a factor between a count and the likeliest count, which is a standard deviation away on average, and
            # 1 a term of the sums: 8 counts x 2^-53 is twice what they can make.
            error = max(error, off + TAIL + 8 * counts * 2.0**-53)
    row = row.ravel()
    return BinomialCells(masses, row, first[row], layout.shifts, bits, error)


def _law(n: int, p: np.ndarray, low: np.ndarray, counts: int) -> np.ndarray:
    """The distribution functions of Binomial(n, p_j) from low_j on, within these counts, shape (rows, counts)."""
    above = low[:, None] + np.arange(1.0, counts)
    factors = np.maximum(n + 1 - above, 0.0) / above * (p / (1 - p))[:, None]
    law = np.cumsum(np.cumprod(np.concatenate([np.ones((p.size, 1)), factors], axis=1), axis=1), axis=1)
    return law / law[:, -1:]


def _alone(law: np.ndarray, bits: int) -> tuple[np.ndarray, float]:
    """Masses of single counts, and what the distribution function is off by."""
    units = np.full((law.shape[0], 1 << bits), 1 << 32, np.int64)
    units[:, : law.shape[1]] = np.rint(law * 2.0**32)
    off = np.abs(units[:, : law.shape[1]] / 2.0**32 - law).max()
    return np.diff(units, axis=1, prepend=0), float(off)


def _in_cells(law: np.ndarray, width: int, bits: int) -> tuple[np.ndarray, int, float]:
    """Masses of bells, how far the first begins before the law, and what the distribution function is off by."""
    rows, counts = law.shape
    bell = np.ones(1)
    for _ in range(4):
        bell = np.convolve(bell, np.full(width, 1 / width))
    upto = np.minimum(np.concatenate([np.cumsum(bell), np.ones(3)]), 1.0)  # of 4 x width places
    # The middle of the first bell is a cell before the window: column y stands for the cell around y's middle.
    middle = 2 * width - 2
    lead = middle + width
    columns = -(-(counts + lead) // width) + 1
    exact = np.ones((rows, (columns + 4) * width))
    exact[:, :lead] = 0.0
    exact[:, lead : lead + counts] = law
    edges = middle - width // 2 + width * np.arange(columns + 1)
    inside = np.diff(exact[:, edges - 1], axis=1)
    places = np.clip(middle - width // 2 + width * np.arange(-2, 4), 0, 4 * width)
    in_bell = np.diff(np.concatenate([[0.0], upto])[places])
    banded = np.repeat(in_bell[:, None], columns, axis=1)
    weights = scipy.linalg.solve_banded((2, 2), banded, inside.T, check_finite=False).T
    # Some of the outermost are negative, by 1e-11 at most.
    total = np.maximum.accumulate(np.clip(np.cumsum(weights, axis=1), 0.0, None), axis=1)
    units = np.rint(total / total[:, -1:] * 2.0**32).astype(np.int64)
    masses = np.diff(units, axis=1, prepend=0)
    # The distribution function that is sampled: bells wholly below a count, and the four that reach it in part.
    reach = np.zeros((rows, columns + 4, 5))
    reach[:, 4:, 4] = units
    for back in range(4):
        reach[:, back : back + columns, back] = masses
    sample = (reach / 2.0**32) @ np.concatenate([upto.reshape(4, width), np.ones((1, width))])
    off = np.abs(sample.reshape(rows, -1) - exact).max()
    padded = np.zeros((rows, 1 << bits), np.int64)
    padded[:, :columns] = masses
    return padded, lead, float(off)
