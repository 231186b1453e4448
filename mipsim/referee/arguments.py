"""The arguments of the command `mipsim`; light, so that `--help` waits for nothing."""

from __future__ import annotations

import argparse
from typing import Any

from mipsim._streams import CommandParser
from mipsim.audits.settings import CONFIDENCE, DELTA, DESIGNS, FORMS
from mipsim.referee import settings


def parser() -> argparse.ArgumentParser:
    """The command line."""
    top = CommandParser(
        prog="mipsim",
        description="Judge theorems, hunt for where they break, and audit the scores of attacks.",
        epilog="Exit status: 0 done, 1 when a statement could not be judged or a disk is full, 2 for bad arguments, 130 after "
        "Ctrl-C with what was found kept.",
    )
    commands = top.add_subparsers(dest="command", required=True, metavar="{judge,hunt,audit}")
    for name, words in (
        ("judge", "judge the statements of a file at their points and over their domains"),
        ("hunt", "search the domains of a file's statements for where they break"),
    ):
        one = commands.add_parser(name, help=words, description=words)
        one.add_argument(
            "file",
            metavar="FILE.py[:NAME]",
            help="a Python file that defines statements; one of them by name",
        )
        one.add_argument(
            "--out", metavar="DIR", help="write index.html and results.json here; a hunt resumes from here"
        )
        one.add_argument("--seed", type=int, default=0, metavar="S", help="a whole number >= 0 (default: 0)")
        one.add_argument(
            "--confidence",
            type=float,
            default=settings.CONFIDENCE,
            metavar="C",
            help="family-wise, for each statement (default: 0.999)",
        )
        one.add_argument(
            "--games",
            type=int,
            default=settings.GAMES,
            metavar="G",
            help="in each world, where no exact law is known (default: 200000)",
        )
    commands.choices["judge"].add_argument(
        "--at",
        action="append",
        metavar="JSON",
        help="a point, such as '{\"n\": 10}'; may be given several times",
    )
    commands.choices["hunt"].add_argument(
        "--budget",
        default=settings.BUDGET,
        metavar="T",
        help=f"for each statement: 45s, 2m, 500 probes (default: {settings.BUDGET})",
    )
    _add_audit(commands)
    return top


def _add_audit(commands: Any) -> None:
    """Add the command to those of a parser, given what `add_subparsers` returned."""
    words = "bound from below what the scores of an attack show to leak, and hold a promised guarantee against them"
    one = commands.add_parser(
        "audit",
        help=words,
        description=f"{words[0].upper()}{words[1:]}.",
        epilog="Designs. " + " ".join(f"{name}: {what}." for name, what in DESIGNS.items()),
    )
    one.add_argument(
        "scores",
        metavar="SCORES.npz|csv",
        help='the scores (higher = "in") as score, with one of member, label, coin (1 = in the training set), and cluster '
        "if rows share one: columns of a .csv with a header, or arrays of an .npz (or members and non_members)",
    )
    one.add_argument(
        "--design",
        required=True,
        choices=tuple(DESIGNS),
        help="how the scores came about, which they cannot tell themselves",
    )
    one.add_argument("--claim", metavar="PROMISE", help=f"the promised guarantee: {FORMS}")
    one.add_argument("--out", metavar="DIR", help="write index.html and results.json here")
    one.add_argument(
        "--confidence",
        type=float,
        default=CONFIDENCE,
        metavar="C",
        help=f"of each bound and of the verdict (default: {CONFIDENCE})",
    )
    one.add_argument(
        "--delta",
        type=float,
        metavar="D",
        help=f"at which epsilon is bounded (default: that of the claim, or {DELTA:g})",
    )
    one.add_argument(
        "--guesses",
        type=int,
        nargs=2,
        metavar=("IN", "OUT"),
        help="one-run: how many of the highest scores are guessed in, and of the lowest out, fixed before the scores were seen "
        "(default: several numbers, which share the failure probability)",
    )
    one.add_argument(
        "--inclusion-probability",
        type=float,
        metavar="Q",
        help="one-run: the probability with which each canary was put in, as it was set before the run (default: 0.5)",
    )
