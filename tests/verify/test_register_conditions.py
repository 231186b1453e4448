"""Conditions in words are parameters, families of the domain, or `where`: a hunt can meet them."""

from dataclasses import replace

import pytest

from mipsim import referee as rf
from mipsim.referee.judging.point import judge_point
from verify.leemann.statements.guarantee import BETWEEN, COSET
from verify.register import REGISTER
from verify.rules import CONDITIONS, unmet_conditions

NAMED = rf.Statement(
    name="named", says="For Gaussian data and x >= 0.5, x <= 1.", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 1.0), "data": rf.Choice("Gaussian", "uniform")}, claimed=lambda: 1.0, truth=lambda x: x,
    where=lambda x: x >= 0.5, derivation="x is at most 1 by its definition.",
)  # fmt: skip
RIGHT = {"Gaussian data": "data = Gaussian", "x >= 0.5": "where"}
CORRECTION = replace(NAMED, name="named-corrected", corrects="named")
FINITE = replace(CORRECTION, says="For Gaussian data and x >= 0.5, x <= 1 for every finite n.")
QUOTED = (rf.Quote("We take x from a table.", "p. 1"),)


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_conditions_of_the_register_are_executable(statement: rf.Statement):
    assert unmet_conditions(statement, CONDITIONS.get(statement.name), CONDITIONS.keys()) == []


def test_every_table_is_of_a_statement():
    assert set(CONDITIONS) <= set(REGISTER)


@pytest.mark.parametrize(
    ("statement", "conditions", "told"),
    [
        (replace(NAMED, where=None), RIGHT, "is its where, and it has none"),
        (replace(NAMED, says="x <= 1"), RIGHT, "is not in its words"),
        (NAMED, {"Gaussian data": "data = Laplace"}, "which its domain does not hold (Gaussian or uniform)"),
        (NAMED, {"Gaussian data": "law"}, "is law, which is no parameter of its domain"),
        (NAMED, {"x >= 0.5": "x = [0.5, 1]"}, "which its domain does not hold ([0, 1])"),
        (CORRECTION, None, "corrects a statement and has no conditions"),
        (CORRECTION, {"none": "as is"}, "has no reason"),
        (CORRECTION, {"Gaussian data": "built in"}, "a correction has a proof that says so"),
        (CORRECTION, {"Gaussian data": "proof: x is Gaussian"}, "which its derivation does not say"),
        (CORRECTION, {"Gaussian data": "as another"}, "is as another, which has none"),
        (FINITE, RIGHT, '"every finite n." tells a condition that nothing makes executable'),
        (replace(NAMED, restricted_by=QUOTED), RIGHT, "is restricted by \"We take x from a table.\""),
    ],
)  # fmt: skip
def test_a_condition_that_no_hunt_can_meet_is_told(
    statement: rf.Statement, conditions: dict[str, str] | None, told: str
):
    assert unmet_conditions(NAMED, RIGHT) == []
    assert unmet_conditions(CORRECTION, RIGHT | {"x <= 1": "proof: x is at most 1 by"}) == []
    assert told in unmet_conditions(statement, conditions)[0]


def test_a_target_on_another_coset_is_outside_the_correction_and_refutes_the_printed_guarantee():
    """Gradients +-1 and the target 0: the parity of the sum tells, where equation 8 allows an advantage of 0.01."""
    printed, corrected = (
        REGISTER["leemann-thm-5.1-guarantee"],
        REGISTER["leemann-thm-5.1-guarantee-corrected"],
    )
    at = next(point.at for point in printed.points if point.at["gradients"] == BETWEEN)
    result = judge_point(printed, at, risk=1e-9, games=1000, seed=0)
    assert result.verdict is rf.Verdict.REFUTED
    assert result.second_route is not None
    assert result.second_route.excludes
    assert not corrected.holds_point(at)
    assert any(point.at["gradients"] == COSET for point in corrected.points)
