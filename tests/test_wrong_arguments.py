"""What NumPy would read wrongly, in place of every argument that holds numbers: refused, in a sentence that names the argument.

The calls are those of a table; every argument of a call is tried that holds a number or numbers, with every wrong value of its kind.
"""

import decimal
import inspect
import math
import random
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse

from tests.faults.hostile_files import MOST_TEXT, hidden
from tests.right_arguments import CALLS, OF_NUMBERS, WORDS_OF_USERS

EVERYWHERE = [
    bytearray(b"1"),
    {1: 2},
    {1.0},
    object(),
    (x for x in [1.0]),
    scipy.sparse.eye_array(2),
    np.ma.masked,
]
NO_NUMBER = [
    True,
    "1",
    b"1",
    1j,
    np.timedelta64(1, "D"),
    2**53 + 1,
    np.longdouble("0.1"),
    np.nan,
    decimal.Decimal("0.1"),
    *EVERYWHERE,
]
MAY_BE_TRUE = ("member", "scores", "out_scores", "in_scores", "records", "target", "y", "x", "n")


def no_numbers(right: Any) -> list[Any]:
    """Arrays of the shape of a right one that NumPy would read as numbers, or that hold numbers of which none is a float64."""
    right = np.asarray(right, float)
    hidden = np.zeros(right.shape, bool)
    hidden.flat[-1] = True
    entries = [
        "1",
        b"1",
        1j,
        np.datetime64("2020-01-01"),
        np.timedelta64(1, "D"),
        2**53 + 1,
        np.longdouble("0.1"),
        np.nan,
        None,
    ]
    return [
        np.ma.masked_array(right, hidden),
        [*right.tolist()[:-1], np.ma.masked_array(right.tolist()[-1], True)],
        right.view(type("WithUnit", (np.ndarray,), {})),
        *(np.full(right.shape, entry) for entry in [*entries, True]),
        np.full(right.shape, decimal.Decimal("0.1"), object),
        [[1.0], [1.0, 2.0]],
        *EVERYWHERE,
    ]


ARGUMENTS = [
    (call, right, name) for call, right in OF_NUMBERS for name in right if not isinstance(right[name], str)
]


@pytest.mark.parametrize(
    ("call", "right", "name"), [(c, r, n) for c, r, n in ARGUMENTS if np.asarray(r[n]).dtype.kind in "biuf"]
)
def test_what_is_no_number_is_refused(call: Callable[..., Any], right: dict[str, Any], name: str) -> None:
    call(**right)
    several = np.ndim(right[name]) > 0
    missed = []
    for wrong in no_numbers(right[name]) if several else NO_NUMBER:
        if type(wrong) is int and type(right[name]) is int:
            continue  # a count is no float64
        entries = np.asarray(wrong, object).ravel()
        if (
            type(wrong) in (np.ndarray, bool)
            and all(entry is True for entry in entries)
            and name in MAY_BE_TRUE
        ):
            continue
        try:
            call(**right | {name: wrong})
        except (ValueError, TypeError) as error:
            if not (isinstance(error, ValueError) and name in str(error) and "\n" not in str(error)):
                missed.append((wrong, repr(error)))
        else:
            missed.append((wrong, "accepted"))
    assert not missed


class Odd:
    def __repr__(self) -> str:
        return "odd\x1b[2J"


KINDS: dict[str, Any] = {
    "nothing": None, "a flag": True, "a word": "no", "words that steer": "\x1b[2J\nx", "bytes": b"x", "a complex number": 1j,
    "NaN": math.nan, "infinity": math.inf, "a number of 401 digits": 10**400, "an array": np.array([1.0, 2.0, 3.0]),
    "an array of flags": np.array([True, False]), "a large array": np.arange(5000.0), "a cube": np.zeros((2, 2, 2)),
    "an array of words": np.array(["a", "b"]), "a ragged list": [[1.0], [1.0, 2.0]], "an empty list": [], "a dictionary": {"a": 1},
    "a set": {1.0}, "an object": Odd(), "a class": float, "a function": lambda *_: None, "a list with such a number": [10**400, 1],
    "an array of no sides": np.array(1.0),
}  # fmt: skip
"""What may stand in the place of any argument."""
NUMBERS = {"infinity", "an array of no sides"}
ARRAYS = {"an array", "an array of flags", "a large array", "a cube", "an empty list"}


def fits(name: str, right: Any, kind: str, default: Any) -> bool:
    """Whether a value of a kind may be right in the place of a right value; of these a sentence is as good as none."""
    if (name, kind) in (("progress", "a function"), ("limit", "a function"), ("claim", "NaN")):
        return True
    if name == "scores" and kind in ("a word", "words that steer"):  # the name of a file
        return True
    if kind == "nothing":
        return default is None
    if isinstance(right, bool):
        return kind == "a flag"
    if isinstance(right, str):
        return kind in ("a word", "words that steer") and right in WORDS_OF_USERS
    if callable(right) and not hasattr(right, "beta"):
        return kind in ("a function", "a class")
    if isinstance(right, (int, float)):
        return kind in NUMBERS | ARRAYS
    if isinstance(right, (list, tuple, np.ndarray)):
        return kind in NUMBERS | ARRAYS
    if isinstance(right, dict):
        return kind == "a dictionary"
    return kind == "a function"


def wrong_of(call: Callable[..., Any], right: dict[str, Any], name: str, kind: str) -> str:
    """What is wrong with how a wrong kind is met; nothing where it is refused as it should be, or is right in its place."""
    parameter = inspect.signature(call).parameters.get(name)
    known = fits(name, right[name], kind, None if parameter is None else parameter.default)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            call(**right | {name: KINDS[kind]})
        except (ValueError, TypeError) as error:
            text, place = str(error), traceback.extract_tb(error.__traceback__)[-1]
            ours = "mipsim" in place.filename and "site-packages" not in place.filename
            # What may be right may be what others do not fit, and an entry of several is named as a single thing.
            if not ours or not (known or name.removesuffix("s") in text):
                return f"a foreign message: {text[:100]}"
            return (
                f"written as {text[:100]!r}" if "\n" in text or hidden(text) or len(text) > MOST_TEXT else ""
            )
        except Exception as error:
            return f"{type(error).__name__}: {str(error)[:100]}"
    return "" if known else "accepted"


EVERY = [(call, right, name, kind) for call, right in CALLS for name in right for kind in KINDS]


def missed(
    chosen: list[tuple[Callable[..., Any], dict[str, Any], str, str]],
) -> list[tuple[str, str, str, str]]:
    seen = ((call, name, kind, wrong_of(call, right, name, kind)) for call, right, name, kind in chosen)
    return [(getattr(call, "__qualname__", ""), name, kind, what) for call, name, kind, what in seen if what]


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in which a word that is right as the name of a file may be written."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("elsewhere")
def test_some_wrong_kinds_are_refused_in_our_words() -> None:
    assert not missed(random.Random(0).sample(EVERY, 400))


@pytest.mark.slow
@pytest.mark.usefixtures("elsewhere")
def test_every_wrong_kind_is_refused_in_our_words() -> None:
    assert len(EVERY) > 12_700
    assert not missed(EVERY)
