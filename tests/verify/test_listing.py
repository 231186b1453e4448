"""The kept list of the statements is the register's own, and is told without an import of JAX."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sims.kept_list import CHECKOUT
from verify import listing
from verify.register import REGISTER

ASK = """
import runpy, sys
sys.argv = {argv!r}
try:
    runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)
except SystemExit as stop:
    print('status', stop.code or 0, 'jax' in sys.modules, file=sys.stderr)
"""


def asked(*argv: str) -> tuple[list[str], list[str]]:
    """The lines on stdout and stderr; the last of these has the status and whether JAX was imported."""
    done = subprocess.run(
        [sys.executable, "-c", ASK.format(argv=list(argv))], cwd=CHECKOUT, capture_output=True, text=True
    )
    return done.stdout.splitlines(), done.stderr.splitlines()


def test_the_kept_list_is_the_registers() -> None:
    """Red where a statement has changed since: `python -m verify.listing` writes the list anew."""
    assert listing.STATEMENTS.current() == listing.rows_of(REGISTER.values())


def test_the_pages_count_the_register_as_it_is() -> None:
    """A statement that was added made all three pages wrong."""
    count, points = len(REGISTER), sum(len(one.points) for one in REGISTER.values())
    for page in ("README.md", "docs/findings.md", "figures/notebooks/reading_a_report.py"):
        assert f"judges {count} statements" in (CHECKOUT / page).read_text("utf-8"), page
    for page in ("README.md", "docs/findings.md"):
        assert f"at {points:,} listed" in (CHECKOUT / page).read_text("utf-8"), page
    table = (
        (CHECKOUT / "README.md")
        .read_text("utf-8")
        .partition("corrections and companions |")[2]
        .partition("\n\n")[0]
    )
    assert sum(map(int, re.findall(r"\b\d+\b", re.sub(r"\(\d{4}\)", "", table)))) == count


@pytest.mark.parametrize(
    "argv",
    [
        ("verify", "--list"),
        ("sims", "list"),
        ("sims", "--list"),
        ("sims", "run", "--list"),
        ("figures", "--list"),
    ],
)
def test_lists_wait_for_no_import(argv: tuple[str, ...]) -> None:
    lines, said = asked(*argv)
    assert said == ["status 0 False"]
    assert len(lines) > 15
    if argv[0] == "verify":
        assert lines == listing.lines_of(listing.rows_of(REGISTER.values()))


def test_an_unknown_claim_waits_for_no_import() -> None:
    lines, said = asked("verify", "azize-thm-31")
    assert lines == []
    assert said[-1] == "status 2 False"
    assert "close names: azize-thm-3.1-power, azize-thm-3.1-power-corrected" in said[0]


def names_behind(tree: ast.Module) -> set[str]:
    """The names from which a module puts together what its statements are called and say."""
    own = {
        target.id: line.value
        for line in tree.body
        if isinstance(line, ast.Assign)
        for target in line.targets
        if isinstance(target, ast.Name)
    }
    left = [
        one.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for one in node.keywords
        if one.arg in ("name", "says")
    ]
    found: set[str] = set()
    while left:
        names = {x.id for x in ast.walk(left.pop()) if isinstance(x, ast.Name)} - found
        found |= names
        left += [own[name] for name in names if name in own and not isinstance(own[name], ast.Call)]
    return found


def foreign(tree: ast.Module) -> set[str]:
    """What a module imports from where the list does not look."""
    lines = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    return {
        alias.asname or alias.name
        for line in lines
        if not (line.module or "").startswith("verify.")
        for alias in line.names
    }


@pytest.mark.parametrize(
    "path", [path for path in listing.sources() if "verify" in path.parts], ids=lambda path: path.stem
)
def test_words_come_from_the_sources_of_the_list_alone(path: Path) -> None:
    """Else a change elsewhere could change them, and the list would be believed."""
    tree = ast.parse(path.read_text("utf-8"))
    assert not names_behind(tree) & foreign(tree)


def test_words_from_elsewhere_would_be_seen() -> None:
    tree = ast.parse(
        "from sims.a import LAWS\nBOTH = ' and '.join(LAWS) + '.'\nS = Statement(name='s', says='Of ' + BOTH)"
    )
    assert names_behind(tree) & foreign(tree) == {"LAWS"}
