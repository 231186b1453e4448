"""A curve by games at one size: what its interval excludes is confirmed only where the exact law explains it."""

import numpy as np
import pytest

import mipsim as mi
from mipsim.tradeoff import GaussianTradeOff
from sims.studies import STUDIES
from sims.study import Study
from verify import by_games
from verify.by_games import judge_curve, law_at_this_size
from verify.claim import Budget, Verdict

BUDGET = Budget("quick", 1e-9, seed=3)
GAMES = (2_000_000, 2_000_000, 2_000_000)
# The intervals of these games, at 1e-9 over 64 thresholds, are at most 0.05 wide on either side between FPRs of 1% and
# 99% (7.6 standard errors of 0.0053 at the ends), and 0.0125 mid-curve: they exclude the shift, and fit the tolerance.
SHIFT, TOLERANCE = 0.03, 0.1


def gaussian(name: str, known: bool) -> Study:
    """The mean of Gaussian records with known parameters: its curve is G_mu up to 1/n, mu = sqrt(d / n)."""

    def build():
        data = mi.Gaussian(0.0, 1.0, d=50)
        game = mi.FixedTarget(mi.EmpiricalMean(), data, n=50, target=np.ones(50))
        score = mi.CovarianceScore(data, n=50)
        return game, score if known else mi.FunctionAttack(lambda target, output: output.max())

    return Study(name, "test", build, {"quick": 1, "standard": 1, "full": 1})


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> Study:
    monkeypatch.setitem(STUDIES, "known", gaussian("known", True))
    for cached in (law_at_this_size, by_games._played):
        cached.cache_clear()
    return STUDIES["known"]


def test_the_law_tells_finite_n_from_chance(known: Study, monkeypatch: pytest.MonkeyPatch):
    law = law_at_this_size("known")
    assert law is not None
    mu = float(law.probit_beta(0.5)) * -1
    near = GaussianTradeOff(mu + SHIFT)
    found = judge_curve(known, near, TOLERANCE, BUDGET, {}, games=GAMES)
    assert (found.verdict, found.tolerance) == ("CONFIRMED", TOLERANCE)
    assert "agree with the exact law at this size" in found.detail
    # The same games without the law: the claim is outside their interval, and nobody knows why.
    monkeypatch.setattr(by_games, "law_at_this_size", lambda name: None)
    found = judge_curve(known, near, TOLERANCE, BUDGET, {}, games=GAMES)
    assert max(abs(end) for end in found.interval) <= TOLERANCE
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "no exact law is known at this size" in found.detail


def test_a_false_curve_is_not_confirmed(known: Study):
    far = GaussianTradeOff(1.2)
    assert judge_curve(known, far, 0.05, BUDGET, {}, games=GAMES).verdict is Verdict.INCONCLUSIVE
    assert judge_curve(known, far, 0.05, BUDGET, {}, games=GAMES, refutes=True).verdict is Verdict.REFUTED


def test_no_law_where_none_is_known(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(STUDIES, "unknown", gaussian("unknown", False))
    law_at_this_size.cache_clear()
    assert law_at_this_size("unknown") is None
