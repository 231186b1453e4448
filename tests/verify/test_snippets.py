"""Counterexamples that need NumPy and SciPy alone: each runs, without mipsim, and contradicts its statement."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from verify.register import REGISTER
from verify.standalone import SNIPPETS, snippet_of

FILES = sorted(SNIPPETS.glob("*.py"))
ALONE = """
import contextlib, io, runpy, sys
sys.modules.update(mipsim=None, verify=None, sims=None)  # importing any of these is an error
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(path)
        except BaseException as error:
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
    if not printed.getvalue().strip():
        print(f"{path}: says nothing", file=sys.stderr)
"""


def failures(*paths: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", ALONE, *map(str, paths)],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stderr.splitlines()


@pytest.mark.system
def test_each_contradicts_its_statement():
    assert failures(*FILES) == []


def test_a_program_that_does_not_is_detected(tmp_path):
    """The control: what fails, what needs mipsim, what says nothing."""
    texts = ("print(1)\nassert 1 > 2", "print(1)\nimport mipsim", "x = 1")
    paths = [tmp_path / f"{k}.py" for k in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    assert [line.partition(": ")[2].partition(":")[0] for line in failures(*paths)] == [
        "AssertionError", "ModuleNotFoundError", "says nothing",
    ]  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_it_is_short_and_asserts_and_uses_libraries_alone(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 60
    used = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        for name in (
            [item.name for item in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert used <= {"numpy", "scipy", *sys.stdlib_module_names}


def test_each_is_of_a_statement():
    known = {re.sub("[-.]", "_", name) for name in REGISTER}
    assert {path.stem for path in FILES} <= known
    assert all(item.snippet == snippet_of(item.name) for item in REGISTER.values())
    assert not any(single.snippet for single in REGISTER.values() if single.corrects)
