"""The programs of reports need NumPy and SciPy alone: each runs, without mipsim, and shows what the second route shows."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mipsim import referee as rf
from mipsim.referee.replication import replicate
from mipsim.referee.result import PointResult
from verify import counterexamples
from verify.program import NOT_ALONE, program_of
from verify.register import REGISTER

STORED = {name: row for name, row in counterexamples.rows().items() if name not in NOT_ALONE}
ALONE = """
import contextlib, io, runpy, sys
sys.modules.update(mipsim=None, verify=None, sims=None)  # importing any of these is an error
for path in sys.argv[1:]:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        try:
            runpy.run_path(path)
        except BaseException as error:
            print(f"{path}: {type(error).__name__}: {error}", file=sys.stderr)
    print(printed.getvalue().strip().replace(chr(10), " ") or "says nothing")
"""


def runs(*paths: Path) -> tuple[list[str], list[str]]:
    """(What each program prints, on a line, the errors)."""
    command = [sys.executable, "-I", "-c", ALONE, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return done.stdout.splitlines(), done.stderr.splitlines()


def program(name: str, seen: rf.Replication, at: dict[str, object]) -> str:
    point = PointResult(at, rf.Verdict.REFUTED, 0, 1.0, (0.9, 1.1), 1.1, 0.1, second_route=seen)
    return program_of(REGISTER[name], point)


@pytest.mark.system
def test_each_shows_what_its_second_route_shows(tmp_path: Path) -> None:
    """At the counterexample that is stored; draws split ties by other coins, so that ends and not numbers are compared."""
    routes, paths = {}, []
    for name, row in STORED.items():
        at = REGISTER[name].inside(
            {key: x for key, x in json.loads(row["at"]).items() if key in REGISTER[name].free}
        )
        routes[name] = replicate(REGISTER[name], at)
        assert routes[name].excludes, name
        paths.append(tmp_path / f"{name}.py")
        paths[-1].write_text(program(name, routes[name], at))
    printed, errors = runs(*paths)
    assert errors == []
    for (name, seen), line in zip(routes.items(), printed, strict=True):
        ends = re.search(r"in \[(\S+), (\S+)\]; the statement says", line)
        assert ends, (name, line)
        low, high = map(float, ends.groups())
        assert low <= seen.high + 1e-5 * abs(seen.high), (name, line)
        assert seen.low <= high + 1e-5 * abs(high), (name, line)


def test_a_program_that_does_not_is_detected(tmp_path: Path) -> None:
    """The control: what fails, what needs mipsim, what says nothing."""
    texts = ("print(1)\nassert 1 > 2", "print(1)\nimport mipsim", "x = 1")
    paths = [tmp_path / f"{k}.py" for k in range(3)]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    printed, errors = runs(*paths)
    assert printed == ["1", "1", "says nothing"]
    assert [line.partition(": ")[2].partition(":")[0] for line in errors] == [
        "AssertionError",
        "ModuleNotFoundError",
    ]


@pytest.mark.parametrize("name", STORED)
def test_it_asserts_and_uses_libraries_alone(name: str) -> None:
    statement = REGISTER[name]
    seen = rf.Replication(1.0, 1.0, 1.0, STORED[name]["what"], "invented", claim=0.0)
    tree = ast.parse(program(name, seen, dict(statement.points[0].at)))
    assert ast.get_docstring(tree)
    assert any(isinstance(node, ast.Assert) for node in tree.body)
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


def test_each_refuted_statement_has_one() -> None:
    assert {*STORED, *NOT_ALONE} == {name for name, item in REGISTER.items() if item.fails}
