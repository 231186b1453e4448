"""The verdicts on Azize & Basu: by statement and point, with the counterexamples that decide."""

from dataclasses import replace

import numpy as np
import pytest

import mipsim as mi
from mipsim import referee as rf
from verify.azize import CLAIMS, defences, gdp, lemmas, mean, misspecified, optimality, random_target
from verify.claim import Budget, Verdict
from verify.claim_result import verdict_on
from verify.limits import judge_identity
from verify.register import REGISTER

# One regime's share of a family-wise failure probability of 1e-9 over this whole file.
BUDGET = Budget("quick", 1e-9 / 1000, seed=1)
EXACT = [
    (claim.id, regime.name)
    for claim in CLAIMS
    for regime in claim.regimes[:: max(1, len(claim.regimes) // 3)]
    if not regime.random and regime.setting != "paper"
]


@pytest.mark.parametrize(("name", "regime_name"), EXACT)
def test_corrections_hold_where_judged_by_exact_laws(name, regime_name):
    claim = REGISTER[name]
    regime = next(r for r in claim.regimes if r.name == regime_name)
    result = regime.judge(BUDGET)
    if claim.corrects:
        assert result.verdict is Verdict.CONFIRMED, result.detail
    assert result.verdict in (Verdict.CONFIRMED, Verdict.REFUTED), result.detail
    if result.verdict is Verdict.REFUTED:
        # What is false under one reading only is told apart by its readings, and needs no correction.
        assert claim.corrected_by or claim.slip or regime.reading
        assert result.second_route


MODULES = (optimality, mean, lemmas, random_target, defences, misspecified, gdp)
STATEMENTS = {one.name: one for module in MODULES for one in module.STATEMENTS}
REFUTED = {
    "azize-thm-2.1a": {"mean, d = 2, thresholds", "sub-sample, thresholds"},
    "azize-thm-3.1-advantage": {
        "bernoulli-off-support",
        "three-atoms",
        "rare-coordinate",
        "parity",
        "cantor",
    },
    "azize-thm-3.1-power": {"rare-coordinate", "parity"},
    "azize-thm-3.1-threshold": {"level at m* = 0"},
    "azize-eq-5": {"bernoulli-off-support", "rare-coordinate", "parity", "cantor"},
    "azize-thm-4.1": {"fading noise"},
    "azize-thm-4.2": {"paper-easy, rho = 0.1", "gaussian, rho = 0.9"},
    "azize-thm-4.3": {f"far: {misspecified.ZERO}", f"opposite: {misspecified.ONE_SIDED}"},
    "azize-thm-4.3-appendix": {"near", "short"},
    "azize-gdp": {"bernoulli-off-support", "rare-coordinate-alone"},
}
"""Named counterexamples; the paper's own point is one of theorem 4.2."""
STANDS = {
    "azize-thm-2.1a": {"mean, d = 2, randomised"},
    "azize-thm-3.1-power": {"paper-hard", "exponential-far", "spike"},
    "azize-thm-4.3": {f"far: {misspecified.BEST}", f"right: {misspecified.ZERO}"},
    "azize-thm-4.2-corrected": {"paper-easy, rho = 0.1", "gaussian, rho = 0.9"},
}


@pytest.mark.parametrize("name", sorted(set(REFUTED) | set(STANDS)))
def test_the_decisive_points(name: str):
    points = [
        one
        for one in STATEMENTS[name].points
        if one.name in REFUTED.get(name, set()) | STANDS.get(name, set())
    ]
    judged = rf.judge(STATEMENTS[name], at=points).judged
    found = {point.name for point, one in zip(points, judged, strict=True) if one.verdict is Verdict.REFUTED}
    assert found == REFUTED.get(name, set())
    assert all(one.second_route for one in judged if one.verdict is Verdict.REFUTED)
    stands = {
        point.name for point, one in zip(points, judged, strict=True) if one.verdict is Verdict.CONFIRMED
    }
    assert stands == STANDS.get(name, set())


def test_the_subsampling_theorem_is_refuted_by_two_routes():
    result = rf.judge(STATEMENTS["azize-thm-4.2"], at=[STATEMENTS["azize-thm-4.2"].points[0]]).judged[0]
    assert result.verdict is Verdict.REFUTED
    assert "outside the band" in result.second_route


def test_a_coin_that_tells_nothing_refutes_thresholds_without_ties():
    """Found by a search: all outputs are tied, so that thresholds have power 0 at alpha = 1/2, where half of the outputs have 1/2."""
    at = dict(optimality.POWER.points[5].at) | {"epsilon": 0.0, "alpha": 0.5}
    assert at["mechanism"] == "randomised response"
    result = rf.judge(optimality.POWER, at=[at]).judged[0]
    assert (result.verdict, result.gap) == (Verdict.REFUTED, pytest.approx(0.5))


def test_one_refuted_regime_refutes_the_statement():
    good = judge_identity(0.0, 1e-9, {}, unit="power", route="enumeration")
    bad = judge_identity(1.0, 1e-9, {}, unit="power", route="enumeration")
    assert verdict_on([good, good]) is Verdict.CONFIRMED
    assert verdict_on([good, bad]) is Verdict.REFUTED
    assert verdict_on([]) is Verdict.INCONCLUSIVE
    assert verdict_on([good, replace(good, verdict=Verdict.INCONCLUSIVE)]) is Verdict.INCONCLUSIVE
    assert np.isfinite(good.gap)


def test_neighbouring_data_sets_are_told_apart_by_what_is_released():
    """By releases, so that noise, or equal data sets, give no advantage."""
    assert gdp.best_advantage(10, 1.0) == gdp.best_advantage(1000, 1e-6) == 1.0
    assert gdp.best_advantage(10, 0.0) == 0.0
    assert gdp.best_advantage(10, 1.0, mi.GaussianNoise(mi.EmpiricalMean(), 0.1)) == 0.0
