"""Points of a statement, listed as a grid or row by row."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any


def grid(base: Mapping[str, Any] | None = None, /, **values: Any) -> list[dict[str, Any]]:
    """Return every combination of the listed values, with the fixed values: points for `Statement` and `judge`.

    Args:
        base: values that `values` may override.
        values: name -> a word, number, boolean or None, or several of them (list, tuple, range, the keys of a mapping).

    Examples:
        >>> grid({"law": "uniform", "n": 1}, n=(2, 4))
        [{'law': 'uniform', 'n': 2}, {'law': 'uniform', 'n': 4}]
    """
    listed = {
        name: list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
        for name, value in (dict(base or {}) | values).items()
    }
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
    return [{**base, **dict(zip(names.split(), row, strict=True))} for row in values]
