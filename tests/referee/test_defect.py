"""What is wrong with a refuted statement: computed from its points, its quotes and its correction."""

from dataclasses import replace

import pytest

from mipsim import referee as rf
from mipsim.referee.defect import Defect, correction_of, defect_of, diagnose, readings_of

SLIP = (rf.Quote("with +", "equation 4"), rf.Quote("with -", "equation 9"))


def statement(level: float = 0.9, points: tuple = ({"x": 0.1}, {"x": 0.95}), **more) -> rf.Statement:
    given = {
        "name": "c", "says": "x <= y", "source": "p", "kind": rf.Bound(), "domain": {"x": rf.Real(0.0, 1.0)},
        "claimed": lambda: level, "truth": lambda x: x, "points": points,
    }  # fmt: skip
    return rf.Statement(**(given | more))


def defect(printed: rf.Statement, correction: rf.Statement | None = None) -> Defect | None:
    return defect_of(rf.judge(printed, budget=0), correction)


def test_a_missing_condition_is_stated_by_the_correction_that_claims_the_same():
    printed = statement()
    narrower = printed.corrected(says="for x <= .9", domain={"x": rf.Real(0.0, 0.9)})
    other = printed.corrected(says="x <= 1", claimed=lambda: 1.0)
    assert defect(printed, narrower) is Defect.CONDITION
    assert (
        defect(printed, other) is Defect.FORMULA
    )  # at a tenth of the points, but another formula puts it right
    assert defect(printed) is Defect.FORMULA  # nothing is known that restores it
    assert correction_of(printed, [other, narrower]) is other


@pytest.mark.parametrize(
    "changed",
    [
        {"truth": lambda x: min(x, 0.9)},
        {"kind": rf.Ordering()},
        {"kind": rf.Bound(floor=1e-3)},
        {"claimed": lambda: 0.9},
    ],
    ids=["of something else", "another kind", "another floor", "the same number by another function"],
)
def test_a_correction_that_changes_more_than_what_is_assumed_shows_no_missing_condition(changed):
    printed = statement()
    assert defect(printed, printed.corrected(domain={"x": rf.Real(0.0, 0.9)}, **changed)) is Defect.FORMULA


def test_a_limit_from_both_sides_with_a_condition_shows_that_it_is_missing_from_a_bound():
    limit = rf.Limit("n", bound=True, sizes=tuple(10 * 2**k for k in range(8)), tolerance=0.02)
    false = rf.Ceiling(2.0, below=True, source="algebra")
    printed = statement(
        kind=replace(limit, ceiling=lambda x: false if x > 0.9 else None),
        domain={"x": rf.Real(0.0, 1.0), "n": rf.Whole(10, 2000)},
        claimed=lambda: 1.0,
        truth=lambda x, n: 1.0 + (x > 0.9) + 1.0 / n,
    )
    both = printed.corrected(kind=replace(limit, bound=False), domain={"x": rf.Real(0.0, 0.9)})
    assert defect(printed, both) is Defect.CONDITION
    proven = rf.Rate(1.5, 1.0, limit=1.0, source="algebra")  # evidence, not part of what is stated
    assert defect(printed, replace(both, kind=replace(both.kind, rate=lambda x: proven))) is Defect.CONDITION
    assert (
        defect(printed, replace(both, kind=rf.Limit("n", sizes=limit.sizes, tolerance=0.5))) is Defect.FORMULA
    )


@pytest.mark.parametrize("level", [0.05, 0.4, 0.9])
def test_the_class_is_what_restores_it_whatever_share_is_refuted_at_whichever_setting(level: float):
    printed = statement(level, points=(rf.Point({"x": 0.02}), rf.Point({"x": 0.95}, setting="paper")))
    assert defect(printed) is Defect.FORMULA
    result = diagnose(rf.judge(replace(printed, restored_by=("x is small", lambda x: x <= level)), budget=0))
    assert result is not None
    assert result.defect is Defect.CONDITION
    assert "where x is small stand" in result.reason


@pytest.mark.parametrize(
    "where", [lambda x: x <= 0.93, lambda x: x > 0.9, lambda x: x > 2.0], ids=["too wide", "wrong", "empty"]
)
def test_a_condition_that_does_not_restore_it_is_none(where):
    assert (
        defect(statement(points=({"x": 0.1}, {"x": 0.92}), restored_by=("x is small", where)))
        is Defect.FORMULA
    )


def test_a_limit_that_is_used_at_a_finite_size_lacks_a_condition():
    """Also where the correction is what holds at finite sizes, with another claim."""
    printed = statement(level=0.4, restored_by=("n grows", "limit"))
    assert defect(printed) is defect(printed, printed.corrected(claimed=lambda: 1.0)) is Defect.CONDITION
    result = diagnose(rf.judge(printed, budget=0))
    assert result is not None
    assert result.reason == "It holds as n grows (limit)"


def test_a_slip_is_wording():
    assert defect(statement(level=0.4, slip=SLIP)) is Defect.WORDING


def test_a_reading_that_stands_is_reported():
    two = statement(
        domain={"x": rf.Real(0.0, 0.99), "reading": rf.Choice("strict", "loose")},
        claimed=lambda reading: 0.5 if reading == "strict" else 1.0,
        points=(),
    )
    outcome = rf.judge(two, budget=0)
    assert {name: str(verdict) for name, verdict in readings_of(outcome).items()} == {
        "strict": "REFUTED",
        "loose": "CONFIRMED",
    }
    assert defect_of(outcome) is Defect.READING
    assert {item.reading for item in outcome.judged} == {"strict", "loose"}


@pytest.mark.parametrize("claimed", [1.0, 0.4])
def test_what_stands_has_no_defect_and_a_correction_neither(claimed):
    printed = statement(claimed)
    assert defect(printed.corrected(says="again", truth=lambda x: x)) is None
    assert claimed < 1.0 or defect(printed) is None


def test_a_hunt_tells_it_too():
    printed = statement()
    narrower = printed.corrected(says="for x <= .9", domain={"x": rf.Real(0.0, 0.9)})
    assert defect_of(rf.hunt(printed, "300 probes", progress=False), narrower) is Defect.CONDITION


@pytest.mark.parametrize(
    ("kind", "one_sided"),
    [
        (rf.Equality(0.02, unit="probability"), Defect.FORMULA),
        (rf.Bound(unit="probability"), Defect.CONDITION),
    ],
)
def test_what_holds_as_sizes_grow_lacks_that_condition(kind: rf.Equality | rf.Bound, one_sided: Defect):
    limit = rf.Limit("n", sizes=tuple(10 * 2**k for k in range(8)), tolerance=0.02)
    printed = statement(
        kind=kind,
        domain={"n": rf.Whole(10, 2000, log=True)},
        points=({"n": 10}, {"n": 2000}),
        claimed=lambda: 1.0,
        truth=lambda n: 1.0 + 1.0 / n,
    )
    assert defect(printed, printed.corrected(kind=limit, points=({},))) is Defect.CONDITION
    bound = replace(limit, bound=True)
    assert defect(printed, printed.corrected(kind=bound, points=({},))) is one_sided
