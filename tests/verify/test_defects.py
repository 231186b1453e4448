"""What is wrong with a refuted statement is computed from what restores it, and its first counterexample shows it."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mipsim import referee as rf
from mipsim.referee.defect import correction_of, defect_of
from mipsim.referee.outcome import Outcome, Replay, shown_counterexamples, simplest
from mipsim.referee.result import PointResult
from verify import counterexamples
from verify.azize.statements import estimated_steps, misspecified, onion, reference_points
from verify.judge import Setting, judge, unseen
from verify.kaissis.laws.relaxed_steps import HELD, HELD_PROBITS, N
from verify.kaissis.statements import audits
from verify.leemann.statements import composition, guarantee, mip, noise, susceptibility
from verify.register import REGISTER
from verify.report.findings import entries
from verify.report.folder import record_of
from verify.rules import broken_example, listed_defects

# The share of a point of a family-wise failure probability of 1e-9 over this whole file.
SETTING = Setting("quick", 1 - 1e-9, 1, 1e-9 / 10_000)
LISTED = listed_defects((Path(__file__).parents[2] / "docs/findings.md").read_text("utf-8"))
ENTERED = {
    "izzo-cor-10": {"algorithm", "d"},
}
"""By which parameters a wrong formula enters: its correction is not judged at, or cannot have, their values."""

SQUARE = rf.Statement(
    name="square", says="x <= x^2", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 4.0), "y": rf.Whole(0, 3), "reading": rf.Choice("as printed", "for whole numbers")},
    claimed=lambda x: x * x, truth=lambda x, reading: x if reading == "as printed" else float(int(x)),
    points=[{"x": x, "y": y, "reading": "as printed"} for x, y in ((0.5, 1), (2.0, 0))],
    matters_when={"y": lambda: False}, second_route=lambda x: rf.Replication(x, x, x, "x", "by hand"),
)  # fmt: skip
RIGHT = SQUARE.corrected(says="x <= x^2 for x >= 1", where=lambda x: x >= 1.0)


def outcome(statement: rf.Statement, *more: dict) -> rf.Outcome:
    return rf.judge(statement, at=[*statement.points, *more])


def lead(statement: rf.Statement) -> PointResult:
    result = simplest(statement, outcome(statement).judged)
    assert result is not None
    return result


def test_a_first_counterexample_shows_the_defect():
    assert broken_example(SQUARE, lead(SQUARE), RIGHT, "condition") == []


@pytest.mark.parametrize(
    ("statement", "correction", "defect", "message"),
    [
        (replace(SQUARE, second_route=None), RIGHT, "condition", "no second route sees its counterexample"),
        (replace(SQUARE, second_route=lambda x: rf.Replication(x, 0.0, 1.0, "x", "by hand")), RIGHT, "condition", "no second route sees"),
        (replace(SQUARE, matters_when={}), RIGHT, "condition", "prints y, which changes nothing there"),
        # The correction has the same claim, and leaves out a value that changes nothing.
        (SQUARE, SQUARE.corrected(says="for y = 0", domain={"y": rf.Fixed(0)}), "condition", "meets the condition that is missing"),
        # Another claim, for other x.
        (SQUARE, RIGHT.corrected(name="square-corrected", corrects="square", claimed=lambda x: x + 1.0), "formula", "is outside the conditions of square-corrected"),
    ],
)  # fmt: skip
def test_a_first_counterexample_that_does_not_show_it_is_reported(statement, correction, defect, message):
    lines = broken_example(statement, lead(statement), correction, defect)
    assert any(message in line for line in lines), lines


def test_a_parameter_by_which_the_formula_enters_may_have_another_value():
    other = SQUARE.corrected(says="y = 0", claimed=lambda x: x, domain={"x": rf.Real(1.0, 4.0)})
    assert "outside the conditions" in broken_example(SQUARE, lead(SQUARE), other, "formula")[0]
    assert broken_example(SQUARE, lead(SQUARE), other, "formula", {"x"}) == []


def test_a_lead_is_reported_first():
    """Its number is not rounder, and its gap not larger."""
    named = replace(
        SQUARE,
        points=[
            *SQUARE.points,
            rf.Point({"x": 0.123, "y": 0, "reading": "as printed"}, setting="paper, lead"),
        ],
    )
    assert outcome(named).own_settings == "REFUTED at 1 point"
    assert lead(named).parameters["x"] == 0.123
    assert outcome(named).own_settings == "REFUTED at 1 point"
    assert lead(SQUARE).parameters["x"] == 0.5


def test_a_counterexample_outside_the_domain_is_reported():
    narrow = replace(SQUARE, where=lambda x: x >= 1.0, points=SQUARE.points[1:])
    assert any(
        "is outside its domain" in line for line in broken_example(narrow, lead(SQUARE), None, "formula")
    )


def test_the_page_of_findings_has_the_refuted_statements():
    """The slow test below judges them."""
    assert set(LISTED) == {item.name for item in REGISTER.values() if item.fails}


def test_every_refuted_statement_can_be_reported():
    """Also those without a correction, a quotation or a condition; judged at none of their points, with an invented gap."""
    invented = []
    for name in LISTED:
        statement = REGISTER[name]
        point = PointResult(dict(statement.points[0].at), rf.Verdict.REFUTED, 0, 1.0, (0.9, 1.1), 1.1, 0.1)
        invented.append(
            Outcome(statement, rf.Verdict.REFUTED, point, (point,), Replay("", ""), 0.999, 1, 0.0, "invented")
        )
    result = entries(invented, "quick", list(REGISTER.values()))
    assert set(result) == set(LISTED)
    for name, text in result.items():
        statement, lines = REGISTER[name], text.splitlines()
        assert lines[0].startswith(f"### {name}: ")
        if statement.quote:
            assert lines[2] == f"{statement.quote.role}:", "the author's sentence comes first"
        example = next(i for i, line in enumerate(lines) if line.startswith("**Counterexample**: "))
        assert lines.index(statement.fails) < example


def _slow(name: str) -> bool:
    """Judging them all takes minutes: a default run has these alone."""
    if name.startswith("kaissis"):
        return name.removeprefix("kaissis-").removesuffix("-corrected") in (
            "lemma-1", "thm-3", "lemma-5", "lemma-8", "blessing", "thm-2-guarantee",
        )  # fmt: skip
    return name not in ("izzo-thm-8", "izzo-prop-11-dataset", "izzo-lemma-13", "izzo-alg-1")


@pytest.mark.evidence
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if _slow(name) else name for name in REGISTER]
)
def test_each_statement_has_its_verdict_its_defect_and_counterexamples_that_show_it(name: str):
    """The verdicts of the whole register are asserted here, and where a few points decide below; nowhere else."""
    statement = REGISTER[name]
    correction = correction_of(statement, REGISTER.values())
    result = judge(statement, SETTING)
    assert result.failures == ()
    assert (result.verdict is rf.Verdict.REFUTED) == (name in LISTED)
    assert (
        name in LISTED or result.verdict is rf.Verdict.CONFIRMED or not name.startswith(("kaissis", "izzo"))
    )
    json.dumps(
        [point.parameters for point in result.judged]
    )  # a counterexample can be stored, and so built again
    defect = None if statement.corrects else defect_of(result, correction)
    assert defect == LISTED.get(name)
    assert counterexamples.row_of(record_of(result, correction, "quick")) == counterexamples.rows().get(name)
    assert unseen(result) == []
    for example in () if statement.corrects else shown_counterexamples(statement, result.judged):
        assert broken_example(statement, example, correction, defect, ENTERED.get(name, ())) == []


DECISIVE: dict[str, tuple[list[Any], ...]] = {
    "azize-thm-2.1a": (["mean, d = 2, thresholds", "sub-sample, thresholds"], ["mean, d = 2, randomised"]),
    "azize-thm-3.1-advantage": (["bernoulli-off-support", "cantor", "parity, rarer"], [], ["three-atoms"]),
    "azize-thm-3.1-power": (["parity, rarer"], ["paper-hard", "exponential-far", "spike"], []),
    "azize-thm-3.1-threshold": (["level at m* = 0"], []),
    "azize-eq-5": (["parity, rarer", "bernoulli-off-support", "cantor"], []),
    "azize-thm-4.1": (["fading noise"], []),
    "azize-thm-4.2": (["paper-easy, rho = 0.1", "gaussian, rho = 0.9"], []),  # the paper's own point
    "azize-thm-4.2-corrected": ([], ["paper-easy, rho = 0.1", "gaussian, rho = 0.9"]),
    "azize-thm-4.2-threshold": (["power", "power of the sum", "always in"], ["level of the sum"]),
    "azize-thm-4.2-threshold-corrected": ([], ["power", "power of the sum", "always in", "level of the sum"]),
    "azize-thm-4.3": (["aimed off the lattice"], ["far", "opposite"]),
    "azize-thm-4.3-threshold": ([f"far: {misspecified.ZERO}", f"opposite: {misspecified.ONE_SIDED}"], [f"far: {misspecified.BEST}", f"right: {misspecified.ZERO}"]),
    "azize-thm-4.3-appendix": (["near", "short"], []),
    "azize-gdp": (["bernoulli-off-support", "parity, rarer"], []),
    "azize-scalar-product": ([-1], []),
    "azize-scalar-product-finite": ([0], []),
    "azize-reference-points": ([0, 3, 4, 5], [{"reading": reference_points.MANY, "estimator": name} for name in reference_points.ESTIMATOR.values]),
    "azize-onion": ([12, {"reading": onion.EACH, "data": "gamma", "keep": 0.5}], [{"reading": onion.AVERAGE}]),
    "azize-z-estimators": ([-2, 2, 4], [], [8, 16, -1]),
    "azize-z-estimators-logistic": ([2], []),
    "azize-alg-3": ([0, 1, 2, 4, -5], []),
    "azize-alg-4": ([0], []),
    "azize-alg-4-estimated": ([2, 3, {"reading": estimated_steps.EPOCH}], [{"reading": estimated_steps.KNOWN}, {"reading": estimated_steps.REAL}]),
    "izzo-cor-10": ([46, 51, 57, 59, 61, 68, 69, 70, 71, 72, 76], [0, 16, 45, 50, 56, 60]),
    "kaissis-thm-3": ([{"reading": HELD_PROBITS, "part": "j"}], [{"reading": HELD, "what": N}]),
    "kaissis-audit-symmetric": ([{"part": "jinv", "alpha": 0.15}], [{"reading": audits.WEIGHTS}, {"reading": audits.TREND}]),
    "leemann-most-powerful": ([{"reading": mip.PAIR}], [{"reading": mip.ALONE}]),
    "leemann-thm-4.2": ([{"reading": mip.ADD, "n": 50}, {"reading": mip.ADD, "n": 2}], []),
    "leemann-thm-5.1": (["+-1 with P(1) = .9, n = 1,000", {"n": 100, "mean": 1.0, "target": 0.0}], []),
    "leemann-cor-5.1": ([], [{"ratio": 1.0, "mean": 0.0}, {"mean": 1.0}]),
    "leemann-thm-5.1-tight": ([], ["N(1, I) in 100 dimensions, target 0", {"n": 100, "mean": 1.0, "target": 1.0}]),
    "leemann-thm-5.1-guarantee": ([{"gradients": guarantee.FOUR}, {"gradients": guarantee.FACTORIAL}], [], [{"gradients": guarantee.ATOMS}]),
    "leemann-rem-5.1": ([{"components": "Bernoulli", "p": 0.5, "d": 5}], []),
    "leemann-alg-1": ([{"reading": susceptibility.PRINTED, "d": 5}, {"reading": susceptibility.MEANT, "d": 5, "level": 0.1}], []),
    "leemann-lemma-5.1": ([], [], [{"reading": composition.EACH, "share": 0.2}]),
    "leemann-lemma-5.1-finite": (
        [{"size": 2.0, "steps": 1}, "Purchase, mu = 0.4", "Purchase, mu = 1"],
        ["CIFAR-10, mu = 0.4", "CIFAR-10, mu = 1", "Adult, mu = 0.4", "Adult, mu = 1"],
    ),
    "leemann-D.3": ([{"reading": composition.AVERAGED, "k": 4}, {"reading": composition.AVERAGED, "k": 16}], [{"reading": composition.EVERY, "share": 0.5}]),
    "leemann-less-noise": ([{"reading": noise.ADDED, "n": 2}, {"reading": noise.ADDED, "n": 50}], []),
}  # fmt: skip
"""Points, by name, by number or by some of their values, that refute a statement by two routes, points that stand, and limits of which judged
sizes show no sign, where no theorem decides."""


@pytest.mark.evidence
@pytest.mark.parametrize(
    ("name", "chosen", "verdict"),
    [
        (name, at, verdict)
        for name, points in DECISIVE.items()
        for verdict, several in zip(("REFUTED", "CONFIRMED", "INCONCLUSIVE"), points, strict=False)
        for at in several
    ],
)
def test_the_decisive_points(name: str, chosen: Any, verdict: str):
    statement = REGISTER[name]
    values = chosen if isinstance(chosen, dict) else {}
    point = (
        statement.points[chosen] if isinstance(chosen, int)
        else next(p for p in statement.points if chosen == p.name or (values and values.items() <= p.at.items()))
    )  # fmt: skip
    result = rf.judge(statement, at=[point]).judged[0]
    assert str(result.verdict) == verdict
    assert verdict != "INCONCLUSIVE" or result.headline.startswith("no sign of it")
    if verdict == "REFUTED":
        assert result.second_route is not None
        assert isinstance(chosen, str) or "failed" not in result.second_route.how
        seen = result.second_route.excludes or result.gap < 0.01  # which draws do not show
        assert seen or name.startswith("azize"), result.second_route
        corrected = REGISTER.get(f"{name}-corrected") if name.startswith("leemann") else None
        if corrected and corrected.holds_point(point.at) and not isinstance(corrected.kind, rf.Limit):
            assert str(rf.judge(corrected, at=[point.at]).verdict) == "CONFIRMED"
