import re

import numpy as np
import pytest

from mipsim.bands import EmpiricalTradeOff
from mipsim.bands.curve_band import just_below
from mipsim.tradeoff import GaussianTradeOff


def scores(games: int, seed: int = 0, mu: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=games), rng.normal(mu, size=games)


def curve_of(out, inside, confidence: float = 0.999, **settings) -> EmpiricalTradeOff:
    return EmpiricalTradeOff.from_scores(out_scores=out, in_scores=inside, confidence=confidence, **settings)


def test_counts_are_those_of_the_scores() -> None:
    curve = curve_of([0.0, 1.0, 1.0, 3.0], [1.0, 2.0], 0.99)
    assert curve.thresholds[1::2].tolist() == [0.0, 1.0, 2.0, 3.0]
    assert curve.thresholds[::2].tolist() == just_below(curve.thresholds[1::2]).tolist()
    assert curve.false_positives.tolist() == [4, 3, 3, 1, 1, 1, 1, 0]
    assert curve.false_negatives.tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    assert curve.free_thresholds
    assert (curve.out_games, curve.in_games) == (4, 2)


@pytest.mark.parametrize("seed", range(2))
def test_the_band_holds_the_truth_everywhere(seed: int) -> None:
    # At confidence 1 - 1e-9 a red test is a defect.
    curve = curve_of(*scores(20_000, seed), confidence=1 - 2e-9)
    alpha = np.concatenate([np.geomspace(1e-6, 0.01, 50), np.linspace(0.01, 1, 100)])
    low, high = curve.band(alpha)
    truth = GaussianTradeOff(1.0).beta(alpha)
    assert ((low <= truth) & (truth <= high)).all()
    assert 0.8 < curve.mu_lower_bound() < 1.0


def test_it_is_wider_than_fixed_thresholds_and_refuses_to_be_taken_for_them() -> None:
    out, inside = scores(20_000)
    free = curve_of(out, inside)
    t = np.linspace(-2, 3, 8)
    fixed = EmpiricalTradeOff.from_counts(
        t, [(out > x).sum() for x in t], out.size, [(inside <= x).sum() for x in t], inside.size
    )
    at = fixed.alpha[3]
    width = [float(curve.band(at)[1] - curve.band(at)[0]) for curve in (free, fixed)]
    assert width[0] < 0.2
    assert free.curve_band.lower(at) != fixed.curve_band.lower(at)
    with pytest.raises(ValueError, match="thresholds were chosen after the scores"):
        free.compare(GaussianTradeOff(1.0))


def test_few_thresholds_keep_the_ends() -> None:
    out, inside = scores(50_000)
    curve = curve_of(out, inside, thresholds=200)
    assert curve.thresholds.size <= 200
    both = np.sort(np.concatenate([out, inside]))
    assert curve.thresholds[0] == both[0]
    assert curve.thresholds[-1] == both[-1]
    assert (curve.thresholds > both[-20]).sum() >= 3


def test_lower_bounds_are_one_sided_and_beat_the_two_sided_band() -> None:
    """The review's case: 1000 scores, mu = 1/2; the band of both sides at 5% gave .289 on average."""
    curve = curve_of(*scores(1000, mu=0.5), confidence=0.95)
    assert curve.curve_band.mu_lower() < curve.mu_lower_bound() < 0.6
    assert curve.curve_band.eta_lower() < curve.eta_lower_bound()
    assert curve.curve_band.epsilon_lower(0.01) < curve.epsilon_lower_bound(0.01)
    assert curve.auc_interval()[0] < curve.auc_lower_bound() < 0.7


def test_tied_scores_give_bounds() -> None:
    rng = np.random.default_rng(3)
    out, inside = (rng.random(2000) < p for p in (0.2, 0.8))
    curve = curve_of(out * 1.0, inside * 1.0, confidence=0.99)
    assert curve.thresholds[1::2].tolist() == [0.0, 1.0]
    # The estimate is 1.62; the spacing of the ranks, 0.08, and four standard errors of 0.046 are what may be lost.
    assert 1.62 - 0.08 - 4 * 0.046 < curve.mu_lower_bound() < 2 * 0.8417
    assert 0.5 < curve.advantage_lower_bound() < 0.65
    assert curve.auc_interval()[0] < 0.8 < curve.auc_interval()[1]


@pytest.mark.parametrize("seed", range(5))
def test_a_warning_of_a_wide_interval_rounds_it_outwards(seed: int) -> None:
    curve = curve_of(*scores(200, seed, 3.0))
    with pytest.warns(UserWarning, match="the TPR interval at FPR 0.02 is") as warned:
        low, high = curve.tpr_interval(0.02)
    ends = re.search(r"is \[([^,]+), ([^\]]+)\]", str(warned[0].message))
    assert ends is not None
    below, above = (float(end) for end in ends.groups())
    assert below <= low
    assert high <= above
    assert (below, above) == pytest.approx((low, high), abs=1e-3)
