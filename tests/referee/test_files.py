"""The files of the report are never half-written, and a folder that cannot be written is a single sentence."""

import os
from itertools import product
from pathlib import Path

import pytest

from mipsim._files import replace_file, writable_folder


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
