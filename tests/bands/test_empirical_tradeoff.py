import dataclasses

import numpy as np
import pytest
from scipy.special import ndtr

from mipsim.bands import EmpiricalTradeOff
from mipsim.tradeoff import GaussianTradeOff

T = np.linspace(-2.0, 3.0, 16)


def curve(mu: float = 1.0, games: int = 100_000, confidence: float = 0.999) -> EmpiricalTradeOff:
    x, y = np.round(games * ndtr(-T)), np.round(games * ndtr(T - mu))
    return EmpiricalTradeOff.from_counts(T, x, games, y, games, confidence)


def test_frequencies_and_dtypes() -> None:
    c = EmpiricalTradeOff.from_counts([0, 1], [3.0, 1.0], 10, (2, 9), 20)
    assert c.alpha.tolist() == [0.3, 0.1]
    assert c.beta.tolist() == [0.1, 0.45]
    assert c.false_positives.dtype == c.false_negatives.dtype == np.int64
    with pytest.raises(dataclasses.FrozenInstanceError):
        c.out_games = 5  # type: ignore[misc]


def test_the_interval_of_the_tpr_is_that_of_the_band_and_no_wider() -> None:
    """It holds the true TPR of the counts' curve, and excludes that of a mu a tenth larger or smaller."""
    t, games, fpr = np.array([-0.02, 0.0, 0.02]), 10**6, np.array([0.5])
    counts = (np.rint(games * ndtr(side)) for side in (-t, t - 1.0))
    c = EmpiricalTradeOff.from_counts(t, next(counts), games, next(counts), games)
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
    rng = np.random.default_rng(0)
    out, inside = np.clip(rng.normal([[0.0], [1.0]], size=(2, 2000)), -1.0, 2.0)
    finite = EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside)
    ranked = EmpiricalTradeOff.from_scores(
        **{
            name: np.where(abs(own - 0.5) == 1.5, np.sign(own - 0.5) * np.inf, own)
            for name, own in (("out_scores", out), ("in_scores", inside))
        }
    )
    assert np.isfinite(ranked.thresholds).all()
    assert np.array_equal(ranked.false_positives, finite.false_positives)
    assert np.array_equal(ranked.false_negatives, finite.false_negatives)
    assert np.array_equal(ranked.band(finite.alpha), finite.band(finite.alpha))
    assert ranked.tied == finite.tied
    with pytest.raises(ValueError, match="out_scores holds NaN at index 1; NaN is refused, and infinite"):
        EmpiricalTradeOff.from_scores(out_scores=[0.0, np.nan], in_scores=[1.0])
    with pytest.raises(ValueError, match="all equal inf; a constant score"):
        EmpiricalTradeOff.from_scores(out_scores=[np.inf] * 3, in_scores=[np.inf] * 3)


def test_the_band_holds_the_curve_it_was_made_from() -> None:
    c = curve()
    grid = np.linspace(0, 1, 501)
    low, high = c.band(grid)
    truth = GaussianTradeOff(1.0).beta(grid)
    assert ((low <= truth) & (truth <= high)).all()
    assert (np.diff(low) <= 0).all()
    assert (np.diff(high) <= 0).all()
    wider_low, wider_high = curve(confidence=0.999999).band(grid)
    assert ((wider_low <= low) & (high <= wider_high)).all()


def test_numbers_bracket_the_truth() -> None:
    c, truth = curve(), GaussianTradeOff(1.0)
    low, high = c.advantage_interval()
    assert low < truth.advantage() < high
    low, high = c.auc_interval()
    assert low < ndtr(1 / np.sqrt(2)) < high
    assert 0.95 < c.mu_lower_bound() < 1.0
    assert 0 < c.epsilon_lower_bound(1e-5) < 4.38  # what 1-GDP gives at this delta
    truth = GaussianTradeOff(1.0).advantage()
    assert c.advantage_interval()[0] < c.advantage_lower_bound() < truth
    assert c.auc_interval()[0] < c.auc_lower_bound()
    assert c.eta_lower_bound() == c.advantage_lower_bound() / 2


def test_compare_uses_the_confidence_of_the_curve() -> None:
    result = curve(confidence=0.99).compare(GaussianTradeOff(1.0), tolerance=0.2)
    assert result.failure_probability == pytest.approx(0.01)
    assert result.tolerance == 0.2
    assert result.verdict == "CONFIRMED"
    assert curve().compare(GaussianTradeOff(1.2)).verdict == "REFUTED"


def test_a_single_game() -> None:
    c = EmpiricalTradeOff.from_counts([0.0], [1], 1, [0], 1)
    assert c.band([0.0, 0.5, 1.0])[0].min() >= 0
    assert c.mu_lower_bound() == 0.0
    assert c.compare(GaussianTradeOff(1.0)).verdict == "INCONCLUSIVE"
    assert "no threshold" in str(c)


def test_no_interval_is_0_to_1_without_a_reason() -> None:
    """Thresholds that separate nothing, and games that are too few."""
    nothing = EmpiricalTradeOff.from_counts([0.0, 1.0], [1000, 0], 1000, [0, 1000], 1000)
    few = EmpiricalTradeOff.from_counts(T, [2] * 8 + [0] * 8, 3, [0] * 8 + [3] * 8, 3)
    for c, reason in (
        (nothing, "no threshold has scores of the same world on both sides"),
        (few, "3 and 3 games are too few"),
    ):
        assert reason in str(c)
        for ask in (c.advantage_interval, c.auc_interval):
            with pytest.warns(UserWarning, match=reason):
                low, high = ask()
            assert high - low > 0.999
    assert "why" not in str(curve())
    assert len(repr(curve())) < 120


def test_the_interval_of_the_advantage_exists_at_the_highest_confidence() -> None:
    t = np.linspace(-2.0, 3.0, 100)
    above, below = (np.round(10**6 * ndtr(side)) for side in (-t, t - 1.0))
    own = EmpiricalTradeOff.from_counts(
        t[::9], above[::9], 10**6, below[::9], 10**6, 1.0 - 2.0**-53, finer_counts=(t, above, below)
    )
    low, high = own.advantage_interval()
    assert low < 2.0 * ndtr(0.5) - 1.0 < high
