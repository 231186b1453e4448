"""The notebooks run from top to bottom, cell by cell, and are scripts that Jupyter opens."""

import re
from pathlib import Path
from typing import Any

import pytest

from mipsim.referee import Verdict

FOLDER = Path(__file__).parents[2] / "figures" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.py"))


def cells(text: str) -> list[tuple[str, str]]:
    """(kind, source) of each cell of a script in percent format."""
    parts = re.split(r"^# %%( \[markdown\])?\n", text, flags=re.MULTILINE)
    assert parts[0] == "", "a notebook begins with a cell"
    return [("words" if kind else "code", body) for kind, body in zip(parts[1::2], parts[2::2], strict=True)]


@pytest.mark.evidence
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, monkeypatch, tmp_path, capsys):
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.use("agg")
    monkeypatch.chdir(tmp_path)
    result = cells(path.read_text("utf-8"))
    assert result[0][0] == result[-1][0] == "words"
    assert result[0][1].startswith("# # ")
    assert "To try next" in result[-1][1]
    scope: dict[str, Any] = {"__name__": path.stem}
    for number, (kind, source) in enumerate(result):
        if kind == "words":
            assert all(line.startswith("#") or not line for line in source.splitlines())
        else:
            exec(compile(source, f"{path.name}, cell {number}", "exec"), scope)
    plt.close("all")
    assert capsys.readouterr().out
    if path.stem == "own_theorem":
        assert scope["found"].verdict is Verdict.REFUTED


def test_there_is_one_for_each_task():
    names = {path.stem for path in NOTEBOOKS}
    assert names == {
        "first_game", "own_mechanism", "own_theorem", "audit_scores", "reading_a_report", "calibrating_noise", "scale_out",
    }  # fmt: skip
