"""What every statement of the register must bring: the sentence that it judges, a control, and what is wrong if it fails."""

import re

import pytest

from mipsim.referee import Limit, Statement, Verdict, controlled, mathml
from mipsim.referee.defect import READING, correction_of
from mipsim.referee.judging.point import judge_point
from mipsim.referee.judging.prepared import Share
from verify.register import REGISTER, SAMPLES, paper_of

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
        settings = {point.setting for point in statement.points}
        narrower = correction.claimed is statement.claimed
        sample = SAMPLES.get(statement.name, (1, 1, 1))[0] > 0
        if not (statement.slip or narrower or sample or "paper" in settings or READING in statement.domain):
            result.append(
                "nothing that tells its defect: no slip, reading, setting, random point or narrower correction"
            )
    return result


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_nothing_is_missing(statement: Statement):
    assert missing(statement) == []


@pytest.mark.evidence
@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_the_control_is_refuted_and_what_it_shifts_is_not(statement: Statement):
    """Made false by a few per cent, a point of the statement is REFUTED by the judge that does not refute it unshifted."""
    control = statement.control
    assert control is not None
    share = Share(RISK, 100_000, 1)
    spoiled = judge_point(controlled(statement), control.at, share)
    # Only a theorem refutes a limit: without one there is no sign of it, and one about another claim is refused.
    open_limit = isinstance(statement.kind, Limit) and spoiled.verdict is Verdict.INCONCLUSIVE
    seen = spoiled.headline or "refused" in spoiled.detail
    assert spoiled.verdict is Verdict.REFUTED or (open_limit and seen), spoiled.detail
    # What is false wherever it is judged has no point that stands; its correction has, and keeps the rule.
    if not control.attained and correction_of(statement, REGISTER.values()) is None:
        assert judge_point(statement, control.at, share).verdict is not Verdict.REFUTED


def decimals(text: str) -> set[str]:
    return set(re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", text))


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_its_formula_is_plotted_and_its_parameters_are_explained(statement: Statement):
    if statement.formula:
        sample = mathml.to_mathml(statement.formula, block=True)
        assert sample.startswith("<math")
        assert "\\" not in sample  # a command that the converter does not know
    # A constant that is changed in the formula, the words or the quote alone is seen; `verify.papers` compares quotes with the papers.
    quoted = decimals(statement.quote.text if statement.quote else "")
    if not statement.corrects:
        assert decimals(statement.formula) <= decimals(statement.says)
        assert not quoted or decimals(statement.formula) <= quoted
    assert set(statement.meanings) == set(statement.domain)
