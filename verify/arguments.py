"""The arguments of the command: read, checked, and turned into the statements to judge."""

from __future__ import annotations

import argparse
import difflib
import fnmatch
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mipsim.referee import Point, Statement
from mipsim.referee.budget import budget_of
from mipsim.referee.command import read_points
from verify.judge import SCALES

DEFAULT_OUT = Path("results/verify")


@dataclass(frozen=True)
class Request:
    """What the command was asked, checked.

    Attributes:
        statements: what is judged, in the register's order.
        at: with --at, the points at which one statement is judged, alone; else None.
        scale: "quick", "standard" or "full".
        confidence: family-wise, in (0, 1).
        seed: in [0, 2^64).
        out: the report's folder, or None: with --at or --json and no --out no report is written.
        json: file of the data alone, "-" for standard output, or None.
        budget: of each hunt; None: no hunt.
        keep: whether what a hunt finds is written beside the register.
    """

    statements: tuple[Statement, ...]
    at: tuple[Point, ...] | None
    scale: str
    confidence: float
    seed: int
    out: Path | None
    json: str | None
    budget: str | None
    keep: bool


def select(patterns: Sequence[str], register: Mapping[str, Statement]) -> tuple[Statement, ...]:
    """Return the statements whose names match any pattern, in the register's order; all if there is none.

    Args:
        patterns: full names or globs such as "azize-thm-4*".
        register: the statements.

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
        matches = fnmatch.filter(register, pattern)
        if not matches:
            close = difflib.get_close_matches(pattern, list(register), n=5, cutoff=0.6)
            close += [name for name in register if pattern.lower() in name.lower() and name not in close]
            hint = f"; close names: {', '.join(close[:5])}" if close else ""
            raise ValueError(
                f"CLAIM is {pattern!r}; it must match a statement of the register (see --list){hint}"
            )
        chosen.update(matches)
    return tuple(one for name, one in register.items() if not patterns or name in chosen)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    reader = argparse.ArgumentParser(
        prog="python -m verify",
        description="Judge the statements of the register by exact laws and games, or hunt for where they break, and write a report.",
        epilog="Exit status: 0 all were judged, 1 one could not be judged, 2 bad arguments, 130 interrupted.",
    )
    reader.add_argument(
        "claims", nargs="*", metavar="CLAIM", help='name or glob ("azize-thm-4*"); default: all'
    )
    reader.add_argument(
        "--scale", choices=SCALES, default="standard", help="how many points and games (default: standard)"
    )
    reader.add_argument(
        "--confidence",
        default="0.999",
        metavar="C",
        help="family-wise over every point of the whole register; with --hunt, of each hunt; in (0, 1) (default: 0.999)",
    )
    reader.add_argument("--seed", default="0", metavar="S", help="a whole number (default: 0)")
    reader.add_argument(
        "--out", type=Path, metavar="DIR", help=f"folder of the report (default: {DEFAULT_OUT})"
    )
    reader.add_argument(
        "--at",
        action="append",
        metavar="JSON",
        help="judge one CLAIM at this point, such as '{\"n\": 10}'; may be given several times; writes a report only with --out",
    )
    reader.add_argument(
        "--json",
        metavar="FILE",
        help="write the data alone, as in verdicts.json, to FILE, or to standard output for -; a report only with --out",
    )
    reader.add_argument(
        "--list",
        action="store_true",
        help="list the statements, or with CLAIM their domains, and judge nothing",
    )
    reader.add_argument(
        "--hunt", action="store_true", help="search the domains for where the statements break"
    )
    reader.add_argument("--budget", metavar="T", help="of each hunt: 45s, 2m, 500 probes (default: 2m)")
    reader.add_argument(
        "--keep", action="store_true", help="with --hunt: keep what was found as points of the register"
    )
    reader.add_argument(
        "--suite",
        choices=("broken-mechanisms",),
        help="judge mechanisms with known violations instead, beside other tools' published figures",
    )
    return reader


def request_of(arguments: argparse.Namespace, register: Mapping[str, Statement]) -> Request:
    """Check what `parser` read.

    Raises:
        ValueError: one sentence that names the argument, its value and what is allowed.
    """
    confidence, seed = _confidence(arguments.confidence), checked_seed(arguments.seed)
    statements = select(arguments.claims, register)
    for name in ("budget", "keep"):
        if getattr(arguments, name) and not arguments.hunt:
            raise ValueError(f"--{name} is given without --hunt; it must go with it")
    if arguments.hunt and (arguments.at or arguments.json):
        raise ValueError("--hunt is given beside --at or --json; its data are in the report's folder")
    budget = (arguments.budget or "2m") if arguments.hunt else None
    if budget is not None:
        budget_of(budget)
    at = None if arguments.at is None else _points(statements, arguments.at)
    out = arguments.out
    if out is None and at is None and arguments.json is None:
        out = DEFAULT_OUT
    return Request(
        statements, at, arguments.scale, confidence, seed, out, arguments.json, budget, arguments.keep
    )


def _confidence(text: str) -> float:
    try:
        confidence = float(text)
    except ValueError:
        confidence = math.nan
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"--confidence is {text}; it must be a number in (0, 1)")
    return confidence


def checked_seed(text: str) -> int:
    """Return the whole number in [0, 2^64) that the text spells, or say that it spells none."""
    try:
        seed = int(text)
    except ValueError:
        seed = -1
    if not 0 <= seed < 2**64:
        raise ValueError(f"--seed is {text}; it must be a whole number in [0, 2^64)")
    return seed


def _points(statements: Sequence[Statement], texts: Sequence[str]) -> tuple[Point, ...]:
    if len(statements) != 1:
        raise ValueError(f"--at is given for {len(statements)} statements; it must go with exactly one CLAIM")
    (statement,) = statements
    places = [statement.check(at) for at in read_points(texts)]
    # A listed point keeps its name.
    return tuple(next((one for one in statement.points if dict(one.at) == at), Point(at)) for at in places)
