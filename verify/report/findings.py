"""What was found, for the papers' authors: every refuted statement with its sentence, counterexample and correction, in Markdown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from mipsim.referee import Outcome, Quote, Statement, Verdict
from mipsim.referee.defect import correction_of, defect_of
from mipsim.referee.reporting.plain import plain
from verify.hunting import told
from verify.register import PAPERS, paper_of
from verify.report.record import command_of

HEAD = """# Findings

Every statement that does not stand as printed: the sentence that was judged, what is wrong with it, one counterexample with the
command that replays it, a second, independent route to the same, what a search of the whole domain found, and the corrected
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
    judged = {one.statement.name: one for one in outcomes}
    statements = [*(one.statement for one in outcomes), *known]
    parts, paper = [HEAD], None
    for outcome in outcomes:
        statement = outcome.statement
        if outcome.verdict is not Verdict.REFUTED or statement.corrects:
            continue
        if paper_of(statement.name) != paper:
            paper = paper_of(statement.name)
            parts.append(f"\n## {PAPERS.get(paper, paper)}\n")
        twin = correction_of(statement, statements)
        verdict = "" if twin is None or twin.name not in judged else str(judged[twin.name].verdict)
        parts.append(_finding(outcome, twin, verdict or "not judged here", hunts.get(statement.name), scale))
    return "\n".join(parts)


def _finding(
    outcome: Outcome, twin: Statement | None, verdict: str, hunted: Mapping[str, Any] | None, scale: str
) -> str:
    statement = outcome.statement
    defect = defect_of(outcome, twin)
    meaning = "" if defect is None else f"{defect.meaning[:1].upper()}{defect.meaning[1:]}."
    lines = [f"### {statement.name}: {defect}", "", meaning, ""]
    if statement.quote is not None:
        lines += [_quoted(statement.quote), ""]
    lines += [f"As judged: {_line(statement.says)}", ""]
    for quote in statement.restricted_by:
        lines += ["Elsewhere in the paper:", "", _quoted(quote), ""]
    if statement.slip is not None:
        wrong, right = statement.slip
        lines += ["The slip, and the place that has it right:", "", _quoted(wrong), "", _quoted(right), ""]
    if not math.isnan(outcome.share):
        lines += [f"Of the points drawn from its domain {outcome.share:.0%} stand.", ""]
    worst = outcome.worst
    if worst is not None:
        at = ", ".join(f"{name} = {_value(value)}" for name, value in worst.parameters.items())
        interval = "[{}, {}]".format(*map(_value, worst.interval))
        lines += [f"**Counterexample**: {at}. Gap {_value(worst.gap)} in {interval} ({worst.unit})."]
        lines += [f"Found by {worst.route}. {_line(worst.detail)}".rstrip(), ""]
        if worst.second_route:
            lines += [f"Second route: {_line(worst.second_route)}", ""]
        lines += [f"    uv run {command_of(outcome, scale)}", ""]
    if hunted is not None:
        lines += [f"The hunt: {told(hunted)}", ""]
    if twin is not None:
        lines += [f"**Corrected** (`{twin.name}`, {verdict}): {_line(twin.says)}", ""]
        if why := twin.derivation.strip():
            lines += ["Why:", "", *(f"    {line}".rstrip() for line in why.splitlines()), ""]
    return "\n".join(lines)


def _quoted(quote: Quote) -> str:
    return f"> {_line(quote.text)} ({quote.place})"


def _line(text: str) -> str:
    return " ".join(text.split())


def _value(value: Any) -> str:
    value = plain(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
