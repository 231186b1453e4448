"""The digest of a statement: it changes with what its functions do, and with nothing else."""

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from mipsim import referee as rf
from mipsim.referee.hunting.search import definition


def statement(truth: Callable[..., Any]) -> rf.Statement:
    return rf.Statement(
        name="power",
        says="x <= 1",
        source="a test",
        kind=rf.Bound(),
        domain={"x": rf.Real(0.0, 1.0)},
        claimed=lambda: 1.0,
        truth=truth,
    )


def looping(last: int) -> Callable[..., Any]:
    def product(x, n=3):
        return last if n == 0 else x * product(x, n - 1)

    return lambda x: product(x)


def unfinished(number: int) -> Callable[..., Any]:
    """A function with a cell that is never filled."""
    if number < 0:
        later = 1.0
    return lambda x: x**number if number else later  # pyright: ignore[reportPossiblyUnboundVariable]


HELPERS = {1: lambda x: 0.5 * x, 2: lambda x: 0.6 * x}
helper = HELPERS[1]
CHANGED = {
    "a function that calls itself": (lambda: looping(1), lambda: looping(2)),
    "a cell that is empty": (lambda: unfinished(1), lambda: unfinished(2)),
    "a default of a keyword": (
        lambda: (lambda factor: lambda x, *, k=factor: k * x)(0.5),
        lambda: (lambda factor: lambda x, *, k=factor: k * x)(5.0),
    ),
}


@pytest.mark.parametrize("what", CHANGED)
def test_it_changes_with_what_a_function_does(what: str) -> None:
    item, other = (definition(statement(make())) for make in CHANGED[what])
    assert item == definition(statement(CHANGED[what][0]()))
    assert item != other


def test_a_lambda_named_by_another_lambda_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    result = []
    for item in HELPERS.values():
        monkeypatch.setitem(globals(), "helper", item)
        result.append(definition(statement(lambda x: helper(x))))
    assert result[0] != result[1]


def test_a_file_that_was_edited_is_read_again(tmp_path) -> None:
    """In a single process, as in a notebook: the same name, the same lines, another number."""
    file, result = tmp_path / "mine.py", []
    for factor, spaces in zip(("0.5", "5.0"), itertools.count(1), strict=False):
        file.write_text(
            "from mipsim import referee as rf\n"
            "FIRST = rf.Statement(name='first', says='x', source='y', kind=rf.Bound(), domain={'x': rf.Real(0.0, 1.0)},\n"
            f"    claimed=lambda: 1.0, truth=lambda x: {factor} * x)" + " " * spaces + "\n"
        )
        result.append(definition(rf.load(file)[0]))
    assert result[0] != result[1]
