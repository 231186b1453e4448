"""The register of claims that public tools document, and what the command prints, stores and shows of it."""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from mipsim._files import replace_file, writable_folder
from mipsim.referee.reporting.plain import plain
from verify.tools.accountants import ACCOUNTANTS
from verify.tools.estimators import ESTIMATORS
from verify.tools.trial import Outcome, Row, Trial, judge

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
        worst = _worst(row.outcomes)
        message = row.skipped or (f"{worst.case}: {_finding(worst)}" if worst else "")
        print(f"{row.trial.name:<34}{row.verdict or 'not judged':<13} {message}", flush=True, file=text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tools warn of their own limits; what they say is judged
        rows = judge(TRIALS, seed, say)
    if out is not None:
        stored = _written(rows, seed)
        sys.stdout.write(stored) if out == "-" else replace_file(Path(out), stored)
    return rows


def _written(rows: Iterable[Row], seed: int) -> str:
    """Rows as JSON, a line for each case; what the register says of a trial is not repeated."""
    texts = []
    for row in rows:
        held = {key: getattr(row, key) for key in ("version", "verdict", "skipped", "tightness")}
        head = json.dumps(plain({"name": row.trial.name} | held), allow_nan=False)
        cases = ["  " + json.dumps(plain(asdict(item)), allow_nan=False) for item in row.outcomes]
        texts.append(f' {head[:-1]}, "outcomes": [\n' + ",\n".join(cases) + "]}")
    head = json.dumps({"date": time.strftime("%Y-%m-%d"), "seed": seed})
    return f'{head[:-1]}, "rows": [\n' + ",\n".join(texts) + "\n]}\n"


def read_rows(path: Path = RESULTS) -> list[Row]:
    """The rows that `show` has stored, of the trials of the register.
    Raises ValueError if a row is of no trial.

    >>> len(read_rows()) == len(TRIALS)
    True
    """
    known, rows = {trial.name: trial for trial in TRIALS}, []
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        if (trial := known.get(row["name"])) is None:
            raise ValueError(f"{path} holds {row['name']}, which is no trial of the register")
        outcomes = tuple(Outcome(**item | {"rate": tuple(item["rate"])}) for item in row["outcomes"])
        tightness = row["tightness"] if isinstance(row["tightness"], float) else math.nan
        rows.append(Row(trial, row["version"], row["verdict"], row["skipped"], outcomes, tightness))
    return rows


def _worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The case with the most wrong bounds, of equal ones that farthest from the truth; None of none."""
    return max(
        outcomes,
        key=lambda item: (
            item.wrong / item.runs,
            abs(item.returned - item.truth) / max(abs(item.truth), 1e-9),
        ),
        default=None,
    )


def _finding(outcome: Outcome) -> str:
    """What a case showed: a rate with its interval, or a number against the truth."""
    if outcome.runs == 1:
        return f"says {outcome.returned:.5g}, truth {outcome.truth:.5g}"
    low, high = outcome.rate
    return f"wrong {outcome.wrong:,} of {outcome.runs:,}, rate in [{low:.3f}, {high:.3f}]"


def table(rows: Iterable[Row]) -> str:
    """Rows as a table in Markdown: what docs/tools.md holds.

    >>> table([]).splitlines()[0]
    '| tool | claim | verdict | worst case | what it showed | tightness | program |'
    """
    lines = [
        "| tool | claim | verdict | worst case | what it showed | tightness | program |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        worst, trial = _worst(row.outcomes), row.trial
        program = program_of(trial.name)
        cells = (
            f"{trial.tool} {row.version}".strip() + (" (by formula)" if trial.by_formula else ""),
            f"`{trial.name}`: ``{trial.call}``",
            row.verdict or "not judged",
            f"`{worst.case}`" if worst else row.skipped,
            _finding(worst) if worst else "",
            f"{row.tightness:.3f}" if math.isfinite(row.tightness) else "",
            f"`{program.name}`" if program else "",
        )
        lines.append(_line(*cells))
    return "\n".join(lines)


def quotes(trials: Iterable[Trial]) -> str:
    """The words that were judged, where they stand, what restricts them and what repairs them, as a table in Markdown.

    >>> quotes([]).splitlines()[0]
    '| claim | words | place | restricted by | later versions |'
    """
    lines = ["| claim | words | place | restricted by | later versions |", "|---|---|---|---|---|"]
    for trial in trials:
        if not trial.planted:
            words = (trial.claim, trial.place, trial.restricted_by, trial.repaired)
            lines.append(
                _line(
                    f"`{trial.name}`",
                    *(f"``{text.replace('`', chr(39))}``" if text else "" for text in words),
                )
            )
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
