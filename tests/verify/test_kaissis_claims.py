"""The verdicts about Kaissis et al.: what the evidence says, and each check's power to say the opposite."""

import json
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate

from verify.claim import Budget, Verdict
from verify.claim_result import ClaimResult
from verify.judge import judge
from verify.kaissis import CLAIMS, guarantees
from verify.kaissis.audits import lira_regime
from verify.kaissis.generalised import HALVES, NO_COIN, generalised_regime
from verify.kaissis.outputs import level_gap, refined
from verify.kaissis.sides import no_best_regime, ratio_regime

BY_ID = {claim.id: claim for claim in CLAIMS}
BUDGET = Budget("quick", 1e-9 / 300, seed=1)
DEFECTS = {
    "kaissis-lemma-1": "condition",
    "kaissis-lemma-3": "condition",
    "kaissis-lemma-5": "reading",
    "kaissis-lemma-8": "formula",
    "kaissis-thm-3": "condition",
    "kaissis-fig-2a": "reading",
    "kaissis-thm-1-guarantee": "condition",
    "kaissis-thm-2-guarantee": "condition",
    "kaissis-lemma-9-guarantee": "reading",
    "kaissis-audit-lira": "condition",
    "kaissis-rero-guarantee": "reading",
}
SLOW = {
    "kaissis-thm-3",
    "kaissis-thm-3-corrected",
    "kaissis-thm-2-guarantee",
    "kaissis-thm-2-guarantee-corrected",
    "kaissis-lemma-9-guarantee",
}
NAMES = [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in BY_ID]


@cache
def judged(name: str) -> ClaimResult:
    return judge(BY_ID[name], "quick", 1e-9 / 300, register=BY_ID)


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_and_what_is_wrong(name):
    result = judged(name)
    assert not result.errors
    assert result.defect == DEFECTS.get(name)
    assert result.verdict is (Verdict.REFUTED if name in DEFECTS else Verdict.CONFIRMED)
    for regime in result.regimes:
        json.dumps(regime.parameters)
        assert regime.verdict is Verdict.CONFIRMED or len(regime.second_route) > 40 or regime.sampled


@pytest.mark.parametrize("name", list(BY_ID))
def test_every_claim_quotes_the_paper(name):
    quote = BY_ID[name].quote
    assert quote is not None
    assert len(quote.text) > 30
    assert quote.place


def test_a_known_sign_brings_the_attacker_of_the_dptm_back():
    """A count: the shift is 0 or 1, and the curve is that of the one-sided test, 0.1 below J somewhere."""
    found = guarantees.guarantee_regime("Gaussian", 1.0, 1, guarantees.SIGN).judge(BUDGET)
    assert found.verdict is Verdict.REFUTED
    assert found.gap > 0.1
    assert (
        guarantees.guarantee_regime("Gaussian", 1.0, 1, guarantees.NOTHING).judge(BUDGET).verdict
        is Verdict.CONFIRMED
    )
    assert no_best_regime("Gaussian", 1.0, 1.0, other=0.5).judge(BUDGET).verdict is Verdict.REFUTED
    assert no_best_regime("Gaussian", 1.0, 1.0).judge(BUDGET).verdict is Verdict.CONFIRMED


def test_sub_sampled_laplace_noise_fails_as_gaussian_noise_does():
    for noise in ("Gaussian", "Laplace"):
        assert ratio_regime(noise, 2.0, 0.5, null_only=False).judge(BUDGET).verdict is Verdict.REFUTED
        assert ratio_regime(noise, 2.0, 0.5, null_only=True).judge(BUDGET).verdict is Verdict.CONFIRMED


@pytest.mark.parametrize("reading", [NO_COIN, HALVES])
def test_lemma_5_needs_its_readings(reading):
    noise = "Laplace" if reading == NO_COIN else "Gumbel"
    assert generalised_regime(noise, 1.0, 1.0, reading).judge(BUDGET).verdict is Verdict.REFUTED
    assert generalised_regime(noise, 1.0, 1.0).judge(BUDGET).verdict is Verdict.CONFIRMED


def test_convex_h_is_not_enough_for_lemma_5():
    """h(z) = |z| + max(|z| - T, 0)^2, Delta < T: outputs from Delta to T tie, and a coin has another power than |z|."""
    delta, corner = 1.0, 2.0

    def density(z):
        return np.exp(-np.abs(z) - np.maximum(np.abs(z) - corner, 0.0) ** 2)

    def mass(low, high, shift=0.0):
        points = sorted({low, high, *(x for x in (shift, shift - corner, shift + corner) if low < x < high)})
        return sum(integrate.quad(lambda z: density(z - shift), a, b)[0] for a, b in pairwise(points))

    whole = mass(-12.0, 12.0)

    def both(low, high, shift=0.0):
        return (mass(low, high, shift) + mass(-high, -low, shift)) / whole

    tied, above = both(delta, corner), both(corner, 12.0)
    alpha = above + 0.5 * tied
    coin = both(corner, 12.0, delta) + 0.5 * both(delta, corner, delta)
    cut = np.linspace(delta, corner, 20_001)
    # The magnitude's cut of the same level: P(|z| > c) = alpha, where the density is e^-|z|.
    at = cut[np.argmin(np.abs(2 * (np.exp(-cut) - np.exp(-corner)) / whole + above - alpha))]
    assert both(at, 12.0) == pytest.approx(alpha, abs=1e-4)
    assert abs(coin - both(at, 12.0, delta)) > 1e-3


def test_few_shadow_models_miss_the_bound():
    assert lira_regime(128, 1.0, 1e-2).judge(BUDGET).verdict is Verdict.CONFIRMED
    assert lira_regime(64, 1.0, 1e-2).judge(BUDGET).verdict is Verdict.REFUTED
    assert lira_regime(128, 1.0, 1e-4).judge(BUDGET).verdict is Verdict.REFUTED


def test_refinement_finds_a_peak_between_two_points():
    levels = np.geomspace(1e-3, 0.9, 20)
    peak = 0.0317
    _, values = refined(lambda x: 1.0 - (np.log(x / peak)) ** 2, levels)
    assert values.max() > 1.0 - 1e-6
    assert (1.0 - np.log(levels / peak) ** 2).max() < 1.0 - 1e-3


def test_equal_curves_have_no_gap():
    curve = guarantees.promised("Laplace", 1.0, 1)
    found = level_gap(curve, curve, "the same")
    assert (found.low, found.high) == (0.0, 0.0)
