"""`mipsim audit`: scores of an attack in a user's file."""

from __future__ import annotations

import argparse
from pathlib import Path

from mipsim._streams import say
from mipsim._words import shown
from mipsim.audits import audit


def run(asked: argparse.Namespace) -> None:
    """Audit, print, and write the report.

    Args:
        asked: what the parser read.

    Raises:
        ValueError: if an argument or a file is wrong; nothing is written then.
        OSError: if the report cannot be written.
    """
    from mipsim._files import writable_folder
    from mipsim.referee.reporting.audit_page import report_audit

    found = audit(
        asked.scores,
        design=asked.design,
        claim=asked.claim,
        confidence=asked.confidence,
        delta=asked.delta,
        guesses=None if asked.guesses is None else tuple(asked.guesses),
        inclusion_probability=asked.inclusion_probability,
    )
    say(str(found))
    if asked.out is not None:
        where = writable_folder("--out", Path(asked.out))
        say(f"  report: {shown(report_audit(found, where))}")
