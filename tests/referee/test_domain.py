"""Parameters: what they allow, where a search puts them, and what they refuse."""

import json
import math

import numpy as np
import pytest

from mipsim import referee as rf

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


def test_whole_numbers_are_even_and_their_ends_are_met() -> None:
    values = [rf.Whole(1, 4).value(u) for u in np.linspace(0.0, 1.0, 4001)]
    counts = np.bincount(values)[1:]
    assert counts.sum() == 4001
    assert np.ptp(counts) <= 1
    generator = np.random.default_rng(0)
    assert {rf.Whole(1, 1000).next_to_end(generator) for _ in range(100)} == {1, 2, 3, 998, 999, 1000}


def test_simpler_values_come_simplest_first() -> None:
    assert rf.Real(0.1, 9.0).simpler(1.2345) == [1.0, 0.5, 0.1, 9.0, 1.2, 1.23]
    assert rf.Real(0.1, 9.0).simpler(1.0) == []
    assert rf.Whole(2, 1000).simpler(137) == [2, 3, 4, 5, 10, 20, 50, 100]
    assert rf.Choice("a", "b").simpler("b") == ["a"]
    assert rf.Choice("a", "b").simpler("a") == []
