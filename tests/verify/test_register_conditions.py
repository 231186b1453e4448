"""Conditions in the words of a statement are needed: without them a point breaks it."""

from dataclasses import replace

import pytest

from mipsim import referee as rf
from mipsim.referee.judging.point import judge_point, judged_again
from mipsim.referee.judging.prepared import Share
from verify.leemann.statements.guarantee import BETWEEN, COSET
from verify.register import NEEDS, REGISTER
from verify.rules import unmet_needs

PRINTED = rf.Statement(
    name="named", says="For Gaussian data x is at most 1.", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 2.0), "data": rf.Choice("Gaussian", "uniform")}, claimed=lambda: 1.0, truth=lambda x: x,
    where=lambda data: data == "Gaussian", points=[{"x": 0.75, "data": "Gaussian"}],
)  # fmt: skip
NAMED = replace(
    PRINTED,
    says="For Gaussian data and x >= 0.5, x <= 1.",
    domain={**PRINTED.domain, "x": rf.Real(0.0, 1.0)},
    where=lambda x, data: x >= 0.5 and data == "Gaussian",
)
X = {"added": {"x": 0.25}}
CORRECTION = replace(NAMED, name="named-corrected", corrects="named")
KNOWN = {item.name: item for item in (PRINTED, CORRECTION)}


@pytest.mark.parametrize("name", NEEDS)
def test_a_condition_of_the_register_is_needed(name: str):
    assert unmet_needs(REGISTER[name], NEEDS[name], REGISTER) == []


@pytest.mark.parametrize(
    "target", [X, {"held": {"x": 0.25}}, {"fails": "named", "at": {"x": 1.5, "data": "Gaussian"}}]
)
def test_a_condition_that_is_needed_is_not_reported(target):
    assert (
        unmet_needs(CORRECTION, {"Gaussian data": {"held": {"data": "uniform"}}, "x >= 0.5": target}, KNOWN)
        == []
    )


@pytest.mark.parametrize(
    ("statement", "needs", "message"),
    [
        (NAMED, {"x <= 2": X}, "is not in its words"),
        # A point that `where` accepts, a point outside the domain, a point that the printed statement rejects too, and none that is printed.
        (replace(NAMED, where=None), {"Gaussian data": {"held": {"data": "uniform"}}}, "which its where accepts"),
        (CORRECTION, {"x >= 0.5": {"added": {"x": 0.6}}}, "which its where accepts"),
        (CORRECTION, {"x >= 0.5": {"added": {"x": 1.5}}}, "but x is 1.5; named-corrected allows [0, 1]"),
        (CORRECTION, {"Gaussian data": {"added": {"data": "uniform"}}}, "which named rejects too"),
        (replace(NAMED, name="lone"), {"x >= 0.5": X}, "and it corrects nothing"),
        (CORRECTION, {"x >= 0.5": {"fails": "named", "at": {"x": 0.97, "data": "Gaussian"}}}, "where that stands"),
        (CORRECTION, {"x >= 0.5": {"fails": "another", "at": {"x": 0.97}}}, "which is no printed statement"),
    ],
)  # fmt: skip
def test_a_condition_that_is_not_needed_is_reported(statement: rf.Statement, needs, message: str):
    assert message in unmet_needs(statement, needs, KNOWN)[0]


def test_a_target_on_another_coset_is_outside_the_correction_and_refutes_the_printed_guarantee():
    """Gradients +-1 and the target 0: the parity of the sum tells, where equation 8 allows an advantage of 0.01."""
    printed, corrected = (
        REGISTER["leemann-thm-5.1-guarantee"],
        REGISTER["leemann-thm-5.1-guarantee-corrected"],
    )
    at = next(point.at for point in printed.points if point.at["gradients"] == BETWEEN)
    result = judged_again(printed, judge_point(printed, at, Share(1e-9, 1000, 0)))
    assert result.verdict is rf.Verdict.REFUTED
    assert result.second_route is not None
    assert result.second_route.excludes
    assert not corrected.holds_point(at)
    assert any(point.at["gradients"] == COSET for point in corrected.points)
