"""The command and the Python that show a judged point again."""

from __future__ import annotations

import inspect
import json
import shlex
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

from mipsim.referee.loading import held_by
from mipsim.referee.outcome import Replay
from mipsim.referee.result import PointResult
from mipsim.referee.statement import Statement

INSTALLED = ("site-packages", "dist-packages", sysconfig.get_path("stdlib"))
"""Parts of the paths of modules that nobody writes statements in."""
PLACEHOLDER = "FILE.py"
"""Stands for the file of a statement that was written at a prompt."""


def file_of(statement: Statement) -> str:
    """The file from which a statement of this name can be loaded, or a placeholder.

    That of a module that holds it at its top level: its functions may be written elsewhere, and another module may have put it
    together. If none does, that of its functions.

    >>> from mipsim import referee as rf
    >>> typed = eval(
    ...     "rf.Statement(name='a', says='1 <= 2', source='b', kind=rf.Bound(), domain={'x': rf.Fixed(1)}, "
    ...     "claimed=lambda: 2.0, truth=lambda: 1.0)",
    ...     {"rf": rf, "__name__": "typed"},
    ... )
    >>> file_of(typed)
    'FILE.py'
    """
    own = [inspect.getmodule(inspect.unwrap(function)) for function in (statement.claimed, statement.truth)]
    for module in [*own, *list(sys.modules.values())]:
        file = getattr(module, "__file__", None) or ""
        # Of installed modules only those of its functions are looked at: there are thousands.
        if isinstance(module, ModuleType) and (module in own or not any(part in file for part in INSTALLED)):
            holds = any(item.name == statement.name for item in held_by(module)[1])
            if holds and (path := _source(module)) is not None:
                return path
    return next(filter(None, map(_source, filter(None, own))), PLACEHOLDER)


def _source(module: ModuleType) -> str | None:
    """The module's file, from here if it lies below; None if there is none."""
    path = Path(getattr(module, "__file__", None) or "")
    if path.suffix != ".py" or not path.is_file():
        return None
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def replay_of(
    statement: Statement, judged: PointResult | None, confidence: float, seed: int, games: int
) -> Replay:
    """Return how to judge a single point again, with the same games.
    `judged`: the point; None: the statement at its own points; `confidence`: family-wise; `seed`: of the run; `games`: in
    each world. Of a point without games neither of the last two has a part in it, and both are left out.
    """
    file = file_of(statement)
    point = None if judged is None else statement.essential(judged.parameters)
    how = {"confidence": confidence}
    if judged is None or judged.random:
        how |= {"seed": seed, "games": games}
    shell = f"mipsim judge {shlex.quote(f'{file}:{statement.name}')}"
    if point is not None:
        shell += f" --at {shlex.quote(json.dumps(point))}"
    shell += "".join(f" --{name} {value!r}" for name, value in how.items())
    python = (
        "from mipsim import referee as rf\n"
        "\n"
        f"(statement,) = rf.load({f'{file}:{statement.name}'!r})\n"
        f"at = {point!r}\n"
        f"result = rf.judge(statement, at=at, {', '.join(f'{name}={value!r}' for name, value in how.items())})\n"
        "print(result)"
    )
    if point is not None:
        python += (
            "\nat = statement.inside(at)"
            '\nprint("claimed:", statement.call("claimed", at))\nprint("truth:", statement.call("truth", at))'
        )
    return Replay(shell, python)
