"""Rates that are a known multiple of a binomial probability: against brute force, plain counts and their own law."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri

from mipsim.bands import CurveBand, ScaledRates, compare_counts
from mipsim.bands.compare import compare_rates
from mipsim.tradeoff import GaussianTradeOff


def rates(count: object, games: object, scale: object, complement: object) -> ScaledRates:
    return ScaledRates(*(np.asarray(part) for part in (count, games, scale, complement)))


def test_plain_counts_are_the_case_of_scale_1() -> None:
    claim = GaussianTradeOff(1.1)
    x, y, n = np.array([8000, 3000, 1000]), np.array([300, 900, 2500]), 10_000
    plain = compare_counts(x, n, y, n, claim)
    item, games = np.ones(3), np.full(3, n)
    for inside in (
        rates(y, games, item, np.zeros(3, bool)),
        rates(n - y, games, item, np.ones(3, bool)),
    ):
        result = compare_rates(rates(x, games, item, np.zeros(3, bool)), inside, claim, tolerance=0.05)
        for name in ("estimate", "low", "high", "standard_error"):
            # The errors are planned with slightly different continuity corrections.
            assert np.allclose(getattr(result, name), getattr(plain, name), rtol=5e-3, atol=1e-6), name
        assert result.verdict == plain.verdict


def test_the_tests_are_the_binomial_ones_and_the_limits_invert_them() -> None:
    z = np.array([[-4.5], [-1.0]])
    some = rates([7, 30], [400, 90], [1e-4, 1.0], [False, True])
    q = np.array([ndtr(-4.5) / 1e-4, ndtr(1.0)])
    expected = [stats.binom.cdf(7, 400, q[0]), stats.binom.sf(29, 90, q[1])]  # a large count: a small rate
    assert ndtr(some.tail_probit(z, small=True))[:, 0] == pytest.approx(expected, rel=1e-9)
    for small in (True, False):
        limit = some.limit(-2.5, small)
        assert some.tail_probit(limit[:, None], small)[:, 0] == pytest.approx(-2.5, rel=1e-6)
    low, high = some.bounds(4 * ndtr(-2.5))
    assert ndtr(some.limit(-2.5, small=True)) == pytest.approx(high, rel=1e-9)
    assert ndtr(some.limit(-2.5, small=False)) == pytest.approx(low, rel=1e-9)


def test_the_band_holds_the_curve() -> None:
    z = np.array([2.0, 3.0, 4.0])
    out = rates(np.full(3, 1000), np.full(3, 10_000), 10 * ndtr(-z), np.zeros(3, bool))
    inside = rates(np.full(3, 1000), np.full(3, 10_000), 10 * ndtr(2 - z), np.ones(3, bool))
    band = CurveBand.of(out, inside, 1e-3)
    grid = ndtr(-np.linspace(2.1, 3.9, 50))
    low, high = band.at(grid)
    true = ndtr(-ndtri(grid) - 2.0)
    assert ((low <= true) & (true <= high)).all()
    assert (band.alpha_high < 1.4 * band.alpha_low).all()


def test_too_few_counts_are_not_used() -> None:
    games, item = np.full(2, 1000), np.ones(2)
    out = rates([24, 200], games, item * 1e-3, [False, False])
    inside = rates([500, 500], games, item, [False, False])
    result = compare_rates(out, inside, GaussianTradeOff(3.0))
    assert result.used.tolist() == [False, True]
    assert (result.low <= result.high).all()
    assert np.isfinite(result.half_width).all()
