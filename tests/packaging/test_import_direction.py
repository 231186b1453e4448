"""Imports run one way: figures -> verify -> sims -> mipsim."""

import ast
from pathlib import Path

import pytest

ORDER = ("mipsim", "sims", "verify", "figures")


def imported(source: str) -> set[str]:
    """Top-level names of all absolute imports, those inside functions included."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def above(package: str, source: str) -> set[str]:
    return imported(source) & (set(ORDER[ORDER.index(package) + 1 :]) | {"tests"})


@pytest.mark.parametrize("package", ORDER)
def test_imports_run_one_way(root: Path, package: str) -> None:
    files = sorted((root / package).rglob("*.py"))
    assert files
    wrong = {
        str(f.relative_to(root)): found for f in files if (found := above(package, f.read_text("utf-8")))
    }
    assert not wrong


def test_a_wrong_way_import_is_seen() -> None:
    assert above("mipsim", "def f():\n    from verify.claim import Claim\n") == {"verify"}
    assert above("sims", "import figures.style, mipsim") == {"figures"}
    assert above("figures", "from mipsim import Bernoulli\nimport sims\nfrom verify import claim") == set()


def test_drawing_and_networks_load_on_first_use(root: Path) -> None:
    """No module of the library imports them at its top level; `if TYPE_CHECKING` costs nothing."""
    lazy = {"matplotlib", "flax", "optax", "rich"}
    wrong = {}
    for file in sorted((root / "mipsim").rglob("*.py")):
        top = [
            n for n in ast.parse(file.read_text("utf-8")).body if isinstance(n, (ast.Import, ast.ImportFrom))
        ]
        if found := imported("\n".join(ast.unparse(n) for n in top)) & lazy:
            wrong[str(file.relative_to(root))] = found
    assert not wrong
