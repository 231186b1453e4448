"""The cells of wide binomial laws: what is sampled is known exactly, and compared with SciPy's laws at every count."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from mipsim.distributions.binomial_cells import (
    MOST_ERROR,
    BinomialCells,
    binomial_cells,
    cell_layout,
)

P = np.array([0.5, 0.25, 0.75, 0.3, 0.01, 0.99, 1e-3, 1e-5])


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
    layout = cell_layout(n, P)
    assert layout is not None
    for trials in (n, n - 1):
        table = binomial_cells(trials, P, layout)
        assert (table.masses.sum(axis=1) == 2**32).all()
        assert table.masses.min() >= 0
        assert most_off(table, trials, P) <= table.error < MOST_ERROR


def test_wrong_laws_are_seen():
    """Another p by a part in 10^11, a mean moved by a single count, and a distribution function that is off by 1e-4 at a single count."""
    n = 10**6
    layout = cell_layout(n, P)
    assert layout is not None
    table = binomial_cells(n, P, layout)
    assert most_off(table, n, P * (1 + 1e-11)) > 2 * table.error
    assert most_off(replace(table, low=table.low + 1), n, P) > 1e4 * table.error
    bent = table.masses.copy()
    bent[:, [200, 201]] += np.array([1, -1]) * round(1e-4 * 2**32)
    assert most_off(replace(table, masses=bent), n, P) > 5e-5


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


def test_what_would_take_too_long_has_no_cells():
    assert cell_layout(2**53, np.array([0.5])) is None  # too wide
    assert cell_layout(10**9, np.linspace(0.2, 0.8, 20_000)) is None  # too many counts
    same = np.full(20_000, 0.3)  # they all have the same law, and a single row of the table
    layout = cell_layout(10**9, same)
    assert layout is not None
    assert binomial_cells(10**9, same, layout).masses.shape[0] == 1
