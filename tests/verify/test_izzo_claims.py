"""The verdicts about Izzo et al.: what the evidence says, and each check's power to say the opposite."""

import json
from functools import cache

import numpy as np
import pytest

from mipsim import referee as rf
from mipsim.exact.subset.enumeration import finite_eta, half_subsets
from mipsim.theory import izzo_example
from verify.claim import Budget, Verdict
from verify.claim_result import ClaimResult
from verify.izzo import CLAIMS, corollary, dp, inequalities
from verify.izzo.rates import STATEMENTS
from verify.judge import judge

BY_ID = {claim.id: claim for claim in CLAIMS}
# One regime's share of a family-wise failure probability of 1e-9 over this file.
RISK = 1e-9 / 200
BUDGET = Budget("quick", RISK, seed=1)
REFUTED = ["izzo-thm-8", "izzo-cor-10", "izzo-prop-11", "izzo-lemma-13", "izzo-alg-1"]
CONFIRMED = [
    "izzo-prop-2", "izzo-thm-3", "izzo-thm-4", "izzo-thm-5", "izzo-prop-6", "izzo-thm-7", "izzo-thm-9", "izzo-cor-14",
    "izzo-noise", "izzo-lemma-12", *(f"{name}-corrected" for name in REFUTED),
]  # fmt: skip


@cache
def judged(name: str) -> ClaimResult:
    return judge(BY_ID[name], "quick", RISK, register=BY_ID)


def test_every_statement_is_there():
    assert set(BY_ID) == {*REFUTED, *CONFIRMED}


@pytest.mark.parametrize("name", CONFIRMED)
def test_it_is_confirmed_in_every_regime(name):
    result = judged(name)
    assert not result.errors
    assert {r.verdict for r in result.regimes} == {Verdict.CONFIRMED}


@pytest.mark.parametrize("name", [name for name in REFUTED if name != "izzo-cor-10"])
def test_it_is_refuted_by_two_routes(name):
    result = judged(name)
    assert not result.errors
    assert result.verdict is Verdict.REFUTED
    for regime in result.regimes:
        assert regime.verdict is not Verdict.REFUTED or len(regime.second_route) > 40
        json.dumps(regime.parameters)  # a counterexample can be stored, and so built again


def test_corollary_10_fails_in_high_dimension_only():
    regimes = {r.name: r for r in BY_ID["izzo-cor-10"].regimes}
    for name, regime in regimes.items():
        if "games" in name or "least d" in name:
            continue
        expected = name in (
            "M = 2, d = 100000",
            "M = 2, d = 1000000",
            "plane, M = 1000, eta = 1e-05",
            "M = 8, d = 256, eta = 0.25",
            "M = 32, d = 16, eta = 0.1",
            "M = 64, d = 64, eta = 0.4",
        )
        result = regime.judge(BUDGET)
        assert result.verdict is (Verdict.REFUTED if expected else Verdict.CONFIRMED), name
        assert bool(result.second_route) is expected


@pytest.mark.slow
def test_corollary_10_fails_in_games():
    regime = next(r for r in BY_ID["izzo-cor-10"].regimes if "games" in r.name)
    assert regime.judge(BUDGET).verdict is Verdict.REFUTED


def test_the_second_routes_of_corollary_10_agree_with_the_first():
    """Draws of the same two outputs: within 6.1 standard errors of the exact number (1e-9)."""
    text = corollary.drawn(0.25, 100_000)
    exact, counted = (
        float(text.split(key)[1].split()[0].strip(";,")) for key in ("eta = ", "accuracy - 1/2 = ")
    )
    assert abs(exact - counted) < 6.1 * 0.5 / np.sqrt(200_000)
    assert abs(0.25 - counted) > 6.1 * 0.5 / np.sqrt(200_000)
    ratio = float(corollary.planar_draws(1000.0, 1e-5).split("eta = ")[1].split()[0])
    assert ratio == pytest.approx(corollary.planar_regime(1000.0, 1e-5).judge(BUDGET).gap + 1, rel=0.02)


@pytest.mark.parametrize(
    ("name", "defect"),
    [
        ("izzo-thm-8", "formula"),
        ("izzo-prop-11", "wording"),
        ("izzo-lemma-13", "wording"),
        ("izzo-alg-1", "wording"),
    ],
)
def test_what_is_wrong_with_it(name, defect):
    assert judged(name).defect == defect


def test_corollary_10_is_wrong_at_the_size_of_a_network():
    """The paper names neural-network weights: with a million of them eta is twice the promised one, by two routes."""
    regime = corollary.every_algorithm_regime(1_000_000)
    assert regime.setting == "paper"
    assert regime.judge(BUDGET).gap == pytest.approx(1.062, abs=0.01)


def test_no_constant_times_eta_bounds_the_gap_for_other_k():
    """n = 3, k = 2 by hand: accuracy is at most 2/3, which 'in' has, yet TPR - FPR = 3/4 - 1/2."""
    at = next(one.at for one in STATEMENTS[0].points if one.at["n"] == 3 and one.at["k"] == 2)
    found = rf.judge(STATEMENTS[0], at=[at]).judged[0]
    assert found.verdict is Verdict.REFUTED
    assert found.gap == 0.25
    assert found.detail == "eta = 0"
    assert "TPR - FPR = 0.25" in found.second_route
    assert rf.judge(STATEMENTS[1], at=[at]).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("n", [2, 3, 4, 5, 9, 30, 301])
def test_the_proof_of_proposition_11(n):
    """Its two steps: no other half has A above 1, and the sensitivity is above 2^(n/3)/4."""
    assert izzo_example.moments(n).variance[1] < 2.0
    assert izzo_example.sensitivity(n) >= 2 ** (n / 3) / 4


def test_shared_coins_are_why_theorem_3_needs_its_reading():
    """A = membership XOR a fair coin has eta 0; f that knows the coin, which is independent of D_train, has eta 1/2."""
    flags = half_subsets(4)[:, 0]
    blinded = np.full((len(flags), 2), 0.5)
    assert finite_eta(blinded, 4).max() == pytest.approx(0.0, abs=1e-15)
    unblinded = np.eye(2)[flags.astype(int)]
    assert finite_eta(unblinded, 4).max() == pytest.approx(0.5)


def test_lemma_13_has_an_explicit_counterexample():
    text = inequalities.two_points(4.0, 1.5, 1.0)
    assert "exact fractions" in text
    assert inequalities.largest_tail(1.0, 2.0, 2.0) == pytest.approx(0.25, rel=1e-6)
    assert inequalities.largest_tail(1.0, 4.0, 2.0) == pytest.approx(1 / 16, rel=1e-6)


def test_renyi_divergences_of_laws_with_a_known_one():
    first, second = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert dp.renyi_divergence(first, second, 2.0) == pytest.approx(np.log(0.25 / 0.25 + 0.25 / 0.75))
    assert dp.renyi_divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5) == np.inf
