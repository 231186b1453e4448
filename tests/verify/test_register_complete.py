"""Every numbered statement of the four papers is in the register, once, and knows its twin."""

import pytest

from mipsim.referee import Statement
from verify.register import FAMILIES, GAMES, MODULES, PAPERS, REGISTER, SAMPLES, paper_of

COMPANIONS = (
    "azize-thm-4.3-curve", "azize-scalar-product-curves", "azize-reference-points-distance", "azize-z-estimators-ratio",
    "azize-alg-4-limit", "azize-alg-4-estimated-random", "leemann-lemma-5.1-game", "leemann-rem-5.1-mean", "kaissis-audit-lira-enough", "kaissis-rero-lengths",
)  # fmt: skip
"""What no paper prints, beside the correction of what a paper prints: with numbers or in a form of the project's own."""


def test_no_name_is_used_twice():
    """The register is a mapping: a second statement of the same name would hide the first."""
    listed = [item.name for module in MODULES for item in module.STATEMENTS]
    assert sorted(listed) == sorted(set(listed))
    assert listed == list(REGISTER)
    assert sorted(name for family in FAMILIES for name in family) == sorted(listed)
    assert {*SAMPLES, *GAMES} <= set(listed)
    assert {paper_of(name) for name in listed} == set(PAPERS)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "statement", [item for item in REGISTER.values() if item.defer_where], ids=lambda item: item.name
)
def test_points_with_deferred_assumptions_satisfy_them(statement: Statement):
    assert statement.control is not None
    for at in (statement.control.at, *(point.at for point in statement.points)):
        statement.check(at)


@pytest.mark.parametrize("statement", REGISTER.values(), ids=REGISTER)
def test_a_statement_is_whole(statement: Statement):
    """Its points differ, and the twin that it names is there."""
    points = [dict(point.at) for point in statement.points]
    assert all(point not in points[:place] for place, point in enumerate(points))
    names = [point.name for point in statement.points if point.name]
    assert len(names) == len(set(names))
    own = statement.name.endswith("-corrected") or statement.name in COMPANIONS
    assert own == bool(statement.corrects)
    if statement.corrects:
        assert statement.corrects in REGISTER
        assert len(statement.derivation) > 40
