"""Every numbered statement of the four papers is in the register, once, and knows its twin."""

import pytest

from mipsim.referee import Statement
from verify.register import FAMILIES, GAMES, MODULES, PAPERS, REGISTER, SAMPLES, paper_of

NUMBERED = {
    "azize": (
        "thm-2.1a", "thm-2.1b", "thm-2.1c", "thm-3.1-advantage", "thm-3.1-power", "lemma-C.6", "eq-5", "lemma-C.8", "lemma-C.9", "lemma-C.11",
        "eq-11", "eq-12-14", "B.3", "mean-leakage", "table-1-similar", "thm-4.1", "thm-4.2", "lemma-C.12", "thm-4.3", "thm-4.3-threshold", "gdp",
        "scalar-product", "reference-points", "onion", "z-estimators", "alg-3", "alg-4",
    ),
    "leemann": (
        "thm-4.1", "thm-4.2", "most-powerful", "strictly-stronger", "thm-5.1", "cor-5.1", "cor-5.1-normal", "rem-5.1", "lemma-5.1", "D.3", "alg-1", "less-noise",
    ),
    "kaissis": (
        "lemma-1", "lemma-2", "lemma-3", "lemma-4", "lemma-5", "lemma-6", "lemma-7", "thm-1", "thm-2", "cor-1", "lemma-8", "thm-3",
        "blessing", "lemma-9", "power", "power-loss", "audit", "audit-symmetric", "rero",
    ),
    "izzo": (
        "prop-2", "thm-3", "thm-4", "thm-5", "prop-6", "thm-7", "thm-8", "thm-9", "cor-10", "cor-14", "prop-11", "prop-11-dataset", "noise-growth",
        "noise", "lemma-12", "lemma-13", "alg-1",
    ),
    "field": (
        "gaussian", "shuffled-batches", "central-limit", "sampling", "yeom", "humphries", "shuffling",
        "random-allocation", "allocation-blocks", "allocation-blocks-lower", "effective-noise", "binomial-subset", "rdp-exponential-count",
        "bounded-range", "pure-to-renyi", "laplace-zcdp", "permute-and-flip", "best-of-poisson", "best-of-fixed", "r1smg", "discrete-gaussian-tail",
    ),
}  # fmt: skip
COMPANIONS = (
    "azize-thm-4.3-curve", "azize-scalar-product-curves", "azize-reference-points-distance", "azize-z-estimators-ratio",
    "azize-alg-4-limit", "azize-alg-4-estimated-random", "leemann-lemma-5.1-game", "leemann-rem-5.1-mean", "kaissis-audit-lira-enough", "kaissis-rero-lengths",
)  # fmt: skip
"""What no paper prints, beside the correction of what a paper prints: with numbers or in a form of the project's own."""
IDS = [f"{paper}-{name}" for paper, names in NUMBERED.items() for name in names]


@pytest.mark.parametrize("name", IDS)
def test_every_numbered_statement_is_judged(name: str):
    assert name in REGISTER
    assert REGISTER[name].points
    assert not REGISTER[name].corrects


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
