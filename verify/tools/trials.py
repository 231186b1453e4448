"""The register of claims that public tools document, and its page: `python -m verify.tools.trials` judges them and writes the results into it.

A row of a tool that is not installed stays as it is.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from mipsim._files import replace_file
from verify.stored import place_for, store
from verify.tools.accountants import ACCOUNTANTS
from verify.tools.estimators import ESTIMATORS
from verify.tools.trial import Outcome, Row, Trial, judge

TRIALS: tuple[Trial, ...] = (*ESTIMATORS, *ACCOUNTANTS)
"""All trials, controls first."""
PROGRAMS = Path(__file__).parent / "programs"
"""Programs that show a refutation without mipsim."""
PAGE = Path(__file__).parents[2] / "docs" / "tools.md"
HEAD = "| tool | claim | verdict | worst case | what it showed | tightness | program |\n|---|---|---|---|---|---|---|\n"


def show(out: str | None = None, seed: int = 0) -> list[Row]:
    """Judge the trials and print a line of each; the rows go as JSON to a file, or for "-" to standard output.
    Raises ValueError if the folder of the file cannot be written; before anything is judged.
    """
    text = place_for(out)

    def say(row: Row) -> None:
        worst = _worst(row.outcomes)
        message = row.skipped or (f"{worst.case}: {_finding(worst)}" if worst else "")
        print(f"{row.trial.name:<34}{row.verdict or 'not judged':<13} {message}", flush=True, file=text)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tools warn of their own limits; what they say is judged
        rows = judge(TRIALS, seed, say)
    fields = ("version", "verdict", "skipped", "tightness")
    store(out, [{"name": row.trial.name} | {name: getattr(row, name) for name in fields} | {"outcomes": [asdict(item) for item in row.outcomes]} for row in rows])  # fmt: skip
    return rows


def _worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The case with the most wrong bounds, of equal ones that farthest from the truth; None of none."""

    def rank(item: Outcome) -> tuple[float, float]:
        return item.wrong / item.runs, abs(item.returned - item.truth) / max(abs(item.truth), 1e-9)

    return max(outcomes, key=rank, default=None)


def _finding(outcome: Outcome) -> str:
    """What a case showed: a rate with its interval, or a number against the truth."""
    if outcome.runs == 1:
        return f"says {outcome.returned:.5g}, truth {outcome.truth:.5g}"
    low, high = outcome.rate
    return f"wrong {outcome.wrong:,} of {outcome.runs:,}, rate in [{low:.3f}, {high:.3f}]"


def line(row: Row) -> str:
    """A row of the page's table of results, in Markdown."""
    worst, trial = _worst(row.outcomes), row.trial
    program = PROGRAMS / f"{trial.name.replace('-', '_')}.py"
    return _line(
        f"{trial.tool} {row.version}".strip() + (" (by formula)" if trial.by_formula else ""),
        f"`{trial.name}`: ``{trial.call}``",
        row.verdict or "not judged",
        f"`{worst.case}`" if worst else row.skipped,
        _finding(worst) if worst else "",
        f"{row.tightness:.3f}" if math.isfinite(row.tightness) else "",
        f"`{program.name}`" if program.is_file() else "",
    )


def lines_of(page: str) -> dict[str, str]:
    """Name of each trial -> its line in the page's table of results.
    >>> lines_of(HEAD)
    {}
    """
    rows = page.partition(HEAD)[2].partition("\n\n")[0].splitlines()
    return {row.split("`")[1]: row for row in rows}


def quotes(trials: Iterable[Trial]) -> str:
    """The words that were judged, where they stand, what restricts them and what repairs them, as a table in Markdown.
    >>> quotes([]).splitlines()[0]
    '| claim | words | place | restricted by | later versions |'
    """
    lines = ["| claim | words | place | restricted by | later versions |", "|---|---|---|---|---|"]
    for trial in trials:
        if not trial.planted:
            words = (trial.claim, trial.place, trial.restricted_by, trial.repaired)
            cells = (f"``{text.replace('`', chr(39))}``" if text else "" for text in words)
            lines.append(_line(f"`{trial.name}`", *cells))
    return "\n".join(lines)


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    results = show(seed=int(sys.argv[1]) if sys.argv[1:] else 0)
    text = PAGE.read_text("utf-8")
    before, known = text.partition(HEAD)[0], lines_of(text)
    known |= {row.trial.name: line(row) for row in results if not row.skipped or row.trial.name not in known}
    rest = text.partition(HEAD)[2].partition("\n\n")[2].partition("| claim | words |")
    after = rest[2].partition("\n\n")[2]
    rows = "\n".join(known[trial.name] for trial in TRIALS)
    replace_file(PAGE, f"{before}{HEAD}{rows}\n\n{rest[0]}{quotes(TRIALS)}\n\n{after}".encode())
