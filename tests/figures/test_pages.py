"""The gallery's pages and README's strip are what the stored results give; nothing is plotted here."""

import re
from pathlib import Path

import pytest

from figures import pages
from figures.__main__ import FIGURES
from figures.check import REPORTED, Checked, check
from tests.packaging.test_prose import LONGEST, banned, lengths

PATHS = [
    pages.ROOT / "README.md",
    pages.FINDINGS,
    pages.FOLDER / "index.md",
    *(pages.FOLDER / f"{paper}.md" for paper in pages.PAPERS),
]


@pytest.fixture(scope="module")
def rows() -> list[Checked]:
    return check(pages.STORED, FIGURES)


def texts_of(rows: list[Checked], folder: Path) -> dict[Path, str]:
    """The pages of a folder whose figures were compared already."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "check", lambda *_: rows)
        return pages.texts(folder)


@pytest.fixture(scope="module")
def written(rows: list[Checked]) -> dict[Path, str]:
    return texts_of(rows, pages.STORED)


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_page_is_what_the_stored_results_give(path: Path, written: dict[Path, str]) -> None:
    assert set(written) == set(PATHS)
    assert path.read_text("utf-8") == written[path], "run `python -m figures.pages`"


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_page_is_plain_and_its_links_lead_somewhere(path: Path, written: dict[Path, str]) -> None:
    text = written[path]
    assert banned(text) == []
    assert all(words <= LONGEST for words, _ in lengths(text))
    targets = re.findall(r"\]\(([^)#]+)\)", text) + re.findall(r'(?:src|href)="([^"#]+)', text)
    assert [target for target in targets if "://" not in target and not (path.parent / target).exists()] == []


def test_every_row_of_a_stored_figure_is_compared(rows: list[Checked]) -> None:
    stored = {file.name.partition(".")[0] for file in pages.STORED.glob("*.csv.gz")}
    assert len(rows) == len(REPORTED)
    assert {row.figure for row in rows if row.verdict == "NO RESULT"}.isdisjoint(stored)
    assert not any(row.unexplained for row in rows)
    formulas = {(row["figure"], row["what"]) for row in REPORTED if row["how"] == "formula"}
    assert [row.verdict for row in rows if (row.figure, row.what) in formulas] == ["AGREES"] * len(formulas)


def test_a_changed_number_changes_the_count(
    tmp_path: Path, rows: list[Checked], written: dict[Path, str]
) -> None:
    """The control: a stored table 1 per cent off is seen on its page and in README."""
    for file in pages.STORED.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with pages.opened(tmp_path / "izzo_fig1.csv") as stream:
        lines = stream.read().splitlines()
    head, *cells, last = lines[-1].split(",")
    off = ",".join([head, *cells, str(1.01 * float(last))])
    (tmp_path / "izzo_fig1.csv").write_text("\n".join([*lines[:-1], off]), "utf-8")
    again = iter(check(tmp_path, ["izzo_fig1"]))  # the other tables are as they were
    rows = [next(again) if row.figure == "izzo_fig1" else row for row in rows]
    changed = {path.name for path, text in texts_of(rows, tmp_path).items() if text != written[path]}
    assert changed == {"izzo.md", "index.md", "README.md"}
