"""A digest of what the probes of a statement depend on, so that no hunt goes on with those of another definition."""

from __future__ import annotations

import ast
import functools
import hashlib
import inspect
import json
import linecache
from types import CellType, CodeType, FunctionType
from typing import Any

from mipsim.referee.statement import Statement


def definition(statement: Statement) -> str:
    """Sixteen hexadecimal digits that change with a statement's kind, its domain or its functions.

    Functions are compared as Python reads them, without comments, docstrings and line breaks. The functions and plain
    constants of the same file that they name are part of them; what other files hold, and what may change while a program
    runs (lists, mappings, arrays), is not looked at.

    Args:
        statement: any statement.

    Examples:
        >>> from mipsim import referee as rf
        >>> def square(power: int, says: str) -> rf.Statement:
        ...     return rf.Statement(
        ...         name="square", says=says, source="school", kind=rf.Bound(), domain={"x": rf.Real(0.0, 1.0)},
        ...         claimed=lambda: 1.0, truth=lambda x: x**power,
        ...     )
        >>> [definition(square(2, "x^2 <= 1")) == definition(square(*other)) for other in ((2, "x x <= 1"), (3, "x^2 <= 1"))]
        [True, False]
    """
    functions = [statement.where, statement.claimed, statement.truth, getattr(statement.kind, "sizes", None)]
    domain = {name: parameter.record() for name, parameter in statement.domain.items()}
    told = [statement.kind.record(), domain, [_told(one, set()) for one in functions]]
    return hashlib.sha256(json.dumps(told, default=str).encode()).hexdigest()[:16]


def _told(thing: Any, met: set[int]) -> Any:
    """What an object is made of, as far as it cannot change while the program runs; `met` are functions that were told."""
    if isinstance(thing, functools.partial):
        return [_told(part, met) for part in (thing.func, thing.args, *sorted(thing.keywords.items()))]
    if isinstance(thing, (tuple, frozenset)):
        parts = [_told(part, met) for part in thing]
        return parts if isinstance(thing, tuple) else sorted(map(str, parts))
    if isinstance(thing, CodeType):
        return _text(thing) or [
            thing.co_code.hex(),
            thing.co_names,
            thing.co_varnames,
            _told(thing.co_consts, met),
        ]
    function = inspect.unwrap(getattr(thing, "__func__", thing)) if callable(thing) else thing
    if not isinstance(function, FunctionType):
        plain = thing is None or isinstance(thing, (bool, int, float, complex, str, bytes))
        return repr(thing) if plain else getattr(thing, "__qualname__", type(thing).__qualname__)
    if id(function) in met:
        return function.__qualname__
    met.add(id(function))
    cells = [cell.cell_contents for cell in function.__closure__ or () if cell != CellType()]
    keywords = sorted((function.__kwdefaults__ or {}).items())
    named = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    return [
        _told((function.__code__, function.__defaults__, *keywords, *cells), met),
        {name: _named(value, function, met) for name, value in named.items()},
    ]


def _text(code: CodeType) -> list[str]:
    """The text of a function in its file as it is now; of all that begin in its line, if it is not told which; none without a file."""
    linecache.checkcache(code.co_filename)
    lines = "".join(linecache.getlines(code.co_filename))
    begun = _parsed(lines).get(code.co_firstlineno, [])
    if len(begun) > 1:
        # Where its instructions stand (columns may be missing, and the first instruction has none of its own).
        spans = [span for span in code.co_positions() if None not in span and span[0::2] != span[1::2]]
        starts, ends = ([span[i::2] for span in spans] for i in (0, 1))
        inside = [one for one in begun if spans and one[1] <= min(starts) and max(ends) <= one[2]]
        begun = inside[-1:] or begun
    return [text for text, *_ in begun]


Place = tuple[int, int]
"""Line and column, in bytes."""


@functools.lru_cache(maxsize=64)
def _parsed(text: str) -> dict[int, list[tuple[str, Place, Place]]]:
    """First line -> text and ends of the body of the functions that begin there, each before those inside it."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return {}
    found: dict[int, list[tuple[str, Place, Place]]] = {}
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            first = node.lineno
            if isinstance(node, ast.FunctionDef):
                first = min([first, *(one.lineno for one in node.decorator_list)])
                node.body = node.body[ast.get_docstring(node) is not None :]
            body: Any = node.body if isinstance(node, ast.Lambda) else node
            start, end = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
            found.setdefault(first, []).append((ast.unparse(node), start, end))
    return found


def _names(code: CodeType) -> set[str]:
    inner = [_names(one) for one in code.co_consts if isinstance(one, CodeType)]
    return set(code.co_names).union(*inner)


def _named(value: Any, by: FunctionType, met: set[int]) -> Any:
    """What a name stands for: a function of another file is only named."""
    function = inspect.unwrap(value) if callable(value) else value
    if not isinstance(function, FunctionType):
        return _told(value, met)
    if function.__module__ != by.__module__:
        return f"{function.__module__}.{function.__qualname__}"
    return _told(function, met)
