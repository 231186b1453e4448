"""The command and the Python that show a judged point again."""

from __future__ import annotations

import inspect
import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mipsim.referee.outcome import Replay
from mipsim.referee.statement import Statement

PLACEHOLDER = "FILE.py"
"""Stands for the file of a statement that was written at a prompt."""


def file_of(statement: Statement) -> str:
    """The file that a statement's functions were written in, or a word that stands for one.

    Examples:
        >>> from mipsim import referee as rf
        >>> typed = eval(
        ...     "rf.Statement(name='a', says='1 <= 2', source='b', kind=rf.Bound(), domain={'x': rf.Fixed(1)}, "
        ...     "claimed=lambda: 2.0, truth=lambda: 1.0)"
        ... )
        >>> file_of(typed)
        'FILE.py'
    """
    for function in (statement.claimed, statement.truth):
        try:
            file = inspect.getsourcefile(inspect.unwrap(function))
        except TypeError:
            continue
        if file and Path(file).is_file() and Path(file).suffix == ".py":
            path = Path(file)
            return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)
    return PLACEHOLDER


def replay_of(
    statement: Statement, at: Mapping[str, Any] | None, confidence: float, seed: int, games: int
) -> Replay:
    """Return how to judge one point again, with the same games.

    Args:
        statement: what was judged.
        at: the point; None: the statement at its own points.
        confidence: family-wise.
        seed: of the run.
        games: in each world.
    """
    file = file_of(statement)
    point = None if at is None else {name: at[name] for name in statement.free if name in at}
    shell = f"mipsim judge {shlex.quote(f'{file}:{statement.name}')}"
    if point is not None:
        shell += f" --at {shlex.quote(json.dumps(point))}"
    shell += f" --confidence {confidence!r} --seed {seed} --games {games}"
    python = (
        "from mipsim import referee as rf\n"
        "\n"
        f"(statement,) = rf.load({f'{file}:{statement.name}'!r})\n"
        f"at = {point!r}\n"
        f"result = rf.judge(statement, at=at, confidence={confidence!r}, seed={seed}, games={games})\n"
        "print(result)\n"
        'print("claimed:", None if at is None else statement.call("claimed", at))\n'
        'print("truth:", None if at is None else statement.call("truth", at))'
    )
    return Replay(shell, python)
