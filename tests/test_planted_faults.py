"""The tests themselves are tested: every planted fault is caught by the default run. Run by name: -m slow."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.planted_faults import FAULTS, Fault

ROOT = Path(__file__).parents[1]
PARTS = ("mipsim", "sims", "verify", "figures", "tests", "pyproject.toml", "README.md", "CHANGELOG.md")
LEAST = 40


def test_there_are_enough_of_them_and_each_can_be_planted():
    assert len(FAULTS) >= LEAST
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) == 1, fault.name
        assert fault.old != fault.new, fault.name
        assert all((ROOT / test.split("::")[0]).exists() for test in fault.caught_by), fault.name


@pytest.fixture(scope="module")
def copy(tmp_path_factory) -> Path:
    """The checkout once more, to be spoilt."""
    root = tmp_path_factory.mktemp("planted")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif (ROOT / part).exists():
            shutil.copy(ROOT / part, root / part)
    return root


def run(root: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run tests of the default run until one fails."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", *tests]
    env = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, timeout=1800, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught(copy: Path, fault: Fault):
    path = copy / fault.file
    right = path.read_text(encoding="utf-8")
    path.write_text(right.replace(fault.old, fault.new), encoding="utf-8")
    try:
        done = run(copy, fault.caught_by)
    finally:
        path.write_text(right, encoding="utf-8")
    assert done.returncode == 1, f"not caught:\n{done.stdout[-3000:]}\n{done.stderr[-1000:]}"


@pytest.mark.slow
def test_nothing_fails_where_nothing_is_planted(copy: Path):
    tests = tuple(sorted({test for fault in FAULTS for test in fault.caught_by}))
    done = run(copy, tests)
    assert done.returncode == 0, done.stdout[-3000:]
