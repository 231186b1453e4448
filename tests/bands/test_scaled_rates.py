"""Rates that are a known multiple of a binomial probability: against brute force, plain counts and their own law."""

import re
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtr, ndtri, rel_entr

from mipsim.bands import ScaledRates, compare_counts, compare_rates, rates_band
from mipsim.tradeoff import GaussianTradeOff


def rates(count: object, games: object, scale: object, complement: object) -> ScaledRates:
    return ScaledRates(*(np.asarray(part) for part in (count, games, scale, complement)))


def test_plain_counts_are_the_case_of_scale_one() -> None:
    claim = GaussianTradeOff(1.1)
    x, y, n = np.array([8000, 3000, 1000]), np.array([300, 900, 2500]), 10_000
    plain = compare_counts(x, n, y, n, claim)
    one, games = np.ones(3), np.full(3, n)
    for inside in (
        rates(y, games, one, np.zeros(3, bool)),
        rates(n - y, games, one, np.ones(3, bool)),
    ):
        found = compare_rates(rates(x, games, one, np.zeros(3, bool)), inside, claim, tolerance=0.05)
        for name in ("estimate", "low", "high", "p_value", "standard_error"):
            # The errors are planned with slightly different continuity corrections.
            assert np.allclose(getattr(found, name), getattr(plain, name), rtol=5e-3, atol=1e-6), name
        assert found.verdict == plain.verdict


def test_profile_and_gap_by_brute_force() -> None:
    """Every pair of rates on a fine grid, with the definition of the deviance."""
    x, n, b0 = 150, 2000, 2e-5
    y, m, b1 = 300, 2500, 0.05
    claim = GaussianTradeOff(2.2)
    out, inside = rates([x], [n], [b0], [False]), rates([y], [m], [b1], [True])
    found = compare_rates(out, inside, claim, failure_probability=0.01)

    def deviance(count: int, games: int, q: np.ndarray) -> np.ndarray:
        return 2 * (rel_entr(count, games * q) + rel_entr(games - count, games * (1 - q)))

    a = b0 * np.linspace(0.04, 0.13, 1501)
    tpr = b1 * np.linspace(0.08, 0.17, 1501)
    spent, spendable = deviance(x, n, a / b0), deviance(y, m, tpr / b1)
    claimed = ndtr(ndtri(a) + 2.2)
    least = (
        spent + np.where(claimed < b1, deviance(y, m, np.minimum(claimed / b1, 1 - 1e-12)), np.inf)
    ).min()
    assert found.p_value[0] == pytest.approx(2 * stats.chi2.sf(least, 1), rel=1e-3)
    critical = stats.chi2.isf(0.005, 1)
    gap = (ndtri(tpr)[None, :] - (ndtri(a) + 2.2)[:, None])[spent[:, None] + spendable[None, :] <= critical]
    # Phi^-1(g(a)) - Phi^-1(b) = -(z_a + mu) + z_tpr; rounded outwards by less than a hundredth.
    assert found.low[0] == pytest.approx(gap.min(), abs=2e-3)
    assert found.high[0] == pytest.approx(gap.max(), abs=2e-3)
    assert found.low[0] <= gap.min() + 1e-4
    assert found.high[0] >= gap.max() - 1e-4


@pytest.mark.parametrize("z", [4.75, 2.33])
def test_true_claims_are_refuted_as_seldom_as_stated(z: float) -> None:
    """1000 replicates, as thresholds of one comparison: p <= 5% at most Binomial(1000, 0.05) often, cut off at 1e-9."""
    rng, runs, n = np.random.default_rng(5), 1000, 3000
    alpha, tpr = ndtr(-z), ndtr(2.0 - z)
    b0, b1 = alpha / 0.08, tpr / 0.2
    games, one = np.full(runs, n), np.ones(runs)
    out = rates(rng.binomial(n, alpha / b0, runs), games, b0 * one, one == 0)
    inside = rates(rng.binomial(n, tpr / b1, runs), games, b1 * one, one == 1)
    p_value = compare_rates(out, inside, GaussianTradeOff(2.0)).p_value
    assert (p_value <= 0.05).sum() <= stats.binom.isf(1e-9, runs, 0.05)
    # A gap of 0.4 is ten standard errors or more at every threshold.
    assert (compare_rates(out, inside, GaussianTradeOff(2.4)).p_value < 1e-3).all()
    low, high = out.bounds(1e-6)
    assert ((low <= alpha) & (alpha <= high)).all()


def test_the_band_holds_the_curve() -> None:
    z = np.array([2.0, 3.0, 4.0])
    out = rates(np.full(3, 1000), np.full(3, 10_000), 10 * ndtr(-z), np.zeros(3, bool))
    inside = rates(np.full(3, 1000), np.full(3, 10_000), 10 * ndtr(2 - z), np.ones(3, bool))
    band = rates_band(out, inside, 1e-3)
    grid = ndtr(-np.linspace(2.1, 3.9, 50))
    low, high = band.at(grid)
    true = ndtr(-ndtri(grid) - 2.0)
    assert ((low <= true) & (true <= high)).all()
    assert (band.alpha_high < 1.4 * band.alpha_low).all()


def test_too_few_counts_are_not_used() -> None:
    games, one = np.full(2, 1000), np.ones(2)
    out = rates([24, 200], games, one * 1e-3, [False, False])
    inside = rates([500, 500], games, one, [False, False])
    found = compare_rates(out, inside, GaussianTradeOff(3.0))
    assert found.used.tolist() == [False, True]
    assert found.low[0] == -np.inf
    assert np.isfinite(found.half_width).all()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"count": [11.0]}, "count is 11 of 10 games; it must be whole and at most as many"),
        ({"count": [-1.0]}, "count is -1 of 10 games"),
        ({"count": [0.5]}, "count is 0.5 of 10 games"),
        ({"scale": [0.0]}, "scale holds 0; every scale must be > 0"),
        ({"games": [10.0, 10.0]}, "they must be vectors of one length"),
    ],
)
def test_bad_rates(change: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"count": [5.0], "games": [10.0], "scale": [1.0], "complement": [False]} | change
    with pytest.raises(ValueError, match=re.escape(message)):
        rates(**given)


def test_bad_comparisons() -> None:
    one, two = (
        rates([5], [10], [1.0], [False]),
        rates([5, 6], [10, 10], [1.0, 1.0], [False, False]),
    )
    with pytest.raises(ValueError, match=r"inside has 2 rates; it must have 1, like out"):
        compare_rates(one, two, GaussianTradeOff(1.0))
    with pytest.raises(ValueError, match=r"claim is float; it must be a trade-off function"):
        compare_rates(one, one, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"tolerance is 0"):
        compare_rates(one, one, GaussianTradeOff(1.0), tolerance=0)
