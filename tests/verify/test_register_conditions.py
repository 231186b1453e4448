"""Conditions in words are parameters, families of the domain, or `where`: a hunt can meet them."""

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import verify
from mipsim import referee as rf
from mipsim.referee.judging.point import judge_point
from verify.leemann.statements.guarantee import BETWEEN, COSET
from verify.register import REGISTER
from verify.rules import unmet_conditions

CONDITIONS = tomllib.loads((Path(verify.__file__).parent / "conditions.toml").read_text(encoding="utf-8"))

NAMED = rf.Statement(
    name="named", says="For Gaussian data and x >= 0.5, x <= 1.", source="nobody", kind=rf.Bound(),
    domain={"x": rf.Real(0.0, 1.0), "data": rf.Choice("Gaussian", "uniform")}, claimed=lambda: 1.0, truth=lambda x: x,
    where=lambda x: x >= 0.5,
)  # fmt: skip
RIGHT = {"Gaussian data": "data = Gaussian", "x >= 0.5": "where"}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_of_the_register_are_executable(name: str):
    assert unmet_conditions(REGISTER[name], CONDITIONS[name]) == []


@pytest.mark.parametrize(
    ("statement", "conditions", "told"),
    [
        (replace(NAMED, where=None), RIGHT, "is its where, and it has none"),
        (replace(NAMED, says="x <= 1"), RIGHT, "is not in its words"),
        (NAMED, {"Gaussian data": "data = Laplace"}, "which its domain does not hold (Gaussian or uniform)"),
        (NAMED, {"Gaussian data": "law"}, "is law, which is no parameter of its domain"),
    ],
)
def test_a_condition_that_no_hunt_can_meet_is_told(
    statement: rf.Statement, conditions: dict[str, str], told: str
):
    assert unmet_conditions(NAMED, RIGHT) == []
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
