"""The register of claims that public tools document, and what the command prints, stores and shows of it."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mipsim._files import replace_file, writable_folder
from mipsim.referee.reporting.plain import plain
from verify.tools.accountants import ACCOUNTANTS
from verify.tools.estimators import ESTIMATORS
from verify.tools.trial import Row, Trial, judge

TRIALS: tuple[Trial, ...] = (*ESTIMATORS, *ACCOUNTANTS)
"""All trials, controls first."""

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
"""The stored results, which docs/tools.md shows."""
PROGRAMS = FOLDER / "programs"
"""Programs that show a refutation without mipsim."""


def program_of(name: str) -> Path | None:
    """The program that shows a refutation, or None.
    >>> program_of("nobody's")
    """
    path = PROGRAMS / f"{name.replace('-', '_')}.py"
    return path if path.is_file() else None


def show(out: str | None = None, seed: int = 0) -> list[Row]:
    """Judge the trials and print a line of each; date, seed and rows go as JSON to a file, or for "-" to standard output.
    Raises ValueError if the folder of the file cannot be written; before anything is judged.
    """
    if out not in (None, "-"):
        writable_folder("--json", Path(out).parent)
    text = sys.stderr if out == "-" else sys.stdout

    def say(row: Row) -> None:
        worst = _worst([asdict(item) for item in row.outcomes])
        message = row.skipped or (f"{worst['case']}: {_finding(worst)}" if worst else "")
        print(f"{row.name:<34}{row.verdict or 'not judged':<13} {message}", flush=True, file=text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tools warn of their own limits; what they say is judged
        rows = judge(TRIALS, seed, say)
    if out is not None:
        held = {"date": time.strftime("%Y-%m-%d"), "seed": seed, "rows": [asdict(row) for row in rows]}
        stored = json.dumps(plain(held), indent=1, allow_nan=False) + "\n"
        sys.stdout.write(stored) if out == "-" else replace_file(Path(out), stored)
    return rows


def _worst(outcomes: Iterable[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The case with the most wrong bounds, of equal ones that farthest from the truth; None of none."""
    return max(
        outcomes,
        key=lambda item: (
            item["wrong"] / item["runs"],
            abs(item["returned"] - item["truth"]) / max(abs(item["truth"]), 1e-9),
        ),
        default=None,
    )


def _finding(outcome: Mapping[str, Any]) -> str:
    """What a case showed: a rate with its interval, or a number against the truth."""
    if outcome["runs"] == 1:
        return f"says {outcome['returned']:.5g}, truth {outcome['truth']:.5g}"
    low, high = outcome["rate"]
    return f"wrong {outcome['wrong']:,} of {outcome['runs']:,}, rate in [{low:.3f}, {high:.3f}]"


def table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as a table in Markdown: what docs/tools.md holds.
    `rows`: as `show` stores them.

    >>> table([]).splitlines()[0]
    '| tool | claim | verdict | worst case | what it showed | tightness | program |'
    """
    lines = [
        "| tool | claim | verdict | worst case | what it showed | tightness | program |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        worst = _worst(row["outcomes"])
        program = program_of(row["name"])
        tightness = row["tightness"]
        cells = (
            f"{row['tool']} {row['version']}".strip() + (" (by formula)" if row["by_formula"] else ""),
            f"`{row['name']}`: ``{row['call']}``",
            row["verdict"] or "not judged",
            f"`{worst['case']}`" if worst else row["skipped"],
            _finding(worst) if worst else "",
            f"{tightness:.3f}" if isinstance(tightness, float) and math.isfinite(tightness) else "",
            f"`{program.name}`" if program else "",
        )
        lines.append(_line(*cells))
    return "\n".join(lines)


def quotes(rows: Iterable[Mapping[str, Any]]) -> str:
    """The words that were judged, where they stand, what restricts them and what repairs them, as a table in Markdown.
    `rows`: as `show` stores them.

    >>> quotes([]).splitlines()[0]
    '| claim | words | place | restricted by | later versions |'
    """
    lines = ["| claim | words | place | restricted by | later versions |", "|---|---|---|---|---|"]
    for row in rows:
        if not row["planted"]:
            words = (row["claim"], row["place"], row["restricted_by"], row["repaired"])
            lines.append(
                _line(
                    f"`{row['name']}`",
                    *(f"``{text.replace('`', chr(39))}``" if text else "" for text in words),
                )
            )
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
