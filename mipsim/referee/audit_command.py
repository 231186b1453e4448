"""`mipsim audit`: scores of an attack in a user's file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from mipsim.audits import audit
from mipsim.audits.audit import CONFIDENCE, DELTA
from mipsim.audits.claims import FORMS
from mipsim.audits.result import DESIGNS


def add_to(commands: Any) -> None:
    """Add the command to those of a parser.

    Args:
        commands: what `add_subparsers` returned.
    """
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


def run(asked: argparse.Namespace) -> None:
    """Audit, print, and write the report.

    Args:
        asked: what the parser of `add_to` read.

    Raises:
        ValueError: if an argument or a file is wrong; nothing is written then.
        OSError: if the report cannot be written.
    """
    from mipsim.referee.reporting.audit_page import report_audit
    from mipsim.referee.reporting.files import writable_folder

    found = audit(
        asked.scores,
        design=asked.design,
        claim=asked.claim,
        confidence=asked.confidence,
        delta=asked.delta,
        guesses=None if asked.guesses is None else tuple(asked.guesses),
    )
    print(found, flush=True)
    if asked.out is not None:
        where = writable_folder("--out", Path(asked.out))
        print(f"  report: {report_audit(found, where)}", flush=True)
