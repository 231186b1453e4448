import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from mipsim.distributions.binomial_table import TAIL, binomial_table, binomial_window, draw, table_bits

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
    error = np.cumsum(law, axis=1) - stats.binom.cdf(counts, n, P[:, None])
    assert np.abs(error).max() < 2.0**-33 + 2.0**-34 + 1e-10


def test_a_wrong_law_is_seen():
    law = binomial_table(1000, [0.5]).probabilities()
    counts = binomial_table(1000, [0.5]).low[0] + np.arange(law.shape[1])
    assert (
        np.abs(np.cumsum(law[0]) - stats.binom.cdf(counts, 1000, 0.5 + 1e-8)).max()
        > 2.0**-33 + 2.0**-34 + 1e-10
    )


@pytest.mark.parametrize("n", [2, 20, 999])
def test_every_word_draws_what_the_table_says(n):
    # Words on an even grid meet each outcome as often as its probability says, to the grid's step per threshold.
    table = binomial_table(n, [0.3])
    words = np.arange(0, 2**32, 2**14, dtype=np.uint64).astype(np.uint32)
    sample = np.asarray(draw(jnp.asarray(table.entries[0]), jnp.asarray(words), table.bits))
    result = np.bincount(sample, minlength=table.entries.shape[1]) / words.size
    assert np.abs(result - table.probabilities()[0]).max() <= table.entries.shape[1] * 2.0**-18


def test_equal_probabilities_share_a_row():
    table = binomial_table(50, np.full(7, 0.4))
    assert (table.entries == table.entries[0]).all()
    assert table.entries.shape == (7, 1 << table.bits)


def test_bits_grow_with_the_window():
    assert [table_bits(n, np.array([0.5])) for n in (1, 3, 1000, 100_000)] == [1, 2, 8, 11]
    assert binomial_table(3, [0.5], bits=5).entries.shape == (1, 32)


@pytest.mark.parametrize("n", [1, 2, 5, 30, 999, 1000, 10**5, 10**8])
def test_tables_begin_and_end_where_the_quantiles_of_scipy_do(n):
    """To the count: a table that began elsewhere would draw other games from the same words."""
    p = np.concatenate(
        [RNG.uniform(size=500), np.geomspace(1e-12, 0.5, 100), 1 - np.geomspace(1e-12, 0.5, 100)]
    )
    low, high = binomial_window(n, p)
    np.testing.assert_array_equal(low, stats.binom.ppf(TAIL, n, p).clip(0, n))
    np.testing.assert_array_equal(high, stats.binom.isf(TAIL, n, p).clip(0, n))
