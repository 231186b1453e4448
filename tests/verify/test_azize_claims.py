"""The register: every claim's negative control is refuted, and the decisive verdicts are what the evidence says."""

from dataclasses import replace

import numpy as np
import pytest

import mipsim as mi
from verify.azize import gdp
from verify.claim import Budget, Verdict
from verify.claim_result import verdict_on
from verify.limits import judge_identity
from verify.register import REGISTER

# One regime's share of a family-wise failure probability of 1e-9 over this whole file.
BUDGET = Budget("quick", 1e-9 / 1000, seed=1)
IDS = [
    "azize-thm-2.1a", "azize-thm-2.1b", "azize-thm-2.1c", "azize-thm-3.1-advantage", "azize-thm-3.1-power", "azize-lemma-C.6",
    "azize-eq-5", "azize-lemma-C.9", "azize-eq-11", "azize-eq-12-14", "azize-B.3", "azize-mean-leakage", "azize-thm-4.1",
    "azize-thm-4.2", "azize-lemma-C.12", "azize-thm-4.3", "azize-gdp", "azize-scalar-product", "azize-reference-points",
    "azize-onion",
]  # fmt: skip


def test_the_register_holds_every_statement_about_the_mean():
    assert set(IDS) <= set(REGISTER)
    assert list(REGISTER) == [claim.id for claim in REGISTER.values()]


@pytest.mark.parametrize("name", list(REGISTER))
def test_a_false_twin_is_refuted(name):
    """The negative control is the same check on the claim made false by a few per cent."""
    assert REGISTER[name].control().judge(BUDGET).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", list(REGISTER))
def test_a_claim_is_well_formed(name):
    claim = REGISTER[name]
    assert claim.domain
    assert claim.statement
    assert claim.regimes
    names = [regime.name for regime in claim.regimes]
    assert len(names) == len(set(names))
    if claim.corrects:
        assert REGISTER[claim.corrects].corrected_by == name
        assert len(claim.derivation) > 100
    if claim.corrected_by:
        assert REGISTER[claim.corrected_by].corrects == name


EXACT = [
    (claim.id, regime.name)
    for claim in REGISTER.values()
    for regime in claim.regimes[:: max(1, len(claim.regimes) // 3)]
    if claim.id not in ("azize-reference-points", "azize-reference-points-corrected") and "paper" not in regime.name
    and "games" not in regime.name
]  # fmt: skip


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


def test_the_subsampling_theorem_is_refuted_by_two_routes():
    claim = REGISTER["azize-thm-4.2"]
    regime = next(r for r in claim.regimes if r.name == "paper-easy-rho-0.1")
    result = regime.judge(BUDGET)
    assert result.verdict is Verdict.REFUTED
    assert "outside the band" in result.second_route


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
