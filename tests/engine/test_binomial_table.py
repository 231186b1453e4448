from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from mipsim.distributions.binomial_cells import (
    MOST_ERROR,
    BinomialCells,
    binomial_cells,
    cell_layout,
    place_in_cell,
)
from mipsim.distributions.binomial_table import TAIL, binomial_table, binomial_window, draw

RNG = np.random.default_rng(0)
P = np.concatenate([RNG.uniform(0.25, 0.75, 20), RNG.uniform(1e-4, 0.02, 5), [0.5, 0.5, 0.999, 1e-9]])


@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 999, 1000, 20_000])
def test_the_tabulated_law_is_binomial(n):
    table = binomial_table(n, P)
    law = table.probabilities()
    counts = table.low[:, None] + np.arange(law.shape[1])
    np.testing.assert_array_equal(law.sum(axis=1), 1.0)
    assert law[counts > n].sum() == 0
    # The CDF is rounded to 2^-32 and its tails beyond 2^-34 are cut; 1e-10 leaves room for the log-gamma function.
    error, wrong = (
        np.abs(np.cumsum(law, axis=1) - stats.binom.cdf(counts, n, p[:, None])) for p in (P, P + 1e-8)
    )
    assert error.max() < 2.0**-33 + 2.0**-34 + 1e-10
    assert n < 999 or wrong.max() > 2.0**-33 + 2.0**-34 + 1e-10  # the control: p off by 1e-8


@pytest.mark.parametrize("n", [2, 20, 999])
def test_every_word_draws_what_the_table_says(n):
    # Words on an even grid meet each outcome as often as its probability says, to the grid's step per threshold.
    table = binomial_table(n, [0.3])
    words = np.arange(0, 2**32, 2**14, dtype=np.uint64).astype(np.uint32)
    sample = np.asarray(draw(jnp.asarray(table.entries[0]), jnp.asarray(words), table.bits))
    result = np.bincount(sample, minlength=table.entries.shape[1]) / words.size
    assert np.abs(result - table.probabilities()[0]).max() <= table.entries.shape[1] * 2.0**-18


@pytest.mark.parametrize("n", [1, 2, 5, 30, 999, 1000, 10**5, 10**8])
def test_tables_begin_and_end_where_the_quantiles_of_scipy_do(n):
    """To the count: a table that began elsewhere would draw other games from the same words."""
    p = np.concatenate(
        [RNG.uniform(size=500), np.geomspace(1e-12, 0.5, 100), 1 - np.geomspace(1e-12, 0.5, 100)]
    )
    low, high = binomial_window(n, p)
    np.testing.assert_array_equal(low, stats.binom.ppf(TAIL, n, p).clip(0, n))
    np.testing.assert_array_equal(high, stats.binom.isf(TAIL, n, p).clip(0, n))


# The cells of wide binomial laws: what is sampled is known exactly, and compared with SciPy's laws at every count.

WIDE = np.array([0.5, 0.25, 0.75, 0.3, 0.01, 0.99, 1e-3, 1e-5])


def sampled(table: BinomialCells, j: int) -> tuple[np.ndarray, np.ndarray]:
    """Every count that coordinate j can have, and the distribution function there, from the whole masses."""
    width = 1 << int(table.shifts[j])
    masses = table.masses[table.row[j]]
    apart = np.zeros(masses.size * width)
    apart[::width] = masses / 2.0**32
    bell = np.ones(1)
    for _ in range(4):
        bell = np.convolve(bell, np.ones(width))  # whole numbers below 2^32
    law = np.convolve(apart, bell / bell.sum())
    return table.low[j] + np.arange(law.size), np.cumsum(law)


def most_off(table: BinomialCells, n: int, p: np.ndarray) -> float:
    return max(
        np.abs(cdf - stats.binom.cdf(counts, n, p[j])).max()
        for j, (counts, cdf) in ((j, sampled(table, j)) for j in range(p.size))
    )


@pytest.mark.evidence
@pytest.mark.parametrize("n", [2, 700, 3_000, 30_000, 10**6, 10**7, 4 * 10**7])
def test_the_law_is_binomial_at_every_count(n):
    """The stated error is what it is, and below the bound that all tables of sums keep."""
    layout = cell_layout(n, WIDE)
    assert layout is not None
    for trials in (n, n - 1):
        table = binomial_cells(trials, WIDE, layout)
        assert (table.masses.sum(axis=1) == 2**32).all()
        assert table.masses.min() >= 0
        assert most_off(table, trials, WIDE) <= table.error < MOST_ERROR


def test_wrong_laws_are_seen():
    """Another p by a part in 10^11, a mean moved by a single count, and a distribution function that is off by 1e-4 at a single count."""
    n = 10**6
    layout = cell_layout(n, WIDE)
    assert layout is not None
    table = binomial_cells(n, WIDE, layout)
    assert most_off(table, n, WIDE * (1 + 1e-11)) > 2 * table.error
    assert most_off(replace(table, low=table.low + 1), n, WIDE) > 1e4 * table.error
    bent = table.masses.copy()
    bent[:, [200, 201]] += np.array([1, -1]) * round(1e-4 * 2**32)
    assert most_off(replace(table, masses=bent), n, WIDE) > 5e-5


def test_the_bound_is_that_of_the_widest_cells():
    """Cells as wide as their layout allows, of every width, over laws of every skewness."""
    rng = np.random.default_rng(0)
    worst = {}
    for n in np.geomspace(10_000, 2**40, 40).astype(np.int64).tolist():
        sd = 2.0 ** rng.uniform(4.0, min(14.0, np.log2(n) / 2 - 1), 6)
        p = 0.5 - np.sqrt(np.maximum(0.25 - sd**2 / n, 0.0))
        layout = cell_layout(n, p)
        assert layout is not None
        error = binomial_cells(n, p, layout).error
        worst.update({int(s): max(error, worst.get(int(s), 0.0)) for s in layout.shifts})
    assert set(worst) == set(range(9))
    assert max(worst.values()) < MOST_ERROR


def test_every_place_in_a_cell_is_the_sum_of_four_numbers():
    low = np.arange(4, dtype=np.uint32)
    bytes_of = np.array(np.meshgrid(low, low, low, low)).reshape(4, -1)
    words = sum(
        (byte + 4 * 37) << np.uint32(8 * k) for k, byte in enumerate(bytes_of)
    )  # other bits do not matter
    places = np.asarray(place_in_cell(jnp.asarray(words, jnp.uint32), jnp.uint32(2)))
    np.testing.assert_array_equal(places, bytes_of.sum(axis=0))
    words = np.random.default_rng(0).integers(0, 2**32, 1000, dtype=np.uint32)
    for shift in range(9):
        parts = words[:, None] >> np.array([0, 8, 16, 24], np.uint32) & np.uint32((1 << shift) - 1)
        places = place_in_cell(jnp.asarray(words), jnp.uint32(shift))
        np.testing.assert_array_equal(np.asarray(places), parts.sum(axis=1))


def test_what_would_take_too_long_has_no_cells():
    assert cell_layout(2**53, np.array([0.5])) is None  # too wide
    assert cell_layout(10**9, np.linspace(0.2, 0.8, 20_000)) is None  # too many counts
    same = np.full(20_000, 0.3)  # they all have the same law, and a single row of the table
    layout = cell_layout(10**9, same)
    assert layout is not None
    assert binomial_cells(10**9, same, layout).masses.shape[0] == 1
