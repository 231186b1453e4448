"""A list beside what it lists: void once a source says otherwise, and cut for a terminal alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from sims import kept_list
from sims.kept_list import KeptList
from sims.listing import STUDIES as KEPT
from sims.studies import STUDIES


def made_of(tmp_path: Path) -> KeptList:
    """The words of all sources in a folder."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "a.py").write_text("one\n")
    (folder / "b.py").write_text("two β\n")
    return KeptList(
        tmp_path / "list.json",
        lambda: folder.glob("*.py"),
        lambda: [[path.read_text().strip()] for path in sorted(folder.glob("*.py"))],
    )


def test_the_kept_studies_are_the_registers() -> None:
    """Red where a study has changed since: `python -m verify.listing` writes the list anew."""
    assert KEPT.current() == [[one.name, one.description] for one in STUDIES.values()]


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    kept = made_of(tmp_path)
    assert kept.current() is None
    assert kept.rows() == [["one"], ["two β"]]
    assert kept.write()
    assert kept.current() == [["one"], ["two β"]]
    assert not kept.write()


@pytest.mark.parametrize(
    "change",
    [
        lambda folder: (folder / "a.py").write_text("two\n"),
        lambda folder: (folder / "c.py").write_text("three\n"),
        lambda folder: (folder / "b.py").unlink(),
        lambda folder: (folder / "b.py").rename(folder / "d.py"),
    ],
    ids=["changed", "come", "gone", "renamed"],
)
def test_a_changed_source_makes_it_void(tmp_path: Path, change: Callable[[Path], object]) -> None:
    kept = made_of(tmp_path)
    kept.write()
    change(tmp_path / "sources")
    assert kept.current() is None
    assert kept.rows() == kept.made()


def test_the_ends_of_lines_and_other_files_are_no_change(tmp_path: Path) -> None:
    kept = made_of(tmp_path)
    kept.write()
    (tmp_path / "sources" / "a.py").write_bytes(b"one\r\n")
    (tmp_path / "sources" / "notes.txt").write_text("no source")
    assert kept.current() == [["one"], ["two β"]]


@pytest.mark.parametrize("damage", [b"", b"\xff", b"[]", b"{}", b'{"sources": {}}'])
def test_a_damaged_list_is_none(tmp_path: Path, damage: bytes) -> None:
    kept = made_of(tmp_path)
    kept.write()
    kept.file.write_bytes(damage)
    assert kept.current() is None


def test_a_list_without_rows_is_none(tmp_path: Path) -> None:
    kept = made_of(tmp_path)
    kept.write()
    told = json.loads(kept.file.read_bytes())
    kept.file.write_text(json.dumps(told | {"rows": 3}))
    assert kept.current() is None


def test_a_terminal_cuts_lines_and_a_file_does_not(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    kept_list.show(["twelve words", "ten"])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    kept_list.show(["twelve words", "ten"])
    assert capsys.readouterr().out.splitlines() == ["twelve words", "ten", "twelve wo…", "ten"]
