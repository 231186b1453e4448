"""Findings for the papers' authors: every refuted statement with its sentence, counterexample and correction, in Markdown."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from textwrap import TextWrapper
from typing import Any

from mipsim._printed import ceiling, floor, shown
from mipsim._words import visible
from mipsim.referee.defect import Defect, correction_of, diagnose
from mipsim.referee.domain import Choice
from mipsim.referee.gap_words import lone_gap
from mipsim.referee.outcome import Outcome, titled_examples
from mipsim.referee.reporting.plain import plain
from mipsim.referee.reporting.wording import claimed_and_true, formula_is_quoted, paragraphs, parameters
from mipsim.referee.result import PointResult, Verdict
from mipsim.referee.statement import Quote, Statement
from verify.register import REGISTER, group_of
from verify.statement import Statement as Registered
from verify.statement import at_hand

HEAD = """# Findings

What stands of each source, and every statement that fails in a reading or at a point that its words allow: the source's own sentence, why it fails, a simple
counterexample with what the statement says there and what is true ("about" marks an estimate), the corrected statement, and, folded, a second, independent
route to the same, the counterexample of the largest judged gap, and a program. An entry judges the sentence that it quotes, not the work that it stands in; its
class says how much of the sentence is left. Written by `python -m verify` (as `FINDINGS.md` beside its report).

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
    certificates: Mapping[str, str] | None = None,  # name of a statement -> the file of its certificate
) -> str:
    """Write the findings.
    >>> print(findings([], 'quick').splitlines()[0])
    # Findings
    """
    parts, last, files = [HEAD], None, certificates or {}
    for name, text in entries(outcomes, scale, known).items():
        title = next(group_of(item.statement) for item in outcomes if item.statement.name == name)
        if title != last:
            stand = [
                f"`{item.statement.name}`" + _certified(files.get(item.statement.name), " ({})")
                for item in outcomes
                if group_of(item.statement) == title and _stands(item)
            ]
            parts += [
                f"\n## {title}\n",
                *[
                    f"These stand, as judged (the pages of the report have their scope): {', '.join(stand)}.\n"
                ][: len(stand)],
            ]
        parts += [text, _certified(files.get(name), "{}.\n")]
        last = title
    return visible("\n".join(parts))


def _certified(file: str | None, words: str) -> str:
    return words.format(f"certificate: `{file}`") if file else ""


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
            verdict = _verdict(judged[twin.name]) if twin and twin.name in judged else "not judged here"
            result[statement.name] = _finding(outcome, twin, verdict, scale)
    return result


def _stands(outcome: Outcome) -> bool:
    return outcome.verdict is Verdict.CONFIRMED and not outcome.statement.corrects


def _verdict(outcome: Outcome) -> str:
    """The verdict, and where it holds."""
    return ", ".join(filter(None, (str(outcome.verdict), outcome.extent)))


def standing(outcome: Outcome) -> str:
    """What is read of a statement that is not refuted as printed: its verdict, its words, the paper's, and where they stand."""
    statement = outcome.statement
    assert isinstance(statement, Registered)
    lines = [
        f"### {statement.name}: {_verdict(outcome)}",
        "",
        f"As judged: {_line(statement.says)}",
        "",
    ]
    lines += _formula(statement)
    if statement.corrects:
        lines += _ours(statement)
    elif statement.quote is not None:
        lines += [f"{statement.quote.role}:", "", _quoted(statement.quote), ""]
    lines += [*([] if statement.corrects else _around(statement)), _evidence(outcome), ""]
    lines += [f"Judged over: {_parameters(statement)}.", ""]
    lines += [f"Source: {_line(statement.source)}. {at_hand(statement.name)}".rstrip(), ""]
    if statement.derivation.strip():
        lines += ["Why it holds:", "", *_proof(statement.derivation), ""]
    return "\n".join(lines)


def _evidence(outcome: Outcome) -> str:
    """How many points were judged, and how near the nearest came to break the statement."""
    worst = outcome.worst
    gap = (
        f"; the largest gap is {lone_gap(worst.gap, worst.interval, 4)} ({_line(worst.unit)})"
        if worst
        else ""
    )
    return f"Evidence: {outcome.how}{gap}."


def _ours(statement: Registered) -> list[str]:
    """Whose a correction, or a step of a correction, is, and where the paper's sentence is judged; the quotation, where it has one of its own."""
    printed, judged_in = REGISTER.get(statement.corrects), f"judged in `{statement.corrects}`"
    main = correction_of(printed, tuple(REGISTER.values())) if printed else None
    step = main is not None and main.name != statement.name
    what = f"a step of `{main.name}`" if main and step else "a correction"
    if statement.quote is None or printed is None or statement.quote == printed.quote:
        whose = "source" if statement.name.startswith("field-") else "paper"
        return [f"No statement of the {whose}: {what}; the {whose}'s sentence is {judged_in}.", ""]
    place = f"From the paper, beside the sentence that is {judged_in} ({what}):"
    return [place, "", _quoted(statement.quote), ""]


def _formula(statement: Statement) -> list[str]:
    if not statement.formula:
        return []
    ours = statement.quote is not None and not formula_is_quoted(statement)
    return [*(["As formalised here:", ""] if ours else []), _line(f"$${statement.formula}$$"), ""]


def _around(statement: Registered) -> list[str]:
    """What of its quotation is not judged here, and what else its source says of it."""
    lines = []
    for words, reason in statement.not_judged.items():
        lines += [f'Of this, not judged here: "{_line(words)}" ({_line(reason)}).', ""]
    for quote in statement.restricted_by:
        # A place that has a year names a source of its own.
        where = (
            "In another source" if re.search(r"\(\d{4}\)", quote.place) else "Elsewhere in the same source"
        )
        lines += [f"{where}:", "", _quoted(quote), ""]
    return lines


def _finding(outcome: Outcome, twin: Statement | None, verdict: str, scale: str) -> str:
    statement = outcome.statement
    diagnosis = diagnose(outcome, twin)
    assert diagnosis is not None  # it is refuted, and no correction
    assert isinstance(statement, Registered)
    defect, reason = diagnosis.defect, diagnosis.reason
    first, *others = [
        (title, _example(statement, title, point, command_of(outcome, scale, point)))
        for title, point in titled_examples(outcome)
    ]
    lines = [f"### {statement.name}: {defect}", ""]
    if statement.quote is not None:
        lines += [f"{statement.quote.role}:", "", _quoted(statement.quote), ""]
    else:
        lines += [f"As judged: {_line(statement.says)}", ""]
    lines += _formula(statement)
    lines += [*([_line(statement.fails), ""] if statement.fails else []), *first[1]]
    if twin is not None:
        lines += [f"**Corrected** (`{twin.name}`, {verdict}): {_line(twin.says)}", ""]
        lines += [_line(f"$${twin.formula}$$"), ""] if twin.formula not in ("", statement.formula) else []
    elif statement.instead:
        lines += [f"**What holds**: {_line(statement.instead)}.", ""]
    own = f" At the source's own settings: {outcome.own_settings}." if outcome.own_settings else ""
    # What was not at hand may state it.
    there = " (in the text at hand)" if defect is Defect.CONDITION and at_hand(statement.name) else ""
    lines += [f"{defect.meaning[:1].upper()}{defect.meaning[1:]}{there}. {_line(reason)}.{own}", ""]
    lines += [f"Source: {_line(statement.source)}. {at_hand(statement.name)}".rstrip(), ""]
    judged = [f"As judged: {_line(statement.says)}", ""] if statement.quote is not None else []
    judged += _around(statement)
    for names, how in (
        ([name for name in statement.uses if name not in statement.unreached], "as printed"),
        (list(statement.unreached), "whose defect does not reach it"),
    ):
        if names:
            judged += [f"It rests on {', '.join(f'`{_line(name)}`' for name in names)}, {how}.", ""]
    if statement.slip is not None:
        wrong, right = statement.slip
        judged += ["The slip, and the place that has it right:", "", _quoted(wrong), "", _quoted(right), ""]
    if outcome.spread[1]:
        # A listed point alone may show it: its parameters have been chosen to.
        listed = "; the counterexamples are listed points" if outcome.spread[0] == outcome.spread[1] else ""
        judged += [f"It {outcome.where_broken} of its domain{listed}.", ""]
    judged += [f"Parameters. {_parameters(statement)}.", ""]
    lines += _folded("As it was judged, and its parameters", judged)
    for title, other in others:
        lines += _folded(title, other)
    if statement.snippet:
        code = ["````python", statement.snippet.strip(), "````", ""]
        lines += _folded("A counterexample without mipsim", code)
    if twin is not None and twin.derivation.strip():
        lines += ["Why the correction holds:", "", *_proof(twin.derivation), ""]
    return "\n".join(lines)


def _parameters(statement: Statement) -> str:
    """What each parameter is, and its values: a statement speaks for what was judged."""
    parts = []
    for name, parameter in statement.domain.items():
        words, values = statement.meanings.get(name, ""), str(parameter)
        listed = isinstance(parameter, Choice) and all(str(value) in words for value in parameter.values)
        parts.append(f"`{name}`: {_line(', '.join([words] * bool(words) + [values] * (not listed)))}")
    return "; ".join(parts)


def _folded(title: str, lines: Sequence[str]) -> list[str]:
    return [f"<details><summary>{title}</summary>", "", *lines, "</details>", ""]


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
    at = _line(parameters(plain(statement.mattering(point.parameters))))
    low, high = point.interval
    known = lone_gap(point.gap, point.interval, 4)
    if known == _value(point.gap) and low < high:
        # Of a wide interval the middle says nothing.
        wide = high - low > abs(point.gap) / 2
        between = f"between {floor(low)} and {ceiling(high)}"
        known = between if wide else f"{known} in {shown((low, high))}"
    words = _line(claimed_and_true(point))
    # What is claimed not to be 0 is claimed to be some small number at least, from which a gap would be counted.
    gap = "" if "above 0 by the claim" in words else f"Gap {known} ({_line(point.unit)}). "
    route = "evaluating the formula" if point.route == "number" else point.route
    evidence = [f"{gap if words else ''}Computed by {_line(route)}. {_line(point.detail)}".rstrip(), ""]
    if point.second_route:
        evidence += [f"Second route: {_line(str(point.second_route))}", ""]
    return [
        f"**{title}**: {f'{words} At {at}.' if words else f'At {at}. {gap}'}",
        "",
        f"    {command}",
        "",
        *_folded("Evidence", evidence),
    ]


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
