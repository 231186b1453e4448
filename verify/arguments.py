"""The arguments of the command: read, checked, and turned into the statements to judge."""

from __future__ import annotations

import argparse
import fnmatch
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from mipsim._close_names import close_names
from mipsim._streams import CommandParser
from mipsim._words import shown

if TYPE_CHECKING:  # --help need not wait for JAX
    from mipsim.referee import Point, Statement

SCALES = ("quick", "standard", "full")
DEFAULT_OUT = Path("results/verify")
MOST_PATTERN = 500
"""Letters of a glob; no name has as many."""
_Kept = TypeVar("_Kept")


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    reader = CommandParser(
        prog="python -m verify",
        description="Judge the statements of the register by exact laws and games, or hunt for where they break, and write a report.",
        epilog="Exit status: 0 all were judged, 1 one could not be judged, 2 bad arguments, 130 interrupted.",
    )
    for name, how in {
        "claims": {"nargs": "*", "metavar": "CLAIM", "help": 'name or glob ("azize-thm-4*"); default: all'},
        "--scale": {"choices": SCALES, "help": "how many points and games (default: standard)"},
        "--confidence": {
            "metavar": "C",
            "help": "family-wise over every point of the whole register; with --hunt, of each hunt; in (0, 1) (default: 0.999)",
        },
        "--seed": {"metavar": "S", "help": "a whole number (default: 0)"},
        "--out": {"metavar": "DIR", "type": Path, "help": f"folder of the report (default: {DEFAULT_OUT})"},
        "--at": {
            "metavar": "JSON",
            "action": "append",
            "help": "judge one CLAIM at this point, such as '{\"n\": 10}'; may be given several times; writes a report only with --out",
        },
        "--json": {
            "metavar": "FILE",
            "help": "write the data alone, as in verdicts.json, to FILE, or to standard output for -; a report only with --out",
        },
        "--list": {
            "action": "store_true",
            "help": "list the statements, or with CLAIM their domains, and judge nothing",
        },
        "--hunt": {"action": "store_true", "help": "search the domains for where the statements break"},
        "--budget": {"metavar": "T", "help": "of each hunt: 45s, 2m, 500 probes (default: 2m)"},
        "--keep": {
            "action": "store_true",
            "help": "with --hunt: keep what was found as points of the register",
        },
        "--suite": {
            "choices": ("broken-mechanisms",),
            "help": "judge mechanisms with known violations instead, beside other tools' published figures",
        },
    }.items():
        reader.add_argument(name, **how)
    reader.set_defaults(scale="standard", confidence="0.999", seed="0")
    return reader


def check(asked: argparse.Namespace, register: Mapping[str, Statement]) -> None:
    """Check what `parser` read, and put in its place what it means.

    Args:
        asked: gets `statements` (in the register's order), `confidence` in (0, 1), `seed` in [0, 2^64), `at` (points, or None:
            those of the register), `budget` (None: no hunt), and `out`: None where no report is written, which is so with
            --at or --json and no --out.
        register: the statements.

    Raises:
        ValueError: one sentence that names the argument, its value and what is allowed.
    """
    from mipsim.referee.hunting.search import budget_of

    asked.confidence, asked.seed = _confidence(asked.confidence), checked_seed(asked.seed)
    asked.statements = select(asked.claims, register)
    for name in ("budget", "keep"):
        if getattr(asked, name) and not asked.hunt:
            raise ValueError(f"--{name} is given without --hunt; it must go with it")
    if asked.hunt:
        if asked.at or asked.json:
            raise ValueError("--hunt is given beside --at or --json; its data are in the report's folder")
        asked.budget = asked.budget or "2m"
        budget_of(asked.budget)
    if asked.at is not None:
        asked.at = _points(asked.statements, asked.at)
    elif asked.json is None:
        asked.out = asked.out or DEFAULT_OUT


def select(patterns: Sequence[str], register: Mapping[str, _Kept]) -> tuple[_Kept, ...]:
    """Return the statements whose names match any pattern, in the register's order; all if there is none.

    Args:
        patterns: full names or globs such as "azize-thm-4*".
        register: the statements by name, or what else is kept of each.

    Raises:
        ValueError: if a pattern matches nothing; it lists the close names.

    Examples:
        >>> select(["azize-*"], {})
        Traceback (most recent call last):
            ...
        ValueError: CLAIM is 'azize-*'; it must match a statement of the register (see --list)
    """
    chosen: set[str] = set()
    for pattern in patterns:
        # Of a long pattern fnmatch looks at every bracket's every end.
        matches = fnmatch.filter(register, pattern) if len(pattern) <= MOST_PATTERN else []
        if not matches:
            close = close_names(pattern[:MOST_PATTERN], register, 5)
            hint = f"; close names: {', '.join(close)}" if close else ""
            raise ValueError(
                f"CLAIM is {shown(repr(pattern))}; it must match a statement of the register (see --list){hint}"
            )
        chosen.update(matches)
    return tuple(one for name, one in register.items() if not patterns or name in chosen)


def _confidence(text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = math.nan
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"--confidence is {shown(text)}; it must be a number in (0, 1)")
    return confidence


def checked_seed(text: str) -> int:
    """Return the whole number in [0, 2^64) that the text spells, or say that it spells none."""
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**64:
        raise ValueError(f"--seed is {shown(text)}; it must be a whole number in [0, 2^64)")
    return seed


def _points(statements: Sequence[Statement], texts: Sequence[str]) -> tuple[Point, ...]:
    from mipsim.referee import Point
    from mipsim.referee.command import read_points

    if len(statements) != 1:
        raise ValueError(f"--at is given for {len(statements)} statements; it must go with exactly one CLAIM")
    (statement,) = statements
    places = [statement.check(at) for at in read_points(texts)]
    # A listed point keeps its name.
    return tuple(next((one for one in statement.points if dict(one.at) == at), Point(at)) for at in places)
