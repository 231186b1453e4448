"""The register: every numbered statement of the papers once, with all that a statement must bring, and rules that planted statements break."""

import re
from dataclasses import replace

import pytest

from mipsim import referee as rf
from mipsim.referee import Limit, Verdict, controlled, mathml
from mipsim.referee.defect import READING, correction_of
from mipsim.referee.judging.point import judge_point, judged_again
from mipsim.referee.judging.prepared import Share
from verify.leemann.statements.guarantee import BETWEEN, COSET
from verify.register import FAMILIES, MODULES, PAPERS, REGISTER, paper_of
from verify.rules import broken_uses, unmet_needs, vacuous
from verify.statement import Statement

# Every numbered statement of the four papers is in the register, once, and knows its twin.

COMPANIONS = (
    "azize-thm-4.3-curve", "azize-scalar-product-curves", "azize-reference-points-distance", "azize-z-estimators-ratio",
    "azize-alg-4-limit", "azize-alg-4-estimated-random", "leemann-lemma-5.1-game", "leemann-rem-5.1-mean", "kaissis-rero-lengths",
)  # fmt: skip
"""What no paper prints, beside the correction of what a paper prints: with numbers or in a form of the project's own."""


def test_no_name_is_used_twice():
    """The register is a mapping: a second statement of the same name would hide the first."""
    listed = [item.name for module in MODULES for item in module.STATEMENTS]
    assert sorted(listed) == sorted(set(listed))
    assert listed == list(REGISTER)
    assert sorted(name for family in FAMILIES for name in family) == sorted(listed)
    assert {paper_of(name) for name in listed} == set(PAPERS)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "statement", [item for item in REGISTER.values() if item.defer_where], ids=lambda item: item.name
)
def test_points_with_deferred_assumptions_satisfy_them(statement: Statement):
    assert statement.control is not None
    for at in (statement.control.at, *(point.at for point in statement.points)):
        statement.check(at)


# What every statement of the register must bring: the sentence that it judges, a control, and what is wrong if it fails.

# The share of a point of a family-wise failure probability of 1e-9 over this whole file.
RISK = 1e-9 / 10_000


def missing(statement: Statement) -> list[str]:
    """What a statement lacks that can be seen without judging it."""
    result = []
    if statement.control is None:
        result.append("no control")
    elif not statement.control.attained and dict(statement.control.at) not in [
        dict(p.at) for p in statement.points
    ]:
        result.append("unshifted, the control is at no point of the statement")
    if paper_of(statement.name) != "field" and (statement.quote is None or not statement.quote.place):
        result.append("no quotation of the sentence that is judged")
    if statement.corrects and len(statement.derivation) < 100:
        result.append("no derivation with its conditions")
    if statement.restored_by is not None and isinstance(statement.restored_by[1], str):
        limit = REGISTER[statement.restored_by[1]]
        if not (isinstance(limit.kind, Limit) and limit.corrects and limit.formula == statement.formula):
            result.append("restored by what is no correction that has its formula as a limit")
    correction = correction_of(statement, REGISTER.values())
    if correction is not None:
        settings = " ".join(point.setting for point in statement.points)
        narrower = correction.claimed is statement.claimed
        sample = REGISTER[statement.name].samples[0] > 0
        if not (statement.slip or narrower or sample or "paper" in settings or READING in statement.domain):
            result.append(
                "nothing that tells its defect: no slip, reading, setting, random point or narrower correction"
            )
    return result


def decimals(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", text))


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_a_statement_is_whole(statement: Statement):
    """Its points differ, the twin that it names is there, its formula can be shown, and its parameters are explained."""
    assert missing(statement) == []
    points = [dict(point.at) for point in statement.points]
    assert all(point not in points[:place] for place, point in enumerate(points))
    names = [point.name for point in statement.points if point.name]
    assert len(names) == len(set(names))
    own = statement.name.endswith("-corrected") or statement.name in COMPANIONS
    assert own == bool(statement.corrects)
    assert not own or statement.corrects in REGISTER
    assert set(statement.meanings) == set(statement.domain)
    if statement.formula:
        shown = mathml.to_mathml(statement.formula, block=True)
        assert shown.startswith("<math")
        assert "\\" not in shown  # a command that the converter does not know
    # A constant that is changed in the formula, the words or the quote alone is seen; `verify.papers` compares quotes with the papers.
    quoted = decimals(statement.quote.text if statement.quote else "")
    if not statement.corrects:
        assert decimals(statement.formula) <= decimals(statement.says)
        assert not quoted or decimals(statement.formula) <= quoted


@pytest.mark.evidence
@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_the_control_is_refuted_and_what_it_shifts_is_not(statement: Statement):
    """Made false by a few per cent, a point of the statement is REFUTED by the judge that does not refute it unshifted."""
    control = statement.control
    assert control is not None
    share = Share(RISK, 100_000, 1)
    spoiled = judge_point(controlled(statement), control.at, share)
    # Only a theorem refutes a limit: else there is no sign of it, and a theorem about another claim is refused.
    open_limit = isinstance(statement.kind, Limit) and spoiled.verdict is Verdict.INCONCLUSIVE
    seen = spoiled.headline or "refused" in spoiled.detail
    assert spoiled.verdict is Verdict.REFUTED or (open_limit and seen), spoiled.detail
    # What is false wherever it is judged has no point that stands; its correction has, and keeps the rule.
    if not control.attained and correction_of(statement, REGISTER.values()) is None:
        assert judge_point(statement, control.at, share).verdict is not Verdict.REFUTED


SECONDS = (
    "leemann-thm-5.1-corrected",
    "leemann-thm-5.1-tight",
    "leemann-lemma-5.1-corrected",
    "leemann-lemma-5.1-game",
    "azize-thm-3.1-power-corrected",
    "azize-thm-4.2-corrected",
    "azize-thm-4.2-advantage-corrected",
    "field-allocation-blocks",
    "leemann-K-equals-d-limit",
)
"""What takes more than a second at a single point."""


@pytest.mark.parametrize(
    "statement",
    [
        pytest.param(item, marks=[pytest.mark.evidence] * (item.name in SECONDS))
        for item in REGISTER.values()
        if not item.fails and correction_of(item, REGISTER.values()) is None
    ],
    ids=lambda item: item.name,
)
def test_what_stands_is_not_refuted_where_its_control_is(statement: Statement):
    """Of what a control attains the first point is judged: a claim that is a few per cent too strict fails at once."""
    control = statement.control
    assert control is not None
    at = statement.points[0].at if control.attained else control.at
    assert judge_point(statement, at, Share(RISK, 10_000, 1)).verdict is not Verdict.REFUTED


# No parameter of the register is vacuous: each changes claim or truth somewhere, and nowhere where it is declared not to matter.

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


# Conditions in the words of a statement are needed: without them a point breaks it.

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


@pytest.mark.parametrize("name", [item.name for item in REGISTER.values() if item.needs])
def test_a_condition_of_the_register_is_needed(name: str):
    assert unmet_needs(REGISTER[name], REGISTER[name].needs, REGISTER) == []


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
    result = judge_point(printed, at, Share(1e-9, 1000, 0))
    assert result.verdict is rf.Verdict.REFUTED
    second = judged_again(printed, result)
    assert second is not None
    assert second.excludes
    assert not corrected.holds_point(at)
    assert any(point.at["gradients"] == COSET for point in corrected.points)


# What a statement rests on is named, and judged as it is printed.


def numbers(name: str, factor: float, **more) -> Statement:
    """A statement that x is at most `factor` x."""
    return Statement(
        name=name, says="x is small", source="nobody", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        claimed=lambda x: factor * x, truth=lambda x: x, points=[{"x": 0.5}], **more,
    )  # fmt: skip


def planted(*statements: Statement) -> list[str]:
    return broken_uses({item.name: item for item in statements})


HALF = numbers("half", 0.5)
WHOLE = HALF.corrected(claimed=lambda x: x, derivation="x is x.")


def test_the_register_uses_statements_as_they_are_printed():
    assert broken_uses(REGISTER) == []


def test_a_confirmed_statement_may_not_use_a_refuted_statement():
    stands = numbers("stands", 1.0, uses=("half",))
    assert str(rf.judge(stands, budget=0).verdict) == "CONFIRMED"
    (message,) = planted(HALF, WHOLE, stands)
    assert "stands uses half, which is refuted as printed" in message
    assert planted(HALF, WHOLE, replace(stands, uses=(WHOLE.name,))) == []
    # Judged as printed it is refuted, and has a correction.
    as_printed = numbers("as-printed", 0.5, uses=("half",))
    assert planted(HALF, WHOLE, as_printed, as_printed.corrected(claimed=lambda x: x)) == []


def test_why_a_defect_does_not_matter_is_a_function_that_is_called():
    safe = numbers("safe", 1.0, uses=("half",), unreached={"half": lambda x: x < 0.6})
    assert planted(HALF, WHOLE, safe) == []
    (message,) = planted(HALF, WHOLE, replace(safe, unreached={"half": lambda x: x < 0.4}))
    assert "whose defect reaches it at {'x': 0.5}" in message


def test_a_correction_uses_no_refuted_statement():
    other = numbers("other", 0.5)
    (message,) = planted(HALF, WHOLE, other, other.corrected(claimed=lambda x: x, uses=("half",)))
    assert "other-corrected corrects a statement and uses half" in message


def test_what_words_name_is_used_and_there_and_in_no_circle():
    (message,) = planted(HALF, numbers("says-so", 1.0, derivation="By half-corrected."), WHOLE)
    assert "says-so names half-corrected and does not use it" in message
    (message,) = planted(numbers("lost", 1.0, uses=("nowhere",)))
    assert "lost uses nowhere" in message
    (message,) = planted(numbers("a", 1.0, uses=("b",)), numbers("b", 1.0, uses=("a",)))
    assert "use each other" in message
