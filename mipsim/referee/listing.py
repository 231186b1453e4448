"""Points of a statement, listed as a grid or row by row."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mipsim._validation import member, words
from mipsim._words import plural, quoted
from mipsim.referee.domain import check_plain


def grid(base: Mapping[str, Any] | None = None, /, **values: Any) -> list[dict[str, Any]]:
    """Return every combination of the listed values, with the fixed values: points for `Statement` and `judge`.

    Args:
        base: values that `values` may override.
        values: name -> a word, number, boolean or None, or several of them (list, tuple, range, the keys of a mapping).

    Examples:
        >>> grid({"law": "uniform", "n": 1}, n=(2, 4))
        [{'law': 'uniform', 'n': 2}, {'law': 'uniform', 'n': 4}]
    """
    held = {} if base is None else member("base", base, Mapping, "a mapping of values by name")
    listed = {
        name: list(value)
        if isinstance(value, Iterable) and not isinstance(value, (str, bytes, set))
        else [value]
        for name, value in {**held, **values}.items()
    }
    for name, choices in listed.items():
        for value in choices:
            check_plain(name, value.item() if isinstance(value, np.generic) else value)
    return [dict(zip(listed, chosen, strict=True)) for chosen in itertools.product(*listed.values())]


def rows(base: Mapping[str, Any], names: str, /, *values: Sequence[Any]) -> list[dict[str, Any]]:
    """Return a point for each row of values, with the fixed values: points for `Statement` and `judge`.

    Args:
        base: values that a row may override.
        names: of the columns, with blanks between.
        values: the rows, each with a value for every column.

    Examples:
        >>> rows({"law": "uniform"}, "n p", (2, 0.5), (10, 0.1))
        [{'law': 'uniform', 'n': 2, 'p': 0.5}, {'law': 'uniform', 'n': 10, 'p': 0.1}]
    """
    fixed = member("base", base, Mapping, "a mapping of values by name")
    columns = words("names", names).split()
    if not all(name.isidentifier() for name in columns):
        raise ValueError(f"names is {quoted(names)}; it must hold names of parameters, with blanks between")
    for row in values:
        if not isinstance(row, (list, tuple)) or len(row) != len(columns):
            needed = plural(len(columns), "value")
            raise ValueError(
                f"values holds {quoted(row)}; a row must be a list or tuple of {needed}, as many as names"
            )
    return [{**fixed, **dict(zip(columns, row, strict=True))} for row in values]
