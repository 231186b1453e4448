"""Counted rates: their tests against the binomial law, and their limits against Clopper and Pearson's."""

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr

from mipsim.bands import CountedRates
from mipsim.bands.compare import compare_rates
from mipsim.tradeoff import GaussianTradeOff


def test_the_tests_are_the_binomial_ones_and_the_limits_invert_them() -> None:
    z = np.array([[-1.8], [-1.0]])
    some = CountedRates(np.array([7, 60]), 400)
    q = ndtr(z[:, 0])
    assert ndtr(some.tail_probit(z, small=True))[:, 0] == pytest.approx(
        stats.binom.cdf([7, 60], 400, q), rel=1e-9
    )
    assert ndtr(some.tail_probit(z, small=False))[:, 0] == pytest.approx(
        stats.binom.sf([6, 59], 400, q), rel=1e-9
    )
    for small in (True, False):
        limit = some.limit(-2.5, small)
        assert some.tail_probit(limit[:, None], small)[:, 0] == pytest.approx(-2.5, rel=1e-6)
    low, high = some.bounds(4 * ndtr(-2.5))
    assert ndtr(some.limit(-2.5, small=True)) == pytest.approx(high, rel=1e-9)
    assert ndtr(some.limit(-2.5, small=False)) == pytest.approx(low, rel=1e-9)


def test_too_few_counts_are_not_used() -> None:
    out, inside = CountedRates(np.array([24, 200]), 1000), CountedRates(np.array([500, 500]), 1000)
    result = compare_rates(out, inside, GaussianTradeOff(1.0))
    assert result.used.tolist() == [False, True]
    assert (result.low <= result.high).all()
    assert np.isfinite(result.half_width).all()
