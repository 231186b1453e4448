"""Statements: what they check of themselves, and corrections."""

import json
import re

import pytest

import mipsim as mi
from mipsim import referee as rf


def parts(**changes):
    return {
        "name": "shift",
        "says": "A shift by s in noise of deviation sigma is (s / sigma)-GDP.",
        "source": "folklore",
        "kind": rf.Bound(),
        "domain": {"s": rf.Real(0.1, 2.0), "sigma": rf.Real(0.1, 10.0, log=True)},
        "claimed": lambda s, sigma: mi.GaussianTradeOff(s / sigma),
        "truth": lambda s, sigma: mi.GaussianTradeOff(s / sigma),
    } | changes


LONG = "p" * 300
TWO = {LONG: rf.Real(0.0, 1.0), "q" * 300: rf.Real(0.0, 1.0)}


@pytest.mark.parametrize(
    "changes",
    [
        {"name": LONG + " "}, {"says": [LONG]}, {"kind": LONG}, {"domain": [LONG]}, {"domain": {LONG + " ": rf.Real(0.0, 1.0)}},
        {"domain": {LONG: LONG}},
        {"kind": rf.Limit("n" * 300)}, {"matters_when": {"n" * 300: lambda: True}}, {"matters_when": {LONG: LONG}},
        {"where": LONG}, {"truth": eval(f"lambda {'t' * 300}: 1.0")},
        {"points": [{}]}, {"points": [{LONG: 0.5, "n" * 300: 1}]},
        {"points": [{LONG: LONG, "q" * 300: 1.0}]}, {"points": [dict.fromkeys(TWO, 0.5)], "where": lambda: False},
        {"domain": TWO | {LONG: rf.Choice(LONG, "a")}, "points": [{LONG: "n" * 300, "q" * 300: 1.0}]},
    ],
)  # fmt: skip
def test_the_sentence_stays_short_whatever_it_quotes(changes) -> None:
    usual = {"name": LONG, "domain": TWO, "claimed": lambda: 1.0, "truth": lambda: 1.0}
    with pytest.raises(ValueError, match=r"[;,] ") as refused:
        rf.Statement(**parts(**(usual | changes)))
    assert len(str(refused.value)) < 200
    assert "\n" not in str(refused.value)


def test_expensive_assumptions_are_evaluated_when_a_point_is_judged() -> None:
    requested: list[float] = []

    def where(s: float) -> bool:
        requested.append(s)
        return s < 1.0

    defer_where = rf.Statement(**parts(where=where, defer_where=True, points=[{"s": 1.0, "sigma": 1.0}]))
    right = defer_where.corrected(says="In words of ours.")
    assert [len(item.points) for item in (right, right.corrected(domain={"sigma": rf.Real(2.0, 10.0)}))] == [
        1,
        0,
    ]
    assert requested == []
    assert defer_where.holds_point({"s": 1.0, "sigma": 1.0}, deferred=True)
    assert not defer_where.holds_point({"s": 1.0, "sigma": 1.0})
    assert not defer_where.corrected(where=lambda s: s < 0.5).points, "assumptions of its own are evaluated"
    with pytest.raises(ValueError, match="where of shift excludes"):
        rf.judge(defer_where, samples=0, budget=0)
    with pytest.raises(ValueError, match=re.escape("s is 3.0; shift allows [0.1, 2]")):
        rf.Statement(**parts(where=where, defer_where=True, points=[{"s": 3.0, "sigma": 1.0}]))


def test_functions_get_the_parameters_that_they_name() -> None:
    statement = rf.Statement(
        **parts(claimed=lambda sigma, **rest: mi.GaussianTradeOff(rest["s"] / sigma), where=lambda s: s > 1)
    )
    at = {"s": 1.5, "sigma": 2.0}
    assert statement.call("claimed", at) == mi.GaussianTradeOff(0.75)
    assert statement.stands(at)
    assert not statement.stands({"s": 0.5, "sigma": 2.0})


def test_a_correction_overrides_what_differs() -> None:
    quote = rf.Quote("It holds.", "p. 1")
    printed = rf.Statement(**parts(points=[{"s": 1.0, "sigma": 1.0}, {"s": 1.0, "sigma": 4.0}], quote=quote))
    right = printed.corrected(domain={"sigma": rf.Real(2.0, 10.0)}, derivation="It follows.")
    assert (right.name, right.corrects, right.quote) == ("shift-corrected", "shift", quote)
    assert [point.at["sigma"] for point in right.points] == [4.0]
    assert right.domain["s"] is printed.domain["s"]
    theorem = rf.Limit("sigma", rate=rf.Rate(1.0, 1.0, limit=1.0, source="its formula"))
    limit = rf.Statement(**parts(kind=theorem))
    assert [
        limit.corrected(**part).kind.rate  # pyright: ignore[reportAttributeAccessIssue]
        for part in ({"claimed": lambda s: s}, {"truth": lambda s: s})
    ] == [None, None]
    assert limit.corrected(says="In words of ours.").kind is theorem
    with pytest.raises(ValueError, match="corrected is given 'claim', which is no part of a statement"):
        printed.corrected(claim=1)
    with pytest.raises(ValueError, match="corrected of shift changes nothing"):
        printed.corrected(derivation="No.")


def test_it_is_described_in_json() -> None:
    statement = rf.Statement(
        **parts(kind=rf.Exists(rf.Equality(0.1)), control=rf.Control({"s": 1.0, "sigma": 1.0}))
    )
    result = json.loads(json.dumps(statement.record(), allow_nan=False))
    assert result["domain"]["sigma"] == {"kind": "real", "low": 0.1, "high": 10.0, "log": True}
    assert result["kind"]["of"]["tolerance"] == 0.1
