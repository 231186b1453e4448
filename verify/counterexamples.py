"""The tables of the documentation: `python -m verify.counterexamples [FOLDER]` writes those of `docs/findings.md` and README from stored results.

FOLDER was written by `python -m verify`: of each statement that it refuted its class and its simplest counterexample are stored first, in the
place of those of the same statement. Without it nothing is stored. The tables follow from what is stored and from the register alone.
"""

import csv
import io
import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mipsim._files import replace_file
from mipsim.referee import Limit
from mipsim.referee.defect import Defect
from mipsim.referee.replication import Replication
from sims.process import between
from verify import statement
from verify.register import PAPERS, REGISTER, paper_of

ROOT = Path(__file__).parents[1]
STORED = ROOT / "docs" / "counterexamples.csv"
FINDINGS, README = ROOT / "docs" / "findings.md", ROOT / "README.md"
HEADER = ("statement", "class", "what", "stated", "true", "size", "at")
Rows = Mapping[str, Mapping[str, str]]


def rows(file: Path = STORED) -> dict[str, dict[str, str]]:
    """Name of each statement that is refuted -> its stored row, in the order of the register.
    `file`: what `store` wrote.
    """
    with file.open(encoding="utf-8", newline="") as stream:
        known = {row["statement"]: row for row in csv.DictReader(stream)}
    return {name: known[name] for name in REGISTER if name in known}


def store(folder: Path, file: Path = STORED) -> None:
    """Store what a report shows of its refuted statements.
    `folder`: of the report; `file`: where to; rows of other statements stay. Raises ValueError where a correction is not CONFIRMED, which the
    tables say of all.
    """
    known = rows(file) if file.exists() else {}
    for entry in json.loads((folder / "verdicts.json").read_text("utf-8")):
        if entry["corrects"] and entry["verdict"] != "CONFIRMED":
            raise ValueError(
                f"the correction {entry['claim']} is {entry['verdict']}; it must be CONFIRMED to be counted"
            )
        known.pop(entry["claim"], None)
        if row := row_of(entry):
            known[entry["claim"]] = row
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    writer.writerows(known[name].values() for name in REGISTER if name in known)
    replace_file(file, text.getvalue().encode())


def row_of(entry: Mapping[str, Any]) -> dict[str, str] | None:
    """The stored row of an entry of verdicts.json; None where no printed statement is refuted.
    `entry`: as `verify.report.folder.record_of` returns it.
    """
    point = entry["simple_counterexample"] or entry["counterexample"]
    if point is None or entry["corrects"] is not None:
        return None
    second = point["second_route"]
    # JSON has words for infinity
    claim, value, low, high = (float(second[key]) for key in ("claim", "value", "low", "high"))
    seen = Replication(value, low, high, second["what"], second["how"], claim, one_sided=second["one_sided"])
    what, stated, true, _ = seen.for_readers()
    at = json.dumps(REGISTER[entry["claim"]].essential(point["parameters"]))
    cells = (entry["claim"], entry["defect"], what, stated, true, second["size"] or "", at)
    return dict(zip(HEADER, map(str, cells), strict=True))


def texts(stored: Rows) -> dict[Path, str]:
    """The two pages by their paths, with the tables that stored rows give.
    `stored`: what `rows` returns.
    """
    findings = FINDINGS.read_text("utf-8")
    for paper in PAPERS:
        findings = _between(findings, paper, _table(paper, stored))
    findings = _between(findings, "counts", _counts(stored))
    return {
        FINDINGS: findings,
        README: _between(
            _between(README.read_text("utf-8"), "counts", f"{_judged()}.\n"), "classes", _classes(stored)
        ),
    }


def _between(page: str, name: str, text: str) -> str:
    """The page with a new text between its two marks of this name."""
    mark = f"<!-- {name}: written by `python -m verify.counterexamples` -->\n"
    return between(page, mark, text, f"<!-- end of {name} -->\n")


_LIMIT = " (a limit)"


def _table(paper: str, stored: Rows) -> str:
    # A title names the authors of a paper's table, and the number where its words stand; beyond the papers each has its source and its words.
    field = paper == "field"
    had = statement.at_hand(f"{paper}-")
    lines = [
        *([had, ""] if had else []),
        f"These stand, as judged (the report has their scope): {', '.join(f'`{name}`' + _LIMIT * isinstance(REGISTER[name].kind, Limit) for name in _printed(paper) if name not in stored)}.",
        "",
        f"| statement | class |{' claim |' * field} why it fails | a counterexample | what holds |",
        f"|---|---|{'---|' * field}---|---|---|",
    ]
    for name, row in stored.items():
        if paper_of(name) == paper:
            item = REGISTER[name]
            number = item.source if field else item.source.partition(", ")[2]
            claim = f" {item.says} |" * field
            limit = " in the limit" if row["size"] else ""
            size = f" at size {int(row['size']):,}" if row["size"] and "n = " not in row["what"] else ""
            what = row["what"].replace("|", "\\|")
            lines.append(
                f"| {number} (`{name}`) | {row['class']} |{claim} {item.fails} | {what}: {row['stated']}{limit} by the claim, {row['true']} true{size} | {item.instead} |"
            )
    return "\n".join(lines) + "\n"


def _counted(names: Sequence[str], stored: Rows) -> Counter[str]:
    """How many of some statements of papers there are of each class, and how many stand."""
    return Counter(stored[name]["class"] if name in stored else "stand" for name in names)


def _printed(paper: str = "") -> list[str]:
    """The statements that papers print, all or those of a single paper."""
    return [
        name
        for name, item in REGISTER.items()
        if not item.corrects and (not paper or paper_of(name) == paper)
    ]


def _judged() -> str:
    points = sum(len(item.points) for item in REGISTER.values())
    return (
        f"`python -m verify` judges {len(REGISTER)} statements at {points:,} listed points, and at further points that fill the domain of most of them "
        "evenly"
    )


def _counts(stored: Rows) -> str:
    four = [name for name in _printed() if paper_of(name) != "field"]
    of = _counted(four, stored)
    corrections = sum(bool(item.corrects) for item in REGISTER.values())
    resting = [
        name
        for name in four
        if name in stored
        and any(used in stored for used in {*REGISTER[name].uses} - {*REGISTER[name].unreached})
    ]
    return (
        f"{_judged()}:\n\n| statements | number |\n|---|---|\n| of the four papers | {len(four)} |\n| of the field beyond them | {len(_printed('field'))} |\n"
        f"| corrections and companions that no paper prints, each with its derivation in the report | {corrections} |\n\n"
        f"At scale `standard`, of the four papers' statements {of['stand']} stand, {of['formula']} fail in their formula, {of['condition']} lack a condition, "
        f"{of['wording']} are slips of the pen, and {of['reading']} stand under\nsome readings of the text only. Of those that do not stand, {len(resting)} rest on others of them: a single gap may be counted several times.\nAll {corrections} corrections and companions are CONFIRMED. A limit, of these and of those that stand, is confirmed up to the size that the report names, where no theorem proves it.\n"
    )


def _classes(stored: Rows) -> str:
    kinds = ("stand", *Defect)
    lines = [
        f"| source | {' | '.join(kinds)} | corrections and companions |",
        f"|{'---|' * (len(kinds) + 2)}",
    ]
    for paper, item in statement.PAPERS.items():
        title = " ".join([item["short"], *re.findall(r"\(\d+\)", item["authors"])])
        of = _counted(_printed(paper), stored)
        twins = sum(bool(item.corrects) for item in REGISTER.values() if paper_of(item.name) == paper)
        lines.append(f"| {title} | {' | '.join(str(of[kind]) for kind in kinds)} | {twins} CONFIRMED |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Store the results of the folders that are named, then write the pages."""
    for folder in arguments:
        store(Path(folder))
    for path, text in texts(rows()).items():
        replace_file(path, text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
