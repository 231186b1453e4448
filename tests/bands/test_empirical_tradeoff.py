import dataclasses

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

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


def _advantage_of_play(rng: np.random.Generator, games: int) -> tuple[float, float]:
    """The interval of normal scores, of which a quarter lie on an atom that no edge has, at 300 edges and 15 thresholds."""
    edges, few = np.linspace(-4.0, 5.0, 300), np.arange(0, 300, 20)
    scores = rng.normal([[0.0], [1.0]], size=(2, games))
    scores[rng.random((2, games)) < 0.25] = 0.517
    below = np.stack([np.searchsorted(np.sort(own), edges, "right") for own in scores])
    counts = games - below[0], below[1]
    return EmpiricalTradeOff.from_counts(
        edges[few], counts[0][few], games, counts[1][few], games, 0.9, finer_counts=(edges, *counts)
    ).advantage_interval()


def test_the_interval_of_the_advantage_narrows_with_the_games_and_covers_it() -> None:
    rng, truth = np.random.default_rng(0), 0.75 * (2.0 * ndtr(0.5) - 1.0)
    low, high = np.array([_advantage_of_play(rng, 500) for _ in range(400)]).T
    # 40 may fail on average; more than 85 have probability below 1e-9. The control has a fifth of the width.
    assert ((low > truth) | (high < truth)).sum() <= 85
    assert (abs((low + high) / 2.0 - truth) > (high - low) / 10.0).sum() > 85
    few, many = (high - low).mean(), np.diff(_advantage_of_play(rng, 50_000))[0]
    assert many < 0.3 + few / 5.0  # the atom's cell has 0.25 of the games, in any order


def test_the_interval_of_the_advantage_exists_at_the_highest_confidence() -> None:
    t = np.linspace(-2.0, 3.0, 100)
    above, below = (np.round(10**6 * ndtr(side)) for side in (-t, t - 1.0))
    own = EmpiricalTradeOff.from_counts(
        t[::9], above[::9], 10**6, below[::9], 10**6, 1.0 - 2.0**-53, finer_counts=(t, above, below)
    )
    low, high = own.advantage_interval()
    assert low < 2.0 * ndtr(0.5) - 1.0 < high


def test_a_bound_of_a_tpr_is_about_the_curve_whose_tprs_are_printed() -> None:
    """Five values of a score, a ROC curve that is not concave, equal scores by lot: wrong as seldom as stated, but for a chance of 1e-9, and
    below the upper end of the interval. Controls: 0.7 of the TPR, and what a coin between thresholds would reach, which is more.
    """
    out, inside = np.array([0.5, 0.2, 0.1, 0.1, 0.1]), np.array([0.05, 0.55, 0.02, 0.33, 0.05])
    cells = np.repeat(np.arange(5.0), 2)
    cells[::2] = np.nextafter(cells[::2], -1.0)
    fpr, games, trials = np.array([0.15, 0.25, 0.4]), 600, 200
    x, y = (np.cumsum([0.0, *masses[::-1]]) for masses in (out, inside))
    true = np.interp(fpr, x, y)
    bounds, ends, coin = np.empty((trials, 3)), np.empty((2, trials, 3)), np.empty(trials)
    for k in range(trials):
        x, y = (np.random.default_rng([k, *c]).multinomial(games, m) for c, m in (([0], out), ([1], inside)))
        below = [np.repeat(np.cumsum([0, *n]), 2)[1:-1] for n in (x, y)]
        curve = EmpiricalTradeOff.from_counts(cells, games - below[0], games, below[1], games, 0.9)
        bounds[k] = [curve.tpr_lower_bound(q) for q in fpr]
        ends[:, k] = curve._tpr(fpr)
        band = curve.curve_band
        coin[k] = (fpr[0] * (1.0 - band.beta_high) / np.maximum(band.alpha_high, fpr[0])).max()
    most = binom.isf(1e-9, trials, 0.1)
    assert ((bounds > true).sum(axis=0) <= most).all()
    assert ((bounds > 0.7 * true).sum(axis=0) > most)[1:].all()
    assert ((ends[0] <= true) & (true <= ends[1])).mean() > 0.9
    assert (bounds <= ends[1]).all()
    assert (coin > true[0]).mean() > 0.9
