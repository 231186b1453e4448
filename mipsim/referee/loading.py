"""Statements from a user's file."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType

from mipsim._validation import file_path
from mipsim._words import no_such, printable
from mipsim.referee.statement import Statement

MOST_SOURCE = 2**24
"""Bytes of a file of Python that is run: a longer file is something else."""


def load(where: str | os.PathLike[str]) -> list[Statement]:
    """Return the statements of a Python file: those among its top-level names, and in lists and tuples there.

    Args:
        where: "FILE.py", or "FILE.py:NAME" for a single statement, by its name or by the variable that holds it.

    Raises:
        ValueError: if there is no such file, it fails to import, it holds no statement, two have the same name, or none has
            the requested name.

    Examples:
        >>> load("nowhere.py")
        Traceback (most recent call last):
            ...
        ValueError: nowhere.py is no file; give FILE.py or FILE.py:NAME
    """
    where = str(file_path("where", where))
    path, _, wanted = where.rpartition(":") if ".py:" in where else (where, "", "")
    file = Path(path)
    try:
        size = file.stat().st_size if file.is_file() else None
    except (OSError, ValueError) as error:  # such as a name that is too long
        why = getattr(error, "strerror", None) or str(error)
        raise ValueError(f"{printable(path)} cannot be read ({why}); give FILE.py or FILE.py:NAME") from None
    if size is None:
        raise ValueError(f"{printable(path)} is no file; give FILE.py or FILE.py:NAME")
    if size > MOST_SOURCE:
        raise ValueError(
            f"{printable(path)} has {size:,} bytes; a file of statements has at most {MOST_SOURCE:,}"
        )
    module = _imported(file)
    variables, result = held_by(module)
    if not result:
        raise ValueError(f"{printable(path)} holds no Statement at its top level; it must define at least 1")
    names = [item.name for item in result]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(
            f"{printable(path)} holds two statements named {twice[0]!r}; each needs a name of its own"
        )
    if not wanted:
        return result
    chosen = [single for single in result if single.name == wanted] or [
        item for key, item in variables.items() if key == wanted
    ]
    if not chosen:
        known = [*names, *(key for key in variables if key not in names)]
        allowed = printable(" or ".join(names))
        raise ValueError(no_such(f"NAME of {printable(path)}", wanted, known, allowed))
    return chosen[:1]


def held_by(module: ModuleType) -> tuple[dict[str, Statement], list[Statement]]:
    """The statements among a module's top-level names: by variable, and all, those in lists and tuples too.
    `module`: that was imported.
    """
    variables: dict[str, Statement] = {}
    result: list[Statement] = []
    for variable, value in list(vars(module).items()):
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, Statement):
                if item is value:
                    variables[variable] = item
                if not any(item is other for other in result):
                    result.append(item)
    return variables, result


def _imported(file: Path):
    name = f"_statements_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ValueError(f"{printable(file)} is no Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    # The file may import what lies beside it.
    beside = str(file.resolve().parent)
    sys.path.insert(0, beside)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        lines = [
            line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_globals is vars(module)
        ]
        at = f" at line {lines[-1]}" if lines else ""
        raise ValueError(
            f"{printable(file)} fails to import{at}: {type(error).__name__}: {printable(error, 200)}"
        ) from error
    finally:
        sys.path.remove(beside)
    return module
