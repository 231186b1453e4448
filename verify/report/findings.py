"""Findings for the papers' authors: every refuted statement with its sentence, counterexample and correction, in Markdown."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from textwrap import TextWrapper
from typing import Any

from mipsim._printed import ceiling, floor, shown
from mipsim._words import visible
from mipsim.referee.defect import correction_of, diagnose
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.outcome import Outcome, simplest
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.wording import paragraphs
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Quote, Statement
from verify.register import group_of

HEAD = """# Findings

Every statement that does not stand as printed: the sentence that was judged, what is wrong with it, a simple counterexample
and the counterexample with the largest gap, each with the command that replays it, a second, independent route to the same, and the corrected
statement with its conditions. Written by `python -m verify` (as `FINDINGS.md` beside its report); nothing here is typed by hand.

A *gap* is how far the attacker is stronger than the statement allows, in the unit beside it; *probits* are differences of
Phi^-1(FNR) at the same FPR, so errors of the mu of a Gaussian trade-off curve. An interval from an exact law holds the law's proven
error; an interval from games shares the failure probability of the whole register.
"""

PAGE = 100
"""Letters of a line of code that a page shows without being pushed aside."""


def findings(
    outcomes: Sequence[Outcome],  # of the register, in its order
    scale: str,  # of the run
    # statements among which corrections are looked up, beside those of `outcomes`
    known: Sequence[Statement] = (),
) -> str:
    """Write the findings.
    >>> print(findings([], 'quick').splitlines()[0])
    # Findings
    """
    parts, last = [HEAD], None
    for name, text in entries(outcomes, scale, known).items():
        title = next(group_of(item.statement) for item in outcomes if item.statement.name == name)
        parts += [f"\n## {title}\n"] * (title != last) + [text]
        last = title
    return visible("\n".join(parts))


def entries(outcomes: Sequence[Outcome], scale: str, known: Sequence[Statement] = ()) -> dict[str, str]:
    """Name of each statement that is refuted as printed -> what is found; the arguments are those of `findings`.
    >>> entries([], "quick")
    {}
    """
    judged = {item.statement.name: item for item in outcomes}
    statements, result = [*(single.statement for single in outcomes), *known], {}
    for outcome in outcomes:
        statement = outcome.statement
        if outcome.verdict is Verdict.REFUTED and not statement.corrects:
            twin = correction_of(statement, statements)
            verdict = str(judged[twin.name].verdict) if twin and twin.name in judged else "not judged here"
            result[statement.name] = _finding(outcome, twin, verdict, scale)
    return result


def _finding(
    outcome: Outcome,
    twin: Statement | None,
    verdict: str,
    scale: str,
) -> str:
    statement = outcome.statement
    diagnosis = diagnose(outcome, twin)
    assert diagnosis is not None  # it is refuted, and no correction
    defect, reason = diagnosis.defect, diagnosis.reason
    meaning = f"{defect.meaning[:1].upper()}{defect.meaning[1:]}. {_line(reason)}."
    lines = [f"### {statement.name}: {defect}", "", meaning, "", f"Source: {_line(statement.source)}.", ""]
    if statement.quote is not None:
        lines += [_quoted(statement.quote), ""]
    for words, reason in statement.not_judged.items():
        lines += [f'Of this, not judged here: "{_line(words)}" ({_line(reason)}).', ""]
    if statement.formula:
        lines += [_line(f"$${statement.formula}$$"), ""]
    lines += [f"As judged: {_line(statement.says)}", ""]
    for quote in statement.restricted_by:
        lines += ["Elsewhere in the paper:", "", _quoted(quote), ""]
    for names, how in (
        ([name for name in statement.uses if name not in statement.unreached], "as printed"),
        (list(statement.unreached), "whose defect does not reach it"),
    ):
        if names:
            lines += [f"It rests on {', '.join(f'`{_line(name)}`' for name in names)}, {how}.", ""]
    if statement.slip is not None:
        wrong, right = statement.slip
        lines += ["The slip, and the place that has it right:", "", _quoted(wrong), "", _quoted(right), ""]
    if outcome.spread[1]:
        lines += [f"It is broken at {outcome.broken} of its domain.", ""]
    if statement.meanings:
        text = "; ".join(f"`{name}`: {_line(words)}" for name, words in statement.meanings.items())
        lines += [f"Parameters. {text}.", ""]
    worst = outcome.worst
    if worst is not None:
        first = simplest(statement, outcome.judged)
        if first is not None and first.parameters != worst.parameters:
            lines += _example(statement, "A simple counterexample", first, command_of(outcome, scale, first))
            # Of equalities gaps are compared in tolerances, which are shares of what is claimed.
            title = "The largest gap" + " in tolerances" * (abs(worst.gap) < abs(first.gap))
            lines += _example(statement, title, worst, command_of(outcome, scale, worst))
        else:
            lines += _example(statement, "Counterexample", worst, command_of(outcome, scale, worst))
    if statement.snippet and worst is not None:
        fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", statement.snippet)), 0)
        code = [f"{fence}python", statement.snippet.strip(), fence]
        lines += [
            "<details><summary>A counterexample without mipsim</summary>",
            "",
            *code,
            "",
            "</details>",
            "",
        ]
    if twin is not None:
        lines += [f"**Corrected** (`{twin.name}`, {verdict}): {_line(twin.says)}", ""]
        if twin.derivation.strip():
            lines += ["Why:", "", *_proof(twin.derivation), ""]
    return "\n".join(lines)


def command_of(outcome: Outcome, scale: str, point: PointResult) -> str:
    """The command that judges a point of a statement again, with the same games."""
    at = json.dumps(outcome.statement.essential(point.parameters))
    return (
        f"python -m verify {shlex.quote(outcome.statement.name)} --at {shlex.quote(at)} --scale {scale}"
        f" --confidence {outcome.confidence!r} --seed {outcome.seed}"
    )


def _proof(text: str) -> list[str]:
    """The lines of a block of code: formulas stay as they are written, and no line is wider than a page."""
    wrap = TextWrapper(PAGE, break_long_words=False, break_on_hyphens=False)
    return [f"    {line}" for part in paragraphs(text) for line in wrap.wrap(part)]


def _example(statement: Statement, title: str, point: PointResult, command: str) -> list[str]:
    at = ", ".join(
        f"{name} = {_line(_value(value))}" for name, value in statement.mattering(point.parameters).items()
    )
    low, high = point.interval
    known = lone_gap(point.gap, point.interval, 4)
    if known == _value(point.gap):
        # Of a wide interval the middle says nothing.
        wide = high - low > abs(point.gap) / 2
        between = f"between {floor(low)} and {ceiling(high)}"
        known = between if wide else f"{known} in {shown((low, high))}"
    lines = [f"**{title}**: {at}. Gap {known} ({_line(point.unit)})."]
    route = "evaluating the formula" if point.route == "number" else point.route
    lines += [f"Computed by {_line(route)}. {_line(point.detail)}".rstrip(), ""]
    if point.second_route:
        lines += [f"Second route: {_line(str(point.second_route))}", ""]
    return [*lines, f"    uv run {command}", ""]


def _quoted(quote: Quote) -> str:
    # At its begin it would define a link, or begin a heading, a list or code.
    text = re.sub(r"^(\d*)(?=[.)](?:\s|$)|\[|>|#|[-+*](?:\s|$)|```|~~~)", r"\1\\", _line(quote.text))
    return f"> {text} ({_line(quote.place)})"


def _line(text: str) -> str:
    """Words on a single line of which Markdown makes no element and no link; within a formula `<` is written as LaTeX's own command."""
    parts = re.split(r"(\$+[^$]*\$+)", " ".join(text.split()))
    shown = [
        re.sub(r"<(?=[A-Za-z/!?])", r"\\lt " if k % 2 else "&lt;", part).replace("](", "]\\(")
        for k, part in enumerate(parts)
    ]
    return "".join(shown)


def _value(value: Any) -> str:
    value = plain(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)
