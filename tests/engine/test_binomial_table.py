import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

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
