"""The kept list of the statements: the same words as the register's own, and void after any change."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from verify import listing
from verify.register import REGISTER

ASK = (
    "import runpy, sys\n"
    "sys.argv = ['verify', '--list']\n"
    "try:\n"
    "    runpy.run_module('verify', run_name='__main__', alter_sys=True)\n"
    "except SystemExit as stop:\n"
    "    assert not stop.code, stop.code\n"
    "print('jax' in sys.modules, file=sys.stderr)\n"
)


def test_the_second_asking_waits_for_no_import_and_says_the_same(tmp_path: Path) -> None:
    root = Path(listing.__file__).parents[1]
    surroundings = os.environ | {"XDG_CACHE_HOME": str(tmp_path)}
    asked = [
        subprocess.run(
            [sys.executable, "-c", ASK], cwd=root, env=surroundings, capture_output=True, text=True
        )
        for _ in range(2)
    ]
    assert [done.stderr.strip() for done in asked] == ["True", "False"]
    assert asked[0].stdout == asked[1].stdout
    assert asked[1].stdout.splitlines() == listing.lines_of(REGISTER.values())


@pytest.mark.parametrize("change", ["new", "longer", "later", "gone"])
def test_any_change_of_a_source_makes_a_kept_list_void(tmp_path: Path, change: str) -> None:
    for package in listing.PACKAGES:
        (tmp_path / package).mkdir()
    source = tmp_path / "sims" / "a.py"
    source.write_text("A = 1\n")
    (tmp_path / "sims" / "notes.md").write_text("no source")
    file = tmp_path / "cache" / "statements.json"
    listing.keep(listing.state_of_sources(tmp_path), ["one"], file)
    (tmp_path / "sims" / "notes.md").write_text("changed, and still no source")
    assert listing.kept(listing.state_of_sources(tmp_path), file) == ["one"]
    if change == "new":
        (tmp_path / "verify" / "hunted.json").write_text("{}")
    elif change == "longer":
        source.write_text("A = 10\n")
    elif change == "later":
        os.utime(source, ns=(0, source.stat().st_mtime_ns + 1_000_000))
    else:
        source.unlink()
    assert listing.kept(listing.state_of_sources(tmp_path), file) is None


def test_another_data_directory_makes_a_kept_list_void(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIPSIM_DATA", "here")
    before = listing.state_of_sources(tmp_path)
    monkeypatch.setenv("MIPSIM_DATA", "there")
    assert listing.state_of_sources(tmp_path) != before


@pytest.mark.parametrize(
    "damaged", [b"", b"\xff", b"[]", b"{}", b'{"state": "now"}', b'{"state": "now", "lines": 3}']
)
def test_a_damaged_kept_list_is_none(tmp_path: Path, damaged: bytes) -> None:
    file = tmp_path / "statements.json"
    file.write_bytes(damaged)
    assert listing.kept("now", file) is None


def test_where_nothing_can_be_kept_the_list_is_printed_all_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("in the way")
    assert listing.list_all(tmp_path / "file" / "statements.json") == 0
    assert capsys.readouterr().out.splitlines() == listing.lines_of(REGISTER.values())


def test_what_is_kept_is_what_is_read_and_a_foreign_state_is_not(tmp_path: Path) -> None:
    file = tmp_path / "statements.json"
    listing.keep("now", ["a", "β"], file)
    assert listing.kept("now", file) == ["a", "β"]
    assert json.loads(file.read_bytes())["state"] == "now"
    assert listing.kept("later", file) is None
