"""What is wrong with a refuted statement is computed from what restores it, and its first counterexample shows it."""

from dataclasses import replace
from pathlib import Path

import pytest

from mipsim import referee as rf
from mipsim.referee.defect import correction_of, defect_of
from mipsim.referee.outcome import shown_counterexamples, simplest
from mipsim.referee.result import PointResult
from verify.judge import Setting, judge, unseen
from verify.register import REGISTER, SAMPLES
from verify.rules import broken_example, listed_defects

# The share of a point of a family-wise failure probability of 1e-9 over this whole file.
SETTING = Setting("quick", 1 - 1e-9, 1, 1e-9 / 10_000, SAMPLES)
LISTED = listed_defects((Path(__file__).parents[2] / "docs/findings.md").read_text("utf-8"))
ENTERED = {
    "azize-alg-3": {"C0", "references"},
    "leemann-lemma-5.1-finite": {"rate"},
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
WHOLES = {"x": 0.5, "y": 0, "reading": "for whole numbers"}
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
        points=[*SQUARE.points, rf.Point({"x": 0.123, "y": 0, "reading": "as printed"}, setting="lead")],
    )
    assert lead(named).parameters["x"] == 0.123
    assert lead(SQUARE).parameters["x"] == 0.5


def test_a_counterexample_outside_the_domain_is_reported():
    narrow = replace(SQUARE, where=lambda x: x >= 1.0, points=SQUARE.points[1:])
    assert any(
        "is outside its domain" in line for line in broken_example(narrow, lead(SQUARE), None, "formula")
    )


def test_the_page_of_findings_has_the_refuted_statements():
    """Each has a program that contradicts it; the slow test below judges them."""
    assert set(LISTED) == {item.name for item in REGISTER.values() if item.snippet}


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", [item for item in REGISTER.values() if not item.corrects], ids=lambda item: item.name
)
def test_each_printed_statement_has_its_defect_and_counterexamples_that_show_it(statement: rf.Statement):
    correction = correction_of(statement, REGISTER.values())
    result = judge(statement, SETTING)
    assert result.failures == ()
    defect = defect_of(result, correction)
    assert defect == LISTED.get(statement.name)
    assert unseen(result) == []
    entered = ENTERED.get(statement.name, ())
    for example in shown_counterexamples(statement, result.judged):
        assert broken_example(statement, example, correction, defect, entered) == []
