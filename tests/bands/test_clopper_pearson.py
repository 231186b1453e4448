import numpy as np
import pytest
from scipy.stats import binom, binomtest

from mipsim.bands import clopper_pearson


@pytest.mark.parametrize(("count", "games"), [(0, 10), (3, 10), (10, 10), (1, 1), (0, 1), (499, 1000)])
def test_it_agrees_with_the_exact_binomial_test(count: int, games: int) -> None:
    low, high = clopper_pearson([count], games, 0.01)
    expected = binomtest(count, games).proportion_ci(0.99, "exact")
    assert low[0] == pytest.approx(expected.low, rel=1e-10, abs=1e-15)
    assert high[0] == pytest.approx(expected.high, rel=1e-10)


def miss_rates(low: np.ndarray, high: np.ndarray, games: int) -> tuple[float, float]:
    """The exact chance that each end misses, the largest over p, by summing the binomial law."""
    p = np.linspace(0.0, 1.0, 2003)[1:-1, None]
    mass = binom.pmf(np.arange(games + 1), games, p)
    return float((mass * (low > p)).sum(axis=1).max()), float((mass * (high < p)).sum(axis=1).max())


@pytest.mark.parametrize("games", [1, 7, 50, 400])
def test_each_end_misses_with_at_most_half_the_failure_probability(games: int) -> None:
    low, high = clopper_pearson(np.arange(games + 1), games, 0.02)
    assert max(miss_rates(low, high, games)) <= 0.01


def test_an_interval_of_two_standard_errors_would_be_caught() -> None:
    x = np.arange(401)
    p = x / 400
    error = 2.576 * np.sqrt(p * (1 - p) / 400)
    assert max(miss_rates(p - error, p + error, 400)) > 0.01


@pytest.mark.parametrize("count", [0, 1, 25, 10**6, 5 * 10**8, 10**9 - 25, 10**9 - 1, 10**9])
def test_a_billion_games(count: int) -> None:
    """Each end solves its binomial tail equation, and is 0 or 1 where there is none."""
    games, side = 10**9, 5e-13
    low, high = (float(end[0]) for end in clopper_pearson([count], games, 2 * side))
    assert low <= count / games <= high
    # An end of about 1 is rounded to 1e-16 and the tail then moves by up to 1e-16 games / its standard error.
    if count == 0:
        assert low == 0.0
    else:
        assert binom.sf(count - 1, games, low) == pytest.approx(side, rel=1e-4)
    if count == games:
        assert high == 1.0
    else:
        assert binom.cdf(count, games, high) == pytest.approx(side, rel=1e-4)


def test_the_failure_probability_is_shared_by_the_thresholds() -> None:
    item = clopper_pearson([5], 100, 0.001)
    shared = clopper_pearson([5], 100, 0.064, thresholds=64)
    assert np.allclose(item, shared, rtol=1e-12)
