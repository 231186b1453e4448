"""The page that names the trusted base names files that exist, with about as many lines as it says."""

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "trusted-base.md"


def lines_of(path: Path) -> int:
    files = sorted(path.rglob("*.py")) if path.is_dir() else [path]
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def rows() -> Iterator[tuple[str, int]]:
    """What each row names, a path or several, and the lines that it states."""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and cells[2].isdigit():
            yield cells[0], int(cells[2])


def paths_in(cell: str) -> list[Path]:
    result, folder = [], ""
    for name in re.findall(r"`([\w/]+(?:\.py|/))`", cell):
        at = ROOT / "mipsim" / name
        if not at.exists():  # named after another of the same folder
            at = ROOT / "mipsim" / folder / name
        folder = str(at.parent.relative_to(ROOT / "mipsim"))
        result.append(at)
    return result


@pytest.mark.parametrize(("cell", "stated"), list(rows()), ids=lambda value: str(value)[:30])
def test_lines_are_those_of_the_tree(cell: str, stated: int) -> None:
    result = paths_in(cell)
    assert result
    assert all(path.exists() for path in result), cell
    counted = sum(map(lines_of, result))
    assert abs(counted - stated) <= 0.25 * counted, f"{cell} has {counted} lines; the page says {stated}"


def test_every_module_of_judging_is_named() -> None:
    page = PAGE.read_text(encoding="utf-8")
    judging = {path.name for path in (ROOT / "mipsim/referee/judging").glob("[!_]*.py")}
    assert {name for name in judging if f"{name}`" not in page} <= {"compare_exact.py"}


@pytest.mark.system
def test_the_lines_of_a_verdict_are_as_stated_and_their_modules_are_named() -> None:
    page = PAGE.read_text(encoding="utf-8")
    stated = re.search(r"`azize-gdp-corrected` \|.*?\| CONFIRMED \| (\d+) \|", page)
    assert stated
    run = [sys.executable, "-m", "verify", "--trace", "azize-gdp-corrected"]
    done = subprocess.run(run, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    title, *rows = done.stdout.splitlines()
    assert title.startswith("azize-gdp-corrected: CONFIRMED, by ")
    ran: Counter[str] = Counter()
    for lines, file, _ in (row.split(maxsplit=2) for row in rows):
        ran[file] += int(lines)
    assert abs(ran.total() - int(stated[1])) <= 0.1 * int(stated[1])
    # The lines of modules that the page does not name are a tenth at most.
    unnamed = {
        file: lines
        for file, lines in ran.items()
        if f"{Path(file).name}`" not in page and "verify" not in file
    }
    assert sum(unnamed.values()) <= 0.1 * ran.total(), unnamed
