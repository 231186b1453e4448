"""Weights that are wrong must close a gate; a wrong claim must be refuted at FPR 1e-6; bad input is refused."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

import mipsim as mi
from mipsim.rare.diagnostics import TailEstimate, check_agreement, check_moments
from mipsim.rare.linear_score import LinearScore
from mipsim.rare.plan import Tilt
from mipsim.rare.table_score import TableScore
from mipsim.rare.tilted_score import OUT, Cumulant

DATA = mi.Bernoulli([0.2, 0.45, 0.6, 0.3] * 10)
N = 50
GAME = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=N, target=DATA.easiest_target())
COVARIANCE = mi.CovarianceScore(DATA, n=N)
RATIO = mi.LikelihoodRatio(GAME.mechanism, DATA, N)
RATES = (1e-6, 1e-4, 1e-2)


@pytest.mark.evidence
@pytest.mark.parametrize(("kind", "attack"), [(LinearScore, COVARIANCE), (TableScore, RATIO)])
def test_games_tilted_otherwise_than_weighted_are_caught(
    monkeypatch: pytest.MonkeyPatch, kind: Any, attack: mi.AbstractAttack
) -> None:
    """Tilts 7% too large: the mean score is off by 0.07 w = 0.16 sd or more, against a limit of 0.07 at 10,000 games."""
    honest = kind.sampler
    mi.play_rare(GAME, attack, 20_000, false_positive_rates=RATES)  # the honest twin passes
    monkeypatch.setattr(kind, "sampler", lambda self, theta, world: honest(self, 1.07 * theta, world))
    with pytest.raises(ArithmeticError, match="the weights are wrong"):
        mi.play_rare(GAME, attack, 20_000, false_positive_rates=RATES)


@pytest.mark.parametrize(("kind", "attack"), [(LinearScore, COVARIANCE), (TableScore, RATIO)])
def test_a_wrong_normaliser_is_caught(
    monkeypatch: pytest.MonkeyPatch, kind: Any, attack: mi.AbstractAttack
) -> None:
    """K too large by a tenth of theta squared: neighbouring tilts then contradict each other by 15% or more."""
    honest = kind.cumulant

    def wrong(self: Any, theta: float, world: int) -> Cumulant:
        right = honest(self, theta, world)
        return right._replace(value=right.value + 0.3 * theta**2 * (world == OUT))

    monkeypatch.setattr(kind, "cumulant", wrong)
    with pytest.raises(ArithmeticError, match="estimate the same probability"):
        mi.play_rare(GAME, attack, 20_000, false_positive_rates=RATES)


def test_agreement_of_two_tilts() -> None:
    first = TailEstimate("first", np.array([500.0]), 10_000, np.array([1e-3]))
    check_agreement([first, TailEstimate("other", np.array([1000.0]), 10_000, np.array([5e-4]))])
    check_agreement(
        [first, TailEstimate("other", np.array([10.0]), 10_000, np.array([5e-4]))]
    )  # too few to say
    for off in (1600.0, 600.0):  # 8 to 9 standard errors
        with pytest.raises(ArithmeticError, match="standard errors apart"):
            check_agreement([first, TailEstimate("other", np.array([off]), 10_000, np.array([5e-4]))])
    with pytest.raises(ArithmeticError, match="standard errors apart"):  # 5e-5 against a bound of 1e-5
        check_agreement([first, TailEstimate("other", np.array([9000.0]), 10_000, np.array([1e-5]))])


def test_a_claim_five_per_cent_off_is_refuted_at_1e_6() -> None:
    """20,000 games, mu = 3: the half-width at failure probability 1e-9 is about 0.05 probits, the planted gap 0.15."""
    n = 10**6
    data = mi.Gaussian(0.0, 1.0, d=3)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=[3.0 * (n / 3) ** 0.5] * 3)
    curve = mi.play_rare(
        game, mi.CovarianceScore(data, n=n), 20_000, seed=11, false_positive_rates=[1e-6], confidence=1 - 1e-9
    )
    assert curve.compare(mi.GaussianTradeOff(3.0), tolerance=0.1).verdict == "CONFIRMED"
    for wrong in (3.15, 2.85):
        assert curve.compare(mi.GaussianTradeOff(wrong)).verdict == "REFUTED"
    low, high = curve.band(1.3e-6)
    assert low <= stats.norm.cdf(-stats.norm.ppf(1.3e-6) - 3.0) <= high < 0.97


def test_a_wide_tpr_interval_names_the_thresholds_that_make_it_narrow() -> None:
    first = mi.play_rare(GAME, COVARIANCE, 20_000, false_positive_rates=[1e-5])
    with pytest.warns(UserWarning, match=r"FPR 1e-05 is wide: pass false_positive_rates=\[8e-06, 1.25e-05\]"):
        wide = first.tpr_interval(1e-5)
    second = mi.play_rare(GAME, COVARIANCE, 20_000, false_positive_rates=[8e-6, 1.25e-5])
    low, high = second.tpr_interval(1e-5)  # a warning is an error in these tests
    assert high - low < 0.5 * (wide[1] - wide[0])


def test_what_it_looks_like() -> None:
    curve = mi.play_rare(GAME, COVARIANCE, 1000, false_positive_rates=RATES)
    assert "1,000 in each world" in str(curve)
    assert "<table>" in curve._repr_html_()
    assert curve.out_games == curve.in_games == curve.games == 1000
    assert (np.diff(curve.alpha) < 0).all()
    assert (np.diff(curve.beta) > 0).all()


@pytest.mark.evidence
def test_rare_values_of_a_score_are_no_defect() -> None:
    """Most of the variance comes from games of which 2,000 hold a handful; a wrong tilt of them is still seen."""
    data = mi.Bernoulli([1e-3])
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=2, target=[1.0])
    attack = mi.LikelihoodRatio(game.mechanism, data, 2)
    curve = mi.play_rare(game, attack, 2000, seed=1, false_positive_rates=[1e-4])
    low, high = curve.out.bounds(1e-9)
    truth = game.exact(attack).law.sf(curve.thresholds, inside=False)
    assert low[0] <= truth[0] <= high[0]
    poisson = Tilt(OUT, 1.0, Cumulant(0.0, 0.0, 1.0), (0,), True, 2000, 2)
    check_moments(poisson, 0.1, 3.0, lambda: 1000.0)
    with pytest.raises(ArithmeticError, match="the weights are wrong"):
        check_moments(poisson, 0.1, 30.0, lambda: 1000.0)
    with pytest.raises(ArithmeticError, match="the weights are wrong"):
        check_moments(poisson, 0.1, 3.0, lambda: 3.0)
