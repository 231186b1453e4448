"""The verdicts on Azize & Basu: by statement and point, with the counterexamples that decide."""

from pathlib import Path

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee import Verdict
from mipsim.referee.defect import READING, correction_of
from mipsim.referee.judging.point import judge_point, point_seed
from mipsim.referee.reporting.overview import cells
from mipsim.referee.reporting.page import report
from mipsim.referee.reporting.wording import gap
from verify.azize.statements import MODULES, gdp, misspecified, optimality
from verify.register import REGISTER
from verify.report.progress_table import row

STATEMENTS = {item.name: item for module in MODULES for item in module.STATEMENTS}
SOME = [
    (name, place)
    for name, single in STATEMENTS.items()
    for place in range(0, len(single.points), max(1, len(single.points) // 3))
    if single.points[place].setting != "paper"
]

UNDECIDED = {("azize-thm-4.2-advantage", 6)}
"""Printed formulas that are off by less than the tolerance there: the advantage by 0.0011 at rho = 0.9."""


@pytest.mark.evidence
@pytest.mark.parametrize(("name", "place"), SOME)
def test_corrections_hold_where_judged_by_exact_laws(name, place):
    statement = REGISTER[name]
    at = statement.points[place].at
    result = judge_point(statement, at, risk=1e-12, games=100_000, seed=point_seed(1, name, at))
    if (name, place) in UNDECIDED:
        assert result.verdict is Verdict.INCONCLUSIVE, result.detail
        return
    if statement.corrects:
        assert result.verdict is Verdict.CONFIRMED, result.detail
    assert result.verdict in (Verdict.CONFIRMED, Verdict.REFUTED), result.detail
    if result.verdict is Verdict.REFUTED:
        # What is false under a single reading is distinguished by its readings, and needs no correction.
        assert correction_of(statement, REGISTER.values()) or statement.slip or READING in statement.domain
        assert result.second_route


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
"""Named counterexamples; the paper's own point is that of theorem 4.2."""
STANDS = {
    "azize-thm-2.1a": {"mean, d = 2, randomised"},
    "azize-thm-3.1-power": {"paper-hard", "exponential-far", "spike"},
    "azize-thm-4.3": {f"far: {misspecified.BEST}", f"right: {misspecified.ZERO}"},
    "azize-thm-4.2-corrected": {"paper-easy, rho = 0.1", "gaussian, rho = 0.9"},
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", sorted(set(REFUTED) | set(STANDS)))
def test_the_decisive_points(name: str):
    points = [
        item
        for item in STATEMENTS[name].points
        if item.name in REFUTED.get(name, set()) | STANDS.get(name, set())
    ]
    judged = rf.judge(STATEMENTS[name], at=points).judged
    result = {
        point.name for point, single in zip(points, judged, strict=True) if single.verdict is Verdict.REFUTED
    }
    assert result == REFUTED.get(name, set())
    assert all(item.second_route for item in judged if item.verdict is Verdict.REFUTED)
    stands = {
        point.name for point, item in zip(points, judged, strict=True) if item.verdict is Verdict.CONFIRMED
    }
    assert stands == STANDS.get(name, set())


@pytest.mark.parametrize("name", ["azize-thm-3.1-power", "azize-lemma-C.6"])
def test_where_worlds_are_singular_the_gap_is_at_least_what_is_printed(name: str, tmp_path: Path):
    """The worlds of Cantor's data are mutually singular, so that the gap is infinite: its interval has no upper end."""
    point = next(item for item in STATEMENTS[name].points if item.name == "cantor")
    outcome = rf.judge(STATEMENTS[name], at=[point])
    result = outcome.judged[0]
    assert result.verdict is Verdict.REFUTED
    assert gap(result.gap, result.interval) == "at least 6.98"
    # A log's row, the page's table and its sections say it too, not the number alone.
    assert "at least 6.98 (probit)" in row(outcome)
    assert "at least 6.98 probit" in [text for _, text in cells(outcome)]
    assert "Gap at least 6.98 probit" in report(outcome, tmp_path).read_text("utf-8")


@pytest.mark.evidence
def test_the_subsampling_theorem_is_refuted_by_two_routes():
    result = rf.judge(STATEMENTS["azize-thm-4.2"], at=[STATEMENTS["azize-thm-4.2"].points[0]]).judged[0]
    assert result.verdict is Verdict.REFUTED
    assert result.second_route is not None
    assert result.second_route.excludes


def test_a_coin_that_tells_nothing_refutes_thresholds_without_ties():
    """Computed by a search: all outputs are tied, so that thresholds have power 0 at alpha = 1/2, where half of the outputs have 1/2."""
    at = dict(optimality.POWER.points[5].at) | {"epsilon": 0.0, "alpha": 0.5}
    assert at["mechanism"] == "randomised response"
    result = rf.judge(optimality.POWER, at=[at]).judged[0]
    assert (result.verdict, result.gap) == (Verdict.REFUTED, pytest.approx(0.5))


def test_neighbouring_data_sets_are_distinguished_by_what_is_released():
    """By releases, so that noise, or equal data sets, give no advantage."""
    assert gdp.best_advantage(10, 1.0) == gdp.best_advantage(1000, 1e-6) == 1.0
    assert gdp.best_advantage(10, 0.0) == 0.0
    assert gdp.best_advantage(10, 1.0, mi.GaussianNoise(mi.EmpiricalMean(), 0.1)) == 0.0
