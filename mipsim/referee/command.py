"""`mipsim judge` and `mipsim hunt`: statements in a user's file; and `mipsim audit`: scores in one."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mipsim._signals import INTERRUPTED, like_ctrl_c
from mipsim._streams import complain, reader_gone, say
from mipsim._words import shown
from mipsim.referee.arguments import parser

if TYPE_CHECKING:
    from mipsim.referee.outcome import Outcome
    from mipsim.referee.statement import Statement


DONE, NOT_JUDGED, BAD_ARGUMENTS = 0, 1, 2


@like_ctrl_c
def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: those of the process if None.

    Returns:
        0 done, 1 when a statement could not be judged or a disk is full, 2 for bad arguments, 130 after Ctrl-C, 143 after SIGTERM and
        129 after SIGHUP.

    Examples:
        >>> main(["judge", "nowhere.py"])
        2
    """
    try:
        asked = parser().parse_args(arguments)
    except SystemExit as stop:  # argparse has said why, or has printed its help
        return int(stop.code or 0)
    results: list[Outcome] = []
    try:
        from mipsim.referee import audit_command  # only now, what takes seconds
        from mipsim.referee.hunting.search import budget_of
        from mipsim.referee.loading import load

        if asked.command == "audit":
            audit_command.run(asked)
            return DONE
        statements = load(asked.file)
        if asked.command == "hunt":
            budget_of(asked.budget)
        for statement in statements:
            result = _one(asked, statement)
            results.append(result)
            say(str(result))
            _write(asked, results)
            if result.interrupted:
                return INTERRUPTED
    except ValueError as error:
        complain(f"mipsim: {error}")
        return BAD_ARGUMENTS
    except BrokenPipeError:
        return reader_gone()
    except OSError as error:
        complain(f"mipsim: the report cannot be written: {error.strerror or error}")
        return NOT_JUDGED
    except KeyboardInterrupt:
        where = "" if asked.out is None else f" and kept in {shown(asked.out)}"
        complain(
            f"mipsim: interrupted, {f'{len(results)} finished{where}' if results else 'nothing was judged'}"
        )
        return INTERRUPTED
    return DONE if all(result.worst is not None for result in results) else NOT_JUDGED


def _one(asked: argparse.Namespace, statement: Statement) -> Outcome:
    from mipsim.referee.hunting.hunt import hunt
    from mipsim.referee.judging.judge import judge

    settings: dict[str, Any] = {"confidence": asked.confidence, "seed": asked.seed, "games": asked.games}
    if asked.command == "judge":
        return judge(statement, None if asked.at is None else read_points(asked.at), **settings)
    checkpoint = None
    if asked.out is not None:
        from mipsim._files import writable_folder

        checkpoint = writable_folder("--out", Path(asked.out)) / f"{statement.name}-{asked.seed}.jsonl"
    return hunt(statement, asked.budget, checkpoint=checkpoint, **settings)


def read_points(texts: Sequence[str]) -> list[Any]:
    """Return what --at was given, as JSON holds it.

    Raises:
        ValueError: if a text is no JSON, or names a parameter twice.

    Examples:
        >>> read_points(['{"n": 10}'])
        [{'n': 10}]
    """
    points = []
    for text in texts:
        try:
            point = json.loads(text, object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            why = "too deep" if isinstance(error, RecursionError) else getattr(error, "msg", str(error))
            raise ValueError(
                f"--at is {shown(repr(text))}, which is no JSON ({shown(why)}); give a point such as '{{\"n\": 10}}'"
            ) from None
        points.append(point)
    return points


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON, which may not give a name twice."""
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise ValueError(f"{shown(twice[0])} has two values")
    return dict(pairs)


def _write(asked: argparse.Namespace, results: Sequence[Outcome]) -> None:
    if asked.out is None:
        return
    from mipsim.referee.reporting.page import report

    page = report(results, asked.out)
    say(f"  report: {shown(page)}")
