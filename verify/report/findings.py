"""What was found, for the papers' authors: every refuted statement with its sentence, counterexample and correction, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

DEFECTS = {
    "formula": "the formula is wrong at the paper's own setting, or at more than half of the points drawn from its domain",
    "condition": "the formula is right, an assumption is missing",
    "wording": "a slip of the pen that another line of the paper has right",
    "reading": "false under one reading of the words, and not under another",
}

PAPERS = {
    "azize": "Azize & Basu (2025)",
    "leemann": "Leemann, Pawelczyk & Kasneci (2023)",
    "kaissis": "Kaissis, Ziller, Kolek, Riess & Rueckert (2023)",
    "izzo": "Izzo, Yoon, Arik & Zou (2024)",
}

_HEAD = """# Findings

Every statement of the four papers that does not stand as printed: the sentence that was judged, what is wrong with it, one
counterexample with the command that replays it, a second, independent route to the same, and the corrected statement with its
conditions. Written by `python -m verify` (as `FINDINGS.md` beside its report); nothing here is typed by hand.

A *gap* is how far the attacker is stronger than the statement allows, in the unit beside it; *probits* are differences of
Phi^-1(FNR) at one FPR, so errors of the mu of a Gaussian trade-off curve. An interval from an exact law holds the law's proven
error; one from games has the failure probability of the whole register, 0.001.
"""


def findings(records: Sequence[Mapping[str, Any]], derivations: Mapping[str, str]) -> str:
    """Write the findings.

    Args:
        records: the entries of verdicts.json.
        derivations: claim -> why it is right, for the corrections.

    Examples:
        >>> print(findings([], {}).splitlines()[0])
        # Findings
    """
    corrections = {record["claim"]: record for record in records}
    parts, paper = [_HEAD], None
    for record in records:
        if record["verdict"] != "REFUTED" or record["corrects"] is not None:
            continue
        if record["paper"] != paper:
            paper = record["paper"]
            parts.append(f"\n## {PAPERS.get(paper, paper)}\n")
        parts.append(_finding(record, corrections.get(record["corrected_by"] or ""), derivations))
    return "\n".join(parts)


def _finding(
    record: Mapping[str, Any], correction: Mapping[str, Any] | None, derivations: Mapping[str, str]
) -> str:
    defect = record["defect"]
    lines = [f"### {record['claim']}: {defect}", "", f"{_capital(DEFECTS.get(defect, ''))}.", ""]
    if record["quote"] is not None:
        lines += [_quoted(record["quote"]), ""]
    lines += [f"As judged: {_line(record['statement'])}", ""]
    for quote in record["restricted_by"] or ():
        lines += ["Elsewhere in the paper:", "", _quoted(quote), ""]
    if record["slip"] is not None:
        wrong, right = record["slip"]
        lines += ["The slip, and the place that has it right:", "", _quoted(wrong), "", _quoted(right), ""]
    if record["share"] is not None:
        lines += [f"Of the points drawn from its domain {record['share']:.0%} stand.", ""]
    found = record["counterexample"]
    if found is not None:
        at = ", ".join(f"{name} = {_value(value)}" for name, value in found["parameters"].items())
        interval = "" if found["interval"] is None else " in [{}, {}]".format(*map(_value, found["interval"]))
        lines += [
            f"**Counterexample** ({found['name']}): {at}. Gap {_value(found['gap'])}{interval} ({found['unit']})."
        ]
        lines += [f"Found by {found['route']}. {_line(found['detail'])}".rstrip(), ""]
        if found["second_route"]:
            lines += [f"Second route: {_line(found['second_route'])}", ""]
        lines += [f"    uv run {found['command']}", ""]
    if correction is not None:
        lines += [
            f"**Corrected** (`{correction['claim']}`, {correction['verdict']}): {_line(correction['statement'])}",
            "",
        ]
        why = derivations.get(correction["claim"], "").strip()
        if why:
            lines += ["Why:", "", *(f"    {line}".rstrip() for line in why.splitlines()), ""]
    return "\n".join(lines)


def _quoted(quote: Mapping[str, str]) -> str:
    return f"> {_line(quote['text'])} ({quote['place']})"


def _line(text: str) -> str:
    return " ".join(text.split())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
