"""The README's code runs, and its links point at files that are there."""

import contextlib
import io
import re
from pathlib import Path


def test_every_python_block_runs(readme_blocks: list[str], monkeypatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    import matplotlib

    matplotlib.use("agg")
    assert len(readme_blocks) >= 2
    assert "games=1_000," in readme_blocks[0]  # the quickstart, with fewer games
    scope: dict[str, object] = {"__name__": "readme"}
    printed = io.StringIO()
    for number, block in enumerate(readme_blocks):
        with contextlib.redirect_stdout(printed):
            exec(compile(block, f"README.md, block {number + 1}", "exec"), scope)
    assert any(word in printed.getvalue() for word in ("CONFIRMED", "REFUTED", "INCONCLUSIVE"))
    import matplotlib.pyplot as plt

    plt.close("all")


def test_own_mechanism_takes_ten_lines(readme_blocks: list[str]) -> None:
    own = next(block for block in readme_blocks if "def " in block)
    assert len([line for line in own.splitlines() if line.strip() and not line.startswith("#")]) <= 10


def test_links_and_pictures_are_there(root: Path) -> None:
    text = (root / "README.md").read_text("utf-8")
    targets = [t for t in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in t]
    assert "figures/images/verdict.png" in targets
    assert [t for t in targets if not (root / t).exists()] == []
