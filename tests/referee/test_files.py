"""The files of the report are never half-written, and a folder that cannot be written is a single sentence."""

import json
import os
from itertools import product
from pathlib import Path

import pytest

import mipsim as mi
from mipsim._files import replace_file, writable_folder
from mipsim.referee import report_audit
from tests.faults.hostile_files import hidden


def test_a_write_that_fails_leaves_what_was_there(tmp_path, monkeypatch):
    file = tmp_path / "verdicts.json"
    replace_file(file, "old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        replace_file(file, "new")
    assert file.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["verdicts.json"]


def test_a_reader_never_sees_half_a_file(tmp_path, monkeypatch):
    file = tmp_path / "index.html"
    replace_file(file, "old")
    seen = []
    rename = os.replace
    monkeypatch.setattr(os, "replace", lambda a, b: (seen.append(file.read_text()), rename(a, b))[1])
    replace_file(file, "n" * 1_000_000)
    assert seen == ["old"]
    assert file.read_text() == "n" * 1_000_000


def test_a_folder_that_cannot_be_written_is_a_single_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    for folder, make in product(
        (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/nothing")), (False, True)
    ):
        with pytest.raises(
            ValueError, match=r"^--out is '.*' \(.*\); it must be a folder that can be written$"
        ):
            writable_folder("--out", folder, make=make)
    assert not writable_folder("--out", tmp_path / "a" / "b", make=False).parent.exists()


def test_a_report_replaces_a_link_and_leaves_what_it_names(tmp_path):
    victim, link = tmp_path / "victim", tmp_path / "results.json"
    victim.write_text("mine")
    for name in (victim, tmp_path / "nothing"):
        link.symlink_to(name)
        replace_file(link, "new", follow=False)
        assert (link.read_text(), link.is_symlink(), victim.read_text()) == ("new", False, "mine")
        link.unlink()
    assert not (tmp_path / "nothing").exists()


def test_a_report_of_an_audit_follows_no_link_and_holds_no_control_character(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    for name in ("results.json", "index.html"):
        (tmp_path / name).symlink_to(victim)
    scores = list(range(200))
    result = mi.audit(scores, [0] * 100 + [1] * 100, design="independent", runs=200)
    report_audit(result, tmp_path, {"by": "\x9b31m"})
    assert victim.read_text() == "mine"
    text = (tmp_path / "results.json").read_text("utf-8")
    assert json.loads(text)["about"] == {"by": "\x9b31m"}
    assert not hidden(text)
