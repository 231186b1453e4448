"""Imports run in a single direction: figures -> verify -> sims -> mipsim, and within mipsim from the upper floors to the lower.

Every import counts alike, at the top of a file, inside a function or under TYPE_CHECKING: what needs a type knows the file
that defines it. An import from a package counts as an import from the file that its `__init__` takes the name from.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

PACKAGES = ("mipsim", "sims", "verify", "figures")
FLOORS = (
    "check", "_version", "_words", "_memory", "_validation", "_frozen", "_signals", "_files", "_archives", "_compiled", "_samplers",
    "_precision", "_pure", "_content_seed", "_family", "_roots", "_powers", "_extras", "_verdict",
    "_budget", "_printed", "_command_line", "_progress", "data", "special", "sums", "tradeoff", "distributions", "theory",
    "mechanisms", "attacks", "games", "forms", "bands", "engine", "nn", "exact", "audits", "_certify", "_light", "_public", "referee",
    "__main__",
)  # fmt: skip
"""Folders and files of mipsim from the ground up; each may use those before it."""

Graph = dict[str, set[str]]
LATE = frozenset(
    (f"mipsim.{a}", f"mipsim.{b}")
    for a, b in (
        ("tradeoff.base", "tradeoff.inverse"),
        ("tradeoff.base", "tradeoff.convex_hull"),
        ("tradeoff.base", "tradeoff.renyi"),
        ("tradeoff.base", "referee.judging.compare_exact"),
        ("tradeoff.base", "bands.drawing"),
        ("tradeoff.display", "bands.drawing"),
        ("bands.empirical_tradeoff", "bands.drawing"),
        ("distributions.base", "distributions.agreement"),
        ("games.base", "engine.recipe"),
        ("games.base", "engine.route"),
        ("games.base", "exact.dispatch"),
        ("games.base", "tradeoff.exact_tradeoff"),
        ("audits.result", "referee.reporting.audit_page"),
    )
)
"""Imports inside methods of a base class, which return what is built on it: the only ones that lead up."""


def module(root: Path, file: Path) -> str:
    return ".".join(file.relative_to(root).with_suffix("").parts).removesuffix(".__init__")


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements below these, without the expressions, which hold no import."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, []))


@cache
def imports(source: str, top: bool = False) -> list[tuple[str, str]]:
    """(module, name) of every absolute import in a file, wherever it stands, or at its top level alone."""
    result, body = [], ast.parse(source).body
    for node in body if top else statements(body):
        if isinstance(node, ast.Import):
            result += [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            result += [(node.module or "", alias.name) for alias in node.names]
    return result


def graph(sources: dict[str, str], late: frozenset[tuple[str, str]] = LATE) -> Graph:
    """File -> the files of these that it imports, but for what is imported late."""
    result = {name: imports(source) for name, source in sources.items()}
    packages = {name.rpartition(".")[0] for name in result} & set(result)

    def home(where: str, name: str) -> str:
        if f"{where}.{name}" in result:
            return f"{where}.{name}"
        for inner, exported in result[where] if where in packages else ():
            if exported == name and inner in result:
                return home(inner, name)
        return where

    return {
        name: {
            used
            for where, what in pairs
            if where in result and (name, used := home(where, what)) not in late and used != name
        }
        for name, pairs in result.items()
        if name not in packages
    }


@cache
def arrows(root: Path) -> Graph:
    """The graph of all files of the four packages."""
    files = [file for package in PACKAGES for file in sorted((root / package).rglob("*.py"))]
    return graph({module(root, file): file.read_text("utf-8") for file in files})


def circle(edges: Graph) -> list[str]:
    """The files of a circle, or none."""
    try:
        TopologicalSorter(edges).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def floor(name: str) -> int:
    """The place of a file among the floors of mipsim; a package's own `__init__` stands on top."""
    within = name.removeprefix("mipsim").removeprefix(".")
    heights = [i for i, unit in enumerate(FLOORS) if within == unit or within.startswith(f"{unit}.")]
    assert heights or not within, f"{name} stands on no floor; say in FLOORS what it may use"
    return heights[0] if heights else len(FLOORS)


def upward(edges: Graph) -> set[tuple[str, str]]:
    """The imports that lead to a package, or to a floor of mipsim, above the importing file."""

    def height(name: str) -> tuple[int, int]:
        package = PACKAGES.index(name.partition(".")[0])
        return package, 0 if package else floor(name)

    return {(a, b) for a, used in edges.items() for b in used if height(b) > height(a)}


def rooms(edges: Graph) -> Graph:
    """Folder or file -> those beside it that its files import, for every folder of every package."""
    result: Graph = {}
    for a, used in edges.items():
        for b in used:
            item, other = a.split("."), b.split(".")
            same = next(
                (i for i, pair in enumerate(zip(item, other, strict=False)) if pair[0] != pair[1]), None
            )
            if same:  # within a package
                result.setdefault(".".join(item[: same + 1]), set()).add(".".join(other[: same + 1]))
    return result


def test_imports_run_one_way(root: Path) -> None:
    """No circle of files, or of the files and folders that lie side by side, and none that runs back up."""
    assert circle(arrows(root)) == []
    edges = rooms(arrows(root))
    assert {name.partition(".")[0] for name in edges} == set(PACKAGES)
    assert circle(edges) == []
    assert upward(arrows(root)) == set()


def test_late_imports_are_used_and_no_other_file_reaches_up_by_a_string(root: Path) -> None:
    files = {file: file.read_text("utf-8") for file in sorted((root / "mipsim").rglob("*.py"))}
    made = graph({module(root, file): source for file, source in files.items()}, late=frozenset())
    assert {(a, b) for a, used in made.items() for b in used} >= LATE
    by_string = {
        module(root, file)
        for file, source in files.items()
        if re.search(r"import_module\(|\bimported\(", source)
    }
    assert by_string <= {"mipsim", "mipsim._signals", "mipsim._extras", "mipsim.engine.executors"}


def test_nothing_imports_the_tests(root: Path) -> None:
    files = [file for package in PACKAGES for file in (root / package).rglob("*.py")]
    assert not [
        f for f in files if any(m.partition(".")[0] == "tests" for m, _ in imports(f.read_text("utf-8")))
    ]


def test_wrong_imports_are_seen() -> None:
    parts = {
        "mipsim": "from mipsim.engine import play",
        "mipsim.engine": "from mipsim.engine.play import play",
    }
    low = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mipsim.engine import play"
    inner = "def play():\n    from mipsim.bands.counts import x"
    edges = graph({**parts, "mipsim.engine.play": inner, "mipsim.bands.counts": low})
    assert set(circle(edges)) == {"mipsim.engine.play", "mipsim.bands.counts"}
    assert upward(edges) == {("mipsim.bands.counts", "mipsim.engine.play")}
    assert upward(graph({"mipsim.exact.law": "import verify.claim", "verify.claim": ""})) == {
        ("mipsim.exact.law", "verify.claim")
    }
    assert upward(graph({"figures.roc": "from verify.claim import Claim", "verify.claim": ""})) == set()
    # No two files of these make a circle; their folders do.
    draws, curves = "def f():\n    from verify.checks.draws import g", "from verify.laws.curves import h"
    edges = graph(
        {
            "verify.laws.mean": draws,
            "verify.checks.draws": "",
            "verify.checks.sums": curves,
            "verify.laws.curves": "",
        }
    )
    assert circle(edges) == []
    assert set(circle(rooms(edges))) == {"verify.laws", "verify.checks"}


def test_drawing_and_networks_load_on_first_use(root: Path) -> None:
    """No module of the library imports them at its top level; `if TYPE_CHECKING` costs nothing."""
    lazy = {"matplotlib", "flax", "optax", "rich"}
    for file in sorted((root / "mipsim").rglob("*.py")):
        names = {name.partition(".")[0] for name, _ in imports(file.read_text("utf-8"), top=True)}
        assert not names & lazy, file
