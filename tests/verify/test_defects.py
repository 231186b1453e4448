"""What is wrong with a refuted statement is computed from what restores it, and its first counterexample shows it."""

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest

import verify
from mipsim import referee as rf
from mipsim.referee.defect import correction_of
from mipsim.referee.judging.point import judge_point, point_seed
from mipsim.referee.outcome import shown_counterexamples, simplest
from mipsim.referee.result import PointResult
from verify.judge import Setting, judge, unseen
from verify.register import GAMES, REGISTER, SAMPLES
from verify.rules import DEFECTS, broken_defect, broken_example

# The share of a point of a family-wise failure probability of 1e-9 over this whole file.
SETTING = Setting("quick", 1 - 1e-9, 1, 1e-9 / 10_000, SAMPLES)
FOLDER = Path(verify.__file__).parent
FINDING = re.compile(r"^### (\S+): (\w+)\n\n(.*)$", re.MULTILINE)

SQUARE = rf.Statement(
    name="square", says="x <= x^2", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 4.0), "y": rf.Whole(0, 3), "reading": rf.Choice("as printed", "for whole numbers")},
    claimed=lambda x: x * x, truth=lambda x, reading: x if reading == "as printed" else float(int(x)),
    points=[{"x": x, "y": y, "reading": "as printed"} for x, y in ((0.5, 1), (2.0, 0))],
    matters_when={"y": lambda: False}, second_route=lambda x: rf.Replication(x, x, x, "x", "by hand"),
)  # fmt: skip
WHOLES = {"x": 0.5, "y": 0, "reading": "for whole numbers"}
RIGHT = SQUARE.corrected(says="x <= x^2 for x >= 1", where=lambda x: x >= 1.0)
DECLARED = ("condition", "square-corrected")


def outcome(statement: rf.Statement, *more: dict) -> rf.Outcome:
    return rf.judge(statement, at=[*statement.points, *more])


def lead(statement: rf.Statement) -> PointResult:
    result = simplest(statement, outcome(statement).judged)
    assert result is not None
    return result


def test_a_class_and_a_reason_are_those_that_are_computed():
    assert broken_defect(outcome(SQUARE), RIGHT, DECLARED) == []
    assert broken_defect(outcome(SQUARE, WHOLES), RIGHT, ("reading", "for whole numbers")) == []
    assert broken_defect(outcome(RIGHT), None, None) == []


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (("formula", ""), "it is of the class condition"),
        (("condition", "another-corrected"), "is declared to be restored by 'another-corrected'"),
        (None, "square is refuted, and is declared to be otherwise"),
    ],
)
def test_a_wrong_class_or_reason_is_reported(declared, message):
    assert message in broken_defect(outcome(SQUARE), RIGHT, declared)[0]


def test_a_reason_that_does_not_hold_is_reported_where_another_does():
    """With a reading that stands the reading is wrong, whatever condition would restore it too."""
    (message,) = broken_defect(outcome(SQUARE, WHOLES), RIGHT, DECLARED)
    assert "is declared to have a defect of the class condition; it is of the class reading" in message
    assert "is not refuted" in broken_defect(outcome(replace(SQUARE, where=lambda x: x >= 1, points=SQUARE.points[1:])), None, DECLARED)[0]  # fmt: skip


def test_a_first_counterexample_shows_the_defect():
    assert broken_example(SQUARE, lead(SQUARE), RIGHT, DECLARED) == []


@pytest.mark.parametrize(
    ("statement", "correction", "declared", "message"),
    [
        (replace(SQUARE, second_route=None), RIGHT, DECLARED, "no second route sees its counterexample"),
        (replace(SQUARE, second_route=lambda x: rf.Replication(x, 0.0, 1.0, "x", "by hand")), RIGHT, DECLARED, "no second route sees"),
        (replace(SQUARE, matters_when={}), RIGHT, DECLARED, "prints y, which changes nothing there"),
        # The correction has the same claim, and leaves out a value that changes nothing.
        (SQUARE, SQUARE.corrected(says="for y = 0", domain={"y": rf.Fixed(0)}), ("condition", "square-corrected"), "meets the condition that is missing"),
        # Another claim, for other x.
        (SQUARE, RIGHT.corrected(name="square-corrected", corrects="square", claimed=lambda x: x + 1.0), ("formula", ""), "is outside the conditions of square-corrected"),
    ],
)  # fmt: skip
def test_a_first_counterexample_that_does_not_show_it_is_reported(statement, correction, declared, message):
    lines = broken_example(statement, lead(statement), correction, declared)
    assert any(message in line for line in lines), lines


def test_a_parameter_by_which_the_formula_enters_may_have_another_value():
    other = SQUARE.corrected(says="y = 0", claimed=lambda x: x, domain={"x": rf.Real(1.0, 4.0)})
    assert "outside the conditions" in broken_example(SQUARE, lead(SQUARE), other, ("formula", ""))[0]
    assert broken_example(SQUARE, lead(SQUARE), other, ("formula", "x")) == []


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
        "is outside its domain" in line
        for line in broken_example(narrow, lead(SQUARE), None, ("formula", ""))
    )


def test_the_findings_have_the_classes_and_reasons_that_are_declared():
    text = (FOLDER / "FINDINGS.md").read_text(encoding="utf-8")
    result = {name: (defect, line) for name, defect, line in FINDING.findall(text)}
    assert set(result) == set(DEFECTS)
    for name, (defect, line) in result.items():
        declared, words = DEFECTS[name]
        assert defect == declared, name
        assert defect == "formula" or words in line, name


def printed(name: str) -> list[rf.Point]:
    """The counterexamples of a statement in the findings."""
    section = (FOLDER / "FINDINGS.md").read_text(encoding="utf-8").partition(f"### {name}: ")[2]
    commands = re.findall(r"^    uv run python -m verify (.*)$", section.partition("\n### ")[0], re.MULTILINE)
    words = [shlex.split(command) for command in commands]
    return [rf.Point(json.loads(parts[parts.index("--at") + 1])) for parts in words]


@pytest.mark.evidence
@pytest.mark.parametrize("name", DEFECTS)
def test_each_reported_counterexample_shows_the_defect(name: str):
    """Those of the findings, and that of the statement."""
    statement = REGISTER[name]
    lead, games = printed(name), GAMES.get(name, (0, 100_000))[1]
    assert lead
    for point in [*lead, *(item for item in statement.points if item.setting == "lead")]:
        at = statement.check(point.at)
        result = judge_point(statement, at, risk=SETTING.risk, games=games, seed=point_seed(1, name, at))
        assert result.verdict is rf.Verdict.REFUTED
        correction = correction_of(statement, REGISTER.values())
        assert broken_example(statement, result, correction, DEFECTS[name]) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement", [item for item in REGISTER.values() if not item.corrects], ids=lambda item: item.name
)
def test_each_printed_statement_has_its_defect_and_counterexamples_that_show_it(statement: rf.Statement):
    declared, correction = DEFECTS.get(statement.name), correction_of(statement, REGISTER.values())
    result = judge(statement, SETTING)
    assert result.failures == ()
    assert broken_defect(result, correction, declared) == []
    assert unseen(result) == []
    for example in shown_counterexamples(statement, result.judged):
        assert declared is not None
        assert broken_example(statement, example, correction, declared) == []
