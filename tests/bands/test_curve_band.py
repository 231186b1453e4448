import numpy as np
import pytest
from scipy.special import ndtr, ndtri
from scipy.stats import binom

from mipsim.bands import CurveBand
from mipsim.tradeoff import GaussianTradeOff

RISK = 0.05
REPLICATES = 1000
MU = 1.0
# Failures allowed at the nominal rate; a true rate at or below it passes with probability 1 - 1e-9.
ALLOWED = binom.isf(1e-9, REPLICATES, RISK)


def bands(draw_counts, alpha: np.ndarray, beta: np.ndarray, games: int, thresholds: int | None = None):
    rng = np.random.default_rng(20)
    out, inside = draw_counts(rng, alpha, games, REPLICATES), draw_counts(rng, beta, games, REPLICATES)
    risk = RISK if thresholds is None else min(0.999, RISK * thresholds)
    for x, y in zip(out, inside, strict=True):
        yield CurveBand.from_counts(x, games, y, games, risk)


def test_the_band_and_its_numbers_cover_the_gaussian_curve(draw_counts) -> None:
    t = np.linspace(-1.5, 3.5, 12)
    truth = GaussianTradeOff(MU)
    grid = np.concatenate([np.geomspace(1e-5, 0.1, 60), np.linspace(0.1, 1.0, 60)])
    values = truth.beta(grid)
    advantage, auc = truth.advantage(), float(ndtr(MU / np.sqrt(2)))
    misses = dict.fromkeys(("band", "advantage", "auc", "mu", "epsilon", "eta"), 0)
    for band in bands(draw_counts, ndtr(-t), ndtr(t - MU), 2000):
        low, high = band.at(grid)
        misses["band"] += bool(((low > values) | (values > high)).any())
        a, u = band.advantage_interval(), band.auc_interval()
        misses["advantage"] += not a[0] <= advantage <= a[1]
        misses["auc"] += not u[0] <= auc <= u[1]
        misses["mu"] += band.mu_lower() > MU
        epsilon = band.epsilon_lower(1e-3)
        misses["epsilon"] += epsilon > 0 and float(truth.delta(epsilon)) < 1e-3
        misses["eta"] += band.eta_lower() > advantage / 2
    assert max(misses.values()) <= ALLOWED, misses


def test_a_band_without_the_share_per_threshold_would_be_caught(draw_counts) -> None:
    t = np.linspace(-1.5, 3.5, 12)
    alpha, beta = ndtr(-t), ndtr(t - MU)
    misses = sum(
        bool(
            (
                (b.alpha_low > alpha) | (alpha > b.alpha_high) | (b.beta_low > beta) | (beta > b.beta_high)
            ).any()
        )
        for b in bands(draw_counts, alpha, beta, 2000, thresholds=12)
    )
    assert misses > ALLOWED


def test_discrete_scores_are_covered(draw_counts) -> None:
    """Sums of 20 coins, p = 0.4 out and 0.5 in; the curve is that of the best deterministic threshold."""
    t = np.arange(2, 16)
    alpha, beta = binom.sf(t, 20, 0.4), binom.cdf(t, 20, 0.5)
    every = np.arange(-1, 21)
    all_alpha, all_beta = binom.sf(every, 20, 0.4), binom.cdf(every, 20, 0.5)
    grid = np.unique(np.concatenate([all_alpha, np.linspace(0, 1, 101)]))
    values = np.array([all_beta[all_alpha <= a].min() for a in grid])
    mass_out, mass_in = binom.pmf(np.arange(21), 20, 0.4), binom.pmf(np.arange(21), 20, 0.5)
    auc = float(sum(mass_in[i] * (mass_out[:i].sum() + 0.5 * mass_out[i]) for i in range(21)))
    missed_band = missed_auc = 0
    for band in bands(draw_counts, alpha, beta, 1000):
        low, high = band.at(grid)
        missed_band += bool(((low > values + 1e-12) | (values > high + 1e-12)).any())
        least, most = band.auc_interval()
        missed_auc += not least <= auc <= most
    assert max(missed_band, missed_auc) <= ALLOWED


def test_the_steps_are_those_of_the_definition() -> None:
    rng = np.random.default_rng(5)
    x = np.sort(rng.integers(0, 1000, 9))[::-1]
    y = np.sort(rng.integers(0, 1000, 9))
    band = CurveBand.from_counts(x, 1000, y, 1000, 0.01)
    for a in np.concatenate([band.alpha_low, band.alpha_high, rng.random(50), [0.0, 1.0]]):
        upper = min(
            [b for b, u in zip(band.beta_high, band.alpha_high, strict=True) if u <= a], default=1.0
        ) * (a < 1)
        lower = max([b for b, u in zip(band.beta_low, band.alpha_low, strict=True) if u > a], default=0.0)
        assert (float(band.lower(a)), float(band.upper(a))) == (lower, upper)
    fine = np.linspace(0, 1, 200_001)
    low, high = band.at(fine)
    least, most = band.auc_interval()
    assert least == pytest.approx(1 - high.mean(), abs=1e-4)
    assert most == pytest.approx(1 - low.mean(), abs=1e-4)
    assert band.advantage_interval()[1] == pytest.approx((1 - fine - low).max(), abs=1e-5)


@pytest.mark.parametrize("by_lot", [True, False])
def test_a_band_of_ties_holds_the_curve_by_lot(draw_counts, by_lot: bool) -> None:
    """Four values, each in a cell of its own; control: the curve of tests without a lot leaves the band between two values."""
    alpha, beta = np.array([0.9, 0.5, 0.2]), np.array([0.05, 0.2, 0.6])
    x, y = np.concatenate([[1.0], alpha, [0.0]]), np.concatenate([[0.0], beta, [1.0]])
    grid = np.linspace(0.0, 1.0, 201)
    step = np.array([y[x <= a].min() for a in grid])
    truth = np.interp(grid, x[::-1], y[::-1]) if by_lot else step
    single = np.array([True] * 4)
    misses = 0
    for band in bands(draw_counts, alpha, beta, 4000):
        low, high = CurveBand(band.alpha_low, band.alpha_high, band.beta_low, band.beta_high, single).at(grid)
        misses += bool(((low > truth) | (truth > high)).any())
    assert misses <= ALLOWED if by_lot else misses == REPLICATES


def test_the_lower_bound_of_mu_is_the_best_threshold() -> None:
    band = CurveBand.from_counts([5000, 1587], 10_000, [1587, 5000], 10_000, 1e-3)
    expected = (-ndtri(band.alpha_high) - ndtri(band.beta_high)).max()
    assert band.mu_lower() == pytest.approx(expected)
    assert 0.85 < band.mu_lower() < 1.0


@pytest.mark.parametrize(("x", "y"), [([0], [0]), ([10], [10]), ([0], [10]), ([10], [0])])
def test_counts_at_the_ends(x: list[int], y: list[int]) -> None:
    band = CurveBand.from_counts(x, 10, y, 10, 1e-3)
    low, high = band.at([0.0, 0.5, 1.0])
    assert ((low >= 0) & (low <= high) & (high <= 1)).all()
    assert np.isfinite([*band.advantage_interval(), *band.auc_interval(), band.mu_lower()]).all()
    assert band.epsilon_lower(0.0) >= 0


@pytest.mark.parametrize("single", [None, np.array([False, True, False, False, True, False])])
def test_the_area_of_a_yes_no_attack_counts_ties_half(single: np.ndarray | None) -> None:
    """From 10^9 games on the band tells the AUC: FPR 1/2 and FNR 2/5 at the values 0 and 1 make it 0.55, without ties 0.3 to 0.8."""
    n = 10**9
    counts = [n, n // 2, n // 2, n // 2, 0], n, [0, 2 * n // 5, 2 * n // 5, 2 * n // 5, n], n
    low, high = CurveBand.from_counts(*counts, 0.001, single).auc_interval()
    assert low < 0.55 < high
    assert (low > 0.3 + 0.2) == (high < 0.8 - 0.2) == (single is not None)
