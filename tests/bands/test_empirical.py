"""Played curves: from counts and from scores, their bands and numbers, why an interval says nothing, and the picture."""

import re

import matplotlib as mpl
import numpy as np
import pytest
from scipy.special import ndtr

from mipsim.bands import EmpiricalTradeOff, approximate_dp, gdp
from mipsim.bands.curve_band import just_below
from mipsim.tradeoff import GaussianTradeOff

T = np.linspace(-2.0, 3.0, 16)


def curve(mu: float = 1.0, games: int = 100_000, t: np.ndarray = T, **settings) -> EmpiricalTradeOff:
    x, y = np.round(games * ndtr(-t)), np.round(games * ndtr(t - mu))
    return EmpiricalTradeOff(t, x, games, y, games, **settings)


def scores(games: int, seed: int = 0, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=games), rng.normal(mu, size=games)


def curve_of(out, inside, confidence: float = 0.999, **settings) -> EmpiricalTradeOff:
    return EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=confidence, **settings)


def test_frequencies_are_those_of_the_counts_and_counts_those_of_the_scores() -> None:
    c = EmpiricalTradeOff([0, 1], [3.0, 1.0], 10, (2, 9), 20)
    assert (c.alpha.tolist(), c.beta.tolist()) == ([0.3, 0.1], [0.1, 0.45])
    assert c.false_positives.dtype == c.false_negatives.dtype == np.int64
    free = curve_of([0.0, 1.0, 1.0, 3.0], [1.0, 2.0], 0.99)
    assert free.thresholds[1::2].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert free.thresholds[::2].tolist() == just_below(free.thresholds[1::2]).tolist()
    assert free.false_positives.tolist() == [4, 3, 3, 1, 1, 1, 1, 0]
    assert free.false_negatives.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert free.free_thresholds
    assert (free.out_games, free.in_games) == (4, 2)
    with pytest.raises(ValueError, match="thresholds were chosen after the scores"):
        free.compare(GaussianTradeOff(1.0))


def test_the_interval_of_the_tpr_is_that_of_the_band_and_no_wider() -> None:
    """It holds the true TPR of the counts' curve, and excludes that of a mu a tenth larger or smaller."""
    fpr = np.array([0.5])
    c = curve(1.0, 10**6, np.array([-0.02, 0.0, 0.02]))
    low, high = c.tpr_interval(fpr)
    fnr_low, fnr_high = c.band(fpr)
    assert np.array_equal(low, 1.0 - fnr_high)
    assert np.array_equal(high, 1.0 - fnr_low)
    larger, true, smaller = (GaussianTradeOff(mu).tpr_at(fpr) for mu in (1.1, 1.0, 0.9))
    assert ((low <= true) & (true <= high)).all()
    assert (larger > high).any()
    assert (smaller < low).any()
    assert [type(end) for end in c.tpr_interval(0.5)] == [float, float]
    assert c.tpr_interval([])[0].shape == (0,)


def test_infinite_scores_count_by_rank() -> None:
    """As the largest and the smallest of finite scores do, in every interval; NaN is refused."""
    out, inside = (np.clip(x, -1.0, 2.0) for x in scores(2000))
    infinite = [np.where(abs(x - 0.5) == 1.5, np.sign(x - 0.5) * np.inf, x) for x in (out, inside)]
    finite, ranked = curve_of(out, inside), curve_of(infinite[0], infinite[1])
    assert np.isfinite(ranked.thresholds).all()
    assert np.array_equal(ranked.false_positives, finite.false_positives)
    assert np.array_equal(ranked.false_negatives, finite.false_negatives)
    assert np.array_equal(ranked.band(finite.alpha), finite.band(finite.alpha))
    assert ranked.tied == finite.tied
    with pytest.raises(ValueError, match="out_scores holds NaN at index 1; NaN is refused, and infinite"):
        curve_of([0.0, np.nan], [1.0])
    with pytest.raises(ValueError, match="all equal inf; a constant score"):
        curve_of([np.inf] * 3, [np.inf] * 3)


def test_the_band_and_the_numbers_hold_the_curve_they_were_made_from() -> None:
    c, truth = curve(), GaussianTradeOff(1.0)
    grid = np.linspace(0, 1, 501)
    low, high = c.band(grid)
    assert ((low <= truth.beta(grid)) & (truth.beta(grid) <= high)).all()
    assert (np.diff(low) <= 0).all()
    assert (np.diff(high) <= 0).all()
    wider_low, wider_high = curve(confidence=0.999999).band(grid)
    assert ((wider_low <= low) & (high <= wider_high)).all()
    low, high = c.advantage_interval()
    assert low < c.advantage_lower_bound() < truth.advantage() < high
    low, high = c.auc_interval()
    assert low < ndtr(1 / np.sqrt(2)) < high
    assert 0.95 < c.mu_lower_bound() < 1.0
    assert 0 < c.epsilon_lower_bound(1e-5) < 4.38  # what 1-GDP gives at this delta
    assert c.eta_lower_bound() == c.advantage_lower_bound() / 2
    result = curve(confidence=0.99).compare(truth, tolerance=0.2)
    assert (result.failure_probability, result.tolerance) == (pytest.approx(0.01), 0.2)


def test_no_interval_is_0_to_1_without_a_reason() -> None:
    """Thresholds that separate nothing, and games that are too few."""
    nothing = EmpiricalTradeOff([0.0, 1.0], [1000, 0], 1000, [0, 1000], 1000)
    few = EmpiricalTradeOff(T, [2] * 8 + [0] * 8, 3, [0] * 8 + [3] * 8, 3)
    single = EmpiricalTradeOff([0.0], [1], 1, [0], 1)
    for c, reason in (
        (nothing, "no threshold has scores of the same world on both sides"),
        (few, "3 and 3 games are too few"),
        (single, "1 and 1 games are too few"),
    ):
        assert reason in str(c)
        for ask in (c.advantage_interval, c.auc_interval):
            with pytest.warns(UserWarning, match=reason):
                low, high = ask()
            assert high - low > 0.999
    assert single.band([0.0, 0.5, 1.0])[0].min() >= 0
    assert single.mu_lower_bound() == 0.0
    assert single.compare(GaussianTradeOff(1.0)).verdict == "INCONCLUSIVE"
    assert "why" not in str(curve())


@pytest.mark.evidence
def test_lower_bounds_of_scores_are_one_sided_and_beat_the_two_sided_band() -> None:
    """The review's case: 1000 scores, mu = 1/2; the band of both sides at 5% gave .289 on average."""
    curve = curve_of(*scores(1000, mu=0.5), confidence=0.95)
    both = curve.curve_band.alpha_high, curve.curve_band.beta_high
    assert gdp().least(*both) < curve.mu_lower_bound() < 0.6
    assert curve.curve_band.advantage_interval()[0] < curve.advantage_lower_bound()
    assert approximate_dp(0.01).least(*both) < curve.epsilon_lower_bound(0.01)
    assert (
        0.8 < curve_of(*scores(20_000), confidence=1 - 2e-9).mu_lower_bound() < 1.0
    )  # beyond the calibration


def test_tied_scores_give_bounds() -> None:
    rng = np.random.default_rng(3)
    out, inside = (rng.random(2000) < p for p in (0.2, 0.8))
    curve = curve_of(out * 1.0, inside * 1.0, confidence=0.99)
    assert curve.thresholds[1::2].tolist() == [0.0, 1.0]
    # The estimate is 1.62; the spacing of the ranks, 0.08, and four standard errors of 0.046 are what may be lost.
    assert 1.62 - 0.08 - 4 * 0.046 < curve.mu_lower_bound() < 2 * 0.8417
    assert 0.5 < curve.advantage_lower_bound() < 0.65
    assert curve.auc_interval()[0] < 0.8 < curve.auc_interval()[1]


def test_a_warning_of_a_wide_interval_rounds_it_outwards() -> None:
    for seed in range(5):
        with pytest.warns(UserWarning, match="the TPR interval at FPR 0.02 is") as warned:
            low, high = curve_of(*scores(200, seed, 3.0)).tpr_interval(0.02)
        ends = re.search(r"is \[([^,]+), ([^\]]+)\]", str(warned[0].message))
        assert ends is not None
        below, above = (float(end) for end in ends.groups())
        assert below <= low
        assert high <= above
        assert (below, above) == pytest.approx((low, high), abs=1e-3)


@pytest.mark.usefixtures("no_screen")
def test_the_plotted_band_is_the_band() -> None:
    from matplotlib import pyplot

    before, (_, ax), c = dict(mpl.rcParams), pyplot.subplots(), curve(t=np.linspace(-2, 5, 24), games=10_000)
    assert c.plot(GaussianTradeOff(1.0), ax=ax) is ax
    assert dict(mpl.rcParams) == before
    corners = np.asarray(ax.collections[0].get_paths()[0].vertices)
    inside = corners[(corners[:, 0] > 0) & (corners[:, 0] < 1)]
    edges = *c.band(inside[:, 0]), *c.band(np.nextafter(inside[:, 0], 0))
    assert np.logical_or.reduce([np.isclose(inside[:, 1], edge, atol=1e-12) for edge in edges]).all()
    assert {line.get_label() for line in ax.lines} == {"played", "claimed", "blind guess"}
    for x, y in (([0], [0]), ([10], [10]), ([10], [0]), ([0], [10])):
        EmpiricalTradeOff([0.0], x, 10, y, 10).plot(GaussianTradeOff(0.0)).canvas.draw()


def test_the_interval_of_the_advantage_exists_at_the_highest_confidence() -> None:
    t = np.linspace(-2.0, 3.0, 100)
    above, below = (np.round(10**6 * ndtr(side)) for side in (-t, t - 1.0))
    finer = {"confidence": 1.0 - 2.0**-53, "finer_counts": (t, above, below)}
    low, high = curve(1.0, 10**6, t[::9], **finer).advantage_interval()
    assert low < 2.0 * ndtr(0.5) - 1.0 < high


def test_few_thresholds_keep_the_ends() -> None:
    out, inside = scores(50_000)
    curve = curve_of(out, inside, thresholds=200)
    assert curve.thresholds.size <= 200
    both = np.sort(np.concatenate([out, inside]))
    assert (curve.thresholds[0], curve.thresholds[-1]) == (both[0], both[-1])
    assert (curve.thresholds > both[-20]).sum() >= 3
