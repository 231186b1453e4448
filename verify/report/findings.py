"""What was found, for the papers' authors."""

from collections.abc import Mapping, Sequence
from typing import Any

from mipsim.referee import Outcome, Statement
from mipsim.referee.reporting import findings as general
from verify.hunting import told
from verify.register import group_of
from verify.report.record import command_of

HEAD = """# Findings

Every statement that does not stand as printed: the sentence that was judged, what is wrong with it, a simple counterexample
and the one with the largest gap, each with the command that replays it, a second, independent route to the same, what a search of the whole domain found, and the corrected
statement with its conditions. Written by `python -m verify` (as `FINDINGS.md` beside its report); nothing here is typed by hand.

A *gap* is how far the attacker is stronger than the statement allows, in the unit beside it; *probits* are differences of
Phi^-1(FNR) at one FPR, so errors of the mu of a Gaussian trade-off curve. An interval from an exact law holds the law's proven
error; one from games shares the failure probability of the whole register.
"""


def findings(
    outcomes: Sequence[Outcome],
    hunts: Mapping[str, Mapping[str, Any]],
    scale: str,
    known: Sequence[Statement] = (),
) -> str:
    """Write the findings.

    Args:
        outcomes: of the register, in its order.
        hunts: name -> the record of its hunt.
        scale: of the run.
        known: statements among which corrections are looked up, beside those of `outcomes`.

    Examples:
        >>> print(findings([], {}, 'quick').splitlines()[0])
        # Findings
    """
    return general.findings(
        outcomes,
        head=HEAD,
        chapter=group_of,
        command=lambda outcome, point: f"uv run {command_of(outcome, scale, point)}",
        known=known,
        hunts={name: told(record) for name, record in hunts.items()},
    )
