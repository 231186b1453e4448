"""What holds for every file: its words, and where it may not point."""

import os
import re
from pathlib import Path

import pytest

PACKAGES = ("mipsim", "sims", "verify", "figures", "tests")

# Spelt in pieces, so that this file passes its own test.
REGISTRIES = [
    "py" + "pi.org", "python" + "hosted.org", "ana" + "conda.org", "npm" + "js.org", "npm" + "js.com",
    "index" + "-url", "extra" + "-index", "find" + "-links", "trusted" + "-host",
]  # fmt: skip
PLACES = [
    "shared" + "/design",
    "shared" + "/spec",
    "shared" + "/papers",
    "/work" + "/",
    "/tmp" + "/venv",
    "/opt" + "/wheels",
]
UNFINISHED = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|X" + r"XX)\b")


def text_of(file: Path) -> str:
    content = file.read_bytes()
    return "" if b"\0" in content else content.decode("utf-8")


@pytest.mark.parametrize("words", [REGISTRIES, PLACES], ids=["registry hosts", "places outside the project"])
def test_no_file_names(tracked_files: list[Path], words: list[str]) -> None:
    assert len(tracked_files) > 20
    wrong = {str(f): w for f in tracked_files for w in words if w in text_of(f)}
    assert wrong == {}


def test_nothing_is_left_unfinished(tracked_files: list[Path]) -> None:
    assert [str(f) for f in tracked_files if UNFINISHED.search(text_of(f))] == []


def test_the_lock_and_the_results_are_not_tracked(root: Path, tracked_files: list[Path]) -> None:
    names = {str(f.relative_to(root)) for f in tracked_files}
    assert "uv.lock" not in names
    assert not any(name.startswith("results/") for name in names)
    ignored = (root / ".gitignore").read_text("utf-8").split()
    assert {"uv.lock", "results/"} <= set(ignored)


def test_pictures_are_small(root: Path, tracked_files: list[Path]) -> None:
    heavy = {f.name: f.stat().st_size for f in tracked_files if f.stat().st_size > 400_000}
    assert heavy == {}
    assert (root / "figures/images/verdict.png").stat().st_size < 200_000


def test_ci_runs_the_readme_commands(root: Path) -> None:
    readme, script = (root / "README.md").read_text("utf-8"), (root / ".ci/run").read_text("utf-8")
    run_tests = "python3 -m pip install uv && uv run pytest"
    assert run_tests in readme
    assert run_tests in script
    assert "python3 -m pip install uv && uv run python -m verify" in readme
    assert script.startswith("#!/usr/bin/env bash")
    assert "set -euo pipefail" in script
    for check in ("uv run ruff check", "uv run ruff format --check", "uv run pyright"):
        assert check in script.splitlines()
    assert os.access(root / ".ci/run", os.X_OK)
