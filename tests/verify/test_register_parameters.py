"""No parameter of the register is vacuous: each changes claim or truth somewhere, and nowhere where it is declared not to matter."""

from dataclasses import replace

import pytest

from mipsim import referee as rf
from verify.register import REGISTER
from verify.rules import vacuous

EITHER = rf.Statement(
    name="either", says="x <= 1 or y <= 1", source="nobody", kind=rf.Bound(),
    domain={"which": rf.Choice("x", "y"), "x": rf.Real(0.0, 2.0), "y": rf.Real(0.0, 2.0), "z": rf.Real(0.0, 2.0)},
    claimed=lambda: 1.0, truth=lambda which, x, y: x if which == "x" else y,
    points=[{"which": which, "x": 0.5, "y": 1.5, "z": 0.5} for which in ("x", "y")],
    matters_when={"x": lambda which: which == "x", "y": lambda which: which == "y", "z": lambda: False},
)  # fmt: skip


def test_a_vacuous_parameter_is_detected_and_a_declared_parameter_is_not():
    assert vacuous(EITHER) == []
    (message,) = vacuous(replace(EITHER, matters_when={name: EITHER.matters_when[name] for name in "xy"}))
    assert message == "either: z changes neither claim nor truth at 2 points"


def test_a_parameter_that_matters_is_not_declared_idle():
    message = vacuous(replace(EITHER, matters_when={**EITHER.matters_when, "y": lambda: False}))
    assert message == [f"either: y is declared not to matter at {dict(EITHER.points[1].at)}, and does"]


def test_no_counterexample_tells_what_does_not_matter():
    outcome = rf.judge(EITHER, at=[EITHER.points[1].at])
    assert "y = 1.5" in str(outcome)
    assert "x = " not in str(outcome).partition("replay")[0]


def test_a_replay_leaves_out_what_does_not_matter_and_gives_the_same_point():
    """With the games of the whole point: their seed is of what matters."""
    at = {"which": "y", "x": 0.7, "y": 1.5, "z": 0.1}
    (command, *_) = str(rf.judge(EITHER, at=[at]).replay).splitlines()
    assert '{"which": "y", "y": 1.5}' in command
    assert EITHER.inside({"which": "y", "y": 1.5}) == {"which": "y", "x": 0.5, "y": 1.5, "z": 0.5}
    with pytest.raises(ValueError, match=r"at has no value for y"):
        EITHER.inside({"which": "y"})
    # A `where` that ties an idle parameter to another parameter: the whole point is given.
    tied = replace(EITHER, where=lambda y, z: z <= y, points=[{"which": "x", "x": 0.5, "y": 1.5, "z": 1.5}])
    assert tied.essential(at | {"y": 1.0}) == at | {"y": 1.0}


@pytest.mark.slow
@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_no_parameter_of_the_register_is_vacuous(statement: rf.Statement):
    assert vacuous(statement) == []
