"""Statements and their parameters: what they allow, where a search puts them, what they check of themselves, and corrections."""

import json
import math
import re

import numpy as np
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


PARAMETERS = [
    rf.Real(0.05, 20.0, log=True),
    rf.Real(-3.0, 5.0),
    rf.Real(0.0, math.inf, hunt_to=100.0),
    rf.Real(-math.inf, math.inf, hunt_to=10.0),
    rf.Whole(2, 10_000),
    rf.Whole(1, math.inf, log=True, hunt_to=1e8),
    rf.Whole(0, 1),
    rf.Choice("a", "b", "c"),
    rf.Choice(1, True, None),
    rf.Fixed(0.5),
]


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_what_is_searched_is_allowed(parameter) -> None:
    generator = np.random.default_rng(0)
    places = [0.0, 1.0, *generator.random(200)]
    values = [parameter.value(u) for u in places] + [parameter.next_to_end(generator) for _ in range(200)]
    assert all(parameter.allows(value) for value in values)
    assert all(0.0 <= parameter.place(value) <= 1.0 for value in values)
    assert all(parameter.allows(end) for end in parameter.ends)
    assert all(parameter.allows(item) for value in values for item in parameter.simpler(value))
    json.dumps(parameter.record(), allow_nan=False)
    assert str(parameter)
    assert eval(repr(parameter), vars(rf) | {"inf": math.inf}) == parameter


@pytest.mark.parametrize("parameter", PARAMETERS, ids=repr)
def test_a_value_and_its_place_go_together(parameter) -> None:
    for u in np.linspace(0.0, 1.0, 23):
        value = parameter.value(u)
        again = parameter.value(parameter.place(value))
        assert again == (pytest.approx(value, rel=1e-12, abs=1e-12) if type(value) is float else value)
