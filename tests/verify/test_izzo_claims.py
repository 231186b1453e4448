"""The verdicts about Izzo et al.: what the evidence says, and each check's power to say the opposite."""

from math import exp

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import betainc

from mipsim import referee as rf
from mipsim.referee.judging.judge import spread_points
from sims.izzo_games import scale_of
from verify.izzo.checks import second_routes
from verify.izzo.checks.second_routes import nearer_of_two, planar_draws, three_points
from verify.izzo.laws import laws_with_moments
from verify.izzo.laws.algorithms import ALGORITHMS
from verify.izzo.laws.finite_divergences import renyi_divergence
from verify.izzo.laws.subset_enumeration import finite_eta
from verify.izzo.statements import MODULES
from verify.izzo.statements.dp import fingerprint_eta
from verify.izzo.statements.noise import LEAST, PLAYED, SIDES
from verify.izzo.statements.rates import rates_at

STATEMENTS = {item.name: item for module in MODULES for item in module.STATEMENTS}
# A point's share of a family-wise failure probability of 1e-9 over this file.
RISK = 1e-9 / 200


def result_at(name: str, **at: object):
    """The result of a statement at a point."""
    outcome = rf.judge(STATEMENTS[name], at=[at], confidence=1 - RISK)
    assert not outcome.failures
    return outcome.judged[0]


@pytest.mark.evidence
def test_games_are_played_where_corollary_10_asks_for_them_only():
    statement = STATEMENTS["izzo-cor-10"]
    points = [*statement.points[:4], next(p for p in statement.points if p.at["algorithm"] == PLAYED)]
    for item in rf.judge(statement, at=points, games=2000).judged:
        assert item.random is (item.parameters["algorithm"] == PLAYED)
    assert len({point.at["algorithm"] for point in spread_points(statement, 40, 0)[0]}) > 3


def test_the_second_routes_of_corollary_10_agree_with_the_first():
    """Draws of the same two outputs: their interval of 6 standard errors holds the exact number (2e-9)."""
    seen = nearer_of_two(0.25, 100_000)
    b = scale_of(2.0, 0.25)
    assert second_routes.scale_of(2.0, 0.25) == pytest.approx(b, rel=1e-12)

    def near(r: float) -> float:  # of noise of norm r, in any direction: P(|U_1| < 1/r)
        return float(betainc(0.5, 0.5 * (100_000 - 1), min(1.0, r**-2.0))) * exp(-r / b) / b

    exact = 2.0 * sum(
        quad(near, *ends, limit=400)[0] for ends in ((0, 1), (1, 300), (300, 3000), (3000, 40 * b))
    )
    assert seen.low <= exact <= seen.high
    assert seen.excludes
    result = planar_draws(1000.0, 1e-5).value
    at = LEAST | {"algorithm": SIDES, "M": 1000.0, "d": 2, "eta": 1e-5}
    report = result_at("izzo-cor-10", **at).detail
    assert result == pytest.approx(float(report.split("About ")[1].split()[0]), rel=0.02)


def test_no_constant_times_eta_bounds_the_gap_for_other_k():
    """n = 3, k = 2 by hand: accuracy is at most 2/3, which 'in' has, yet TPR - FPR = 3/4 - 1/2."""
    corrected = STATEMENTS["izzo-thm-8-corrected"]
    at = next(item.at for item in corrected.points if (item.at["n"], item.at["k"]) == (3, 2))
    assert rates_at(**at)[:2] == (0.0, 0.25)
    seen = corrected.call("second_route", at)
    assert seen.value == pytest.approx(0.25)
    assert result_at("izzo-thm-8-corrected", **at).verdict is rf.Verdict.CONFIRMED


def test_the_joint_reading_of_theorem_8_holds():
    """TPR/2 <= FPR/2 + eta, which the printed proof shows; TPR <= FPR + eta holds for a constant only."""
    rest = {"n": 6, "k": 3, "keep": 0.5, "outputs": 5, "concentration": 1.0, "draw": 0}
    printed = {name: value for name, value in rest.items() if name != "k"}
    for name in ALGORITHMS:
        eta, gap, _ = rates_at(name, **rest)
        assert 0.5 * gap <= eta + 1e-12
        conditional = result_at("izzo-thm-8", algorithm=name, **printed).verdict
        assert conditional is (rf.Verdict.CONFIRMED if name == "constant" else rf.Verdict.REFUTED)


@pytest.mark.parametrize("n", [2, 4, 8, 12])
def test_eta_of_the_fingerprint_is_counted_and_enumerated(n):
    law = ALGORITHMS["1{D_train = D*}"](n)
    np.testing.assert_allclose(finite_eta(law, n), float(fingerprint_eta(n)), atol=1e-15)


def test_lemma_13_has_an_explicit_counterexample():
    assert "whole fractions" in three_points(4.0, 1.5, 1.0).how
    assert laws_with_moments.largest_tail(1.0, 2.0, 2.0) == pytest.approx(0.25, rel=1e-6)
    assert laws_with_moments.largest_tail(1.0, 4.0, 2.0) == pytest.approx(1 / 16, rel=1e-6)


@pytest.mark.parametrize("name", laws_with_moments.CENTRED)
def test_the_moments_of_the_named_laws(name):
    law, moment = laws_with_moments.CENTRED[name]
    for q in (0.5, 2.0, 5.0):
        assert moment(q) == pytest.approx(law().expect(lambda x, q=q: abs(x) ** q), rel=1e-6)


def test_renyi_divergences_of_laws_with_a_known_divergence():
    first, second = np.array([0.5, 0.5]), np.array([0.25, 0.75])
    assert renyi_divergence(first, second, 2.0) == pytest.approx(np.log(0.25 / 0.25 + 0.25 / 0.75))
    assert renyi_divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5) == np.inf
    # Towards the largest log ratio as the order grows: its powers overflow, it does not.
    low, high = np.array([0.97, 0.03]), np.array([0.03, 0.97])
    assert renyi_divergence(low, high, 1e4) == pytest.approx(np.log(0.97 / 0.03), rel=1e-4)
