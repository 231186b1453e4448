"""Conditions in words are parameters, families of the domain, or `where`: a hunt can meet them."""

from dataclasses import replace

import pytest

import mipsim as mi
from mipsim import referee as rf
from mipsim.referee.judging.point import judge_point
from verify.leemann.statements.guarantee import BETWEEN, COSET
from verify.register import REGISTER
from verify.rules import CONDITIONS, Target, unmet_conditions


def at_most_1(x: float) -> float:
    """The largest x of a table."""
    return min(x, 1.0)


PRINTED = rf.Statement(
    name="named", says="For Gaussian data x is at most 1.", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 2.0), "data": rf.Choice("Gaussian", "uniform")}, claimed=lambda: 1.0, truth=lambda x: x,
    where=lambda data: data == "Gaussian", points=[{"x": 0.75, "data": "Gaussian"}],
)  # fmt: skip
NAMED = replace(
    PRINTED,
    says="For Gaussian data and x >= 0.5, x <= 1.",
    domain={**PRINTED.domain, "x": rf.Real(0.0, 1.0)},
    truth=lambda x: at_most_1(x),
    where=lambda x, data: x >= 0.5 and data == "Gaussian",
    derivation="x is at most 1 by its definition.",
)
X = {"added": {"x": 0.25}}
RIGHT: dict[str, Target] = {"Gaussian data": {"held": {"data": "uniform"}}, "x >= 0.5": "x = [0, 1]"}
CORRECTION = replace(NAMED, name="named-corrected", corrects="named")
OTHER = replace(
    CORRECTION, name="other-corrected", corrects="other", says="x <= 1", derivation="By definition."
)
KNOWN = {item.name: item for item in (PRINTED, CORRECTION, OTHER)}
FINITE = replace(CORRECTION, says="For Gaussian data and x >= 0.5, x <= 1 for every finite n.")
CURVE = replace(CORRECTION, claimed=lambda: mi.GaussianTradeOff(1.0))
GROWS = replace(
    CORRECTION,
    kind=rf.Limit("n", sizes=tuple(2**k for k in range(6))),
    domain={**NAMED.domain, "n": rf.Whole(1, 100)},
)
THIRD = replace(CORRECTION, name="third-corrected")
FAR = replace(CORRECTION, uses=("other-corrected",))
QUOTED = (rf.Quote("We take x from a table.", "p. 1"),)


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_conditions_of_the_register_are_executable(statement: rf.Statement):
    assert unmet_conditions(statement, CONDITIONS.get(statement.name), REGISTER) == []


def test_every_table_is_of_a_statement():
    assert set(CONDITIONS) <= set(REGISTER)


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        (CORRECTION, "x = [0, 1]"),
        (CORRECTION, "x"),
        (CORRECTION, X),
        (CORRECTION, {"held": {"x": 0.25}}),
        (CORRECTION, {"fails": "named", "at": {"x": 1.5, "data": "Gaussian"}}),
        (CORRECTION, "proof: x is at most 1 by"),
        (CORRECTION, "by at_most_1: largest x of a table"),
        (CURVE, "curve"),
        (GROWS, "limit"),
        (FAR, "as other-corrected"),
        (THIRD, "as named-corrected"),
        (THIRD, "in named-corrected"),
    ],
)
def test_a_condition_that_is_executable_is_not_reported(statement: rf.Statement, target: Target):
    assert unmet_conditions(statement, {**RIGHT, "x >= 0.5": target}, KNOWN) == []


@pytest.mark.parametrize(
    ("statement", "conditions", "message"),
    [
        (NAMED, RIGHT | {"x <= 2": "x"}, "is not in its words"),
        (NAMED, {"Gaussian data": "data = Laplace"}, "which its domain does not hold (Gaussian or uniform)"),
        (NAMED, {"Gaussian data": "law"}, "is law, which is no parameter of its domain"),
        (replace(NAMED, domain={**NAMED.domain, "x": rf.Fixed(0.75)}), {"x >= 0.5": "x"}, "is x, which has a single value"),
        (NAMED, {"x >= 0.5": "x = [0.5, 1]"}, "which its domain does not hold ([0, 1])"),
        # A point that `where` accepts, a point outside the domain, a point that the printed statement rejects too, and none that is printed.
        (replace(NAMED, where=None), {"Gaussian data": RIGHT["Gaussian data"]}, "which its where accepts"),
        (CORRECTION, {"x >= 0.5": {"added": {"x": 0.6}}}, "which its where accepts"),
        (CORRECTION, {"x >= 0.5": {"added": {"x": 1.5}}}, "but x is 1.5; named-corrected allows [0, 1]"),
        (CORRECTION, {"Gaussian data": {"added": {"data": "uniform"}}}, "which named rejects too"),
        (replace(NAMED, name="lone"), {"x >= 0.5": X}, "and it corrects nothing"),
        (CORRECTION, {"x >= 0.5": {"fails": "named", "at": {"x": 0.97, "data": "Gaussian"}}}, "where that stands"),
        (CORRECTION, {"x >= 0.5": {"fails": "other-corrected", "at": {"x": 0.97}}}, "which is no printed statement"),
        (CORRECTION, None, "corrects a statement and has no conditions"),
        (CORRECTION, {"none": "as is"}, "has no reason"),
        (CORRECTION, {"Gaussian data": "proof: x is Gaussian"}, "which its derivation does not say"),
        (CORRECTION, {"x >= 0.5": "by at_least_1: largest"}, "which neither claim nor truth calls"),
        (CORRECTION, {"x >= 0.5": "by at_most_1: smallest"}, "which at_most_1 does not say"),
        (CORRECTION, {"x >= 0.5": "curve"}, "is a curve, and a number is claimed"),
        (CORRECTION, {"x >= 0.5": "limit"}, "is a limit, and its kind is bound"),
        (CORRECTION, {"Gaussian data": "as another"}, "is as another, which has none"),
        (CORRECTION, {"Gaussian data": "as other-corrected"}, "is as other-corrected, which it does not use"),
        (replace(FAR, points=[{"x": 0.75, "data": "uniform"}], where=None), {"Gaussian data": "as other-corrected"}, "does not meet"),
        (FAR, {"Gaussian data": "in other-corrected"}, "is in other-corrected, which does not say it"),
        (FINITE, RIGHT, '"every finite n." tells a condition that nothing makes executable'),
        (replace(NAMED, restricted_by=QUOTED), RIGHT, "is restricted by \"We take x from a table.\""),
    ],
)  # fmt: skip
def test_a_condition_that_no_hunt_can_meet_is_reported(
    statement: rf.Statement, conditions: dict[str, Target] | None, message: str
):
    assert message in unmet_conditions(statement, conditions, KNOWN)[0]


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
