"""The code of the README and of the documentation runs, and their links point at files that are there."""

import contextlib
import importlib
import io
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT, python_blocks


@pytest.mark.evidence
@pytest.mark.usefixtures("no_screen")
@pytest.mark.parametrize(
    "page",
    ["README.md", *(page.name for page in sorted((ROOT / "docs").glob("*.md")) if python_blocks(page))],
)
def test_every_python_block_runs(page: str, monkeypatch, tmp_path: Path) -> None:
    """A page goes on from the README."""
    monkeypatch.chdir(tmp_path)
    scope = dict(scope_of_readme())
    if page != "README.md":
        for block in python_blocks(ROOT / "docs" / page):
            exec(compile(block, page, "exec"), scope)


@cache
def scope_of_readme() -> dict[str, object]:
    """What the README's blocks define; they print a verdict."""
    blocks, printed = python_blocks(ROOT / "README.md"), io.StringIO()
    assert len(blocks) >= 2
    assert any("games=1_000," in block for block in blocks)  # the games, with fewer of them
    scope: dict[str, object] = {"__name__": "readme"}
    with contextlib.redirect_stdout(printed):
        for block in blocks:
            exec(compile(block, "README.md", "exec"), scope)
    assert any(word in printed.getvalue() for word in ("CONFIRMED", "REFUTED", "INCONCLUSIVE"))
    return scope


def test_links_and_pictures_are_there(root: Path) -> None:
    text = (root / "README.md").read_text("utf-8")
    assert "(figures/images/verdict.png)" in text
    for page in (root / "README.md", *(root / "docs").glob("*.md")):
        result = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
        targets = [target for target in result if "://" not in target]
        assert [target for target in targets if not (page.parent / target).exists()] == [], page


def test_the_reference_has_every_public_name(root: Path, monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(root / "docs"))
    reference = importlib.import_module("_public_names")
    import mipsim

    packages = {name for _, name, is_package in pkgutil.iter_modules(mipsim.__path__) if is_package}
    listed = {name for name in packages if hasattr(importlib.import_module(f"mipsim.{name}"), "__all__")}
    assert set(reference.PACKAGES) == {name for name in listed if not name.startswith("_")} | {reference.TOP}
    text = "\n".join(reference.page(name, []) for name in reference.PACKAGES)
    own = {name for name in mipsim.__all__ if callable(getattr(mipsim, name))}
    assert {name for name in own if not re.search(rf"mipsim\.([\w.]+\.)?{name}\n", text)} == set()
    assert (root / "docs/reference/index.md").read_text("utf-8").count("\n") > len(reference.PACKAGES)
    assert reference.escaped("|z| of `Point`s") == r"\|z\| of `Point`\ s"
