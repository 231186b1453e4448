"""`--check`: each panel beside the paper's number, and a drawing that is a few per cent off."""

import csv
import json
from pathlib import Path

import pytest

from figures import __main__ as command
from figures.check import FORMULAS, REPORTED, check

TABLES = ("izzo_fig1", "leemann_table5")


@pytest.fixture(scope="module")
def plotted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plotted")
    assert command.main([*TABLES, "--out", str(folder)]) == 0
    return folder


def test_every_figure_has_a_row_and_every_row_a_source() -> None:
    assert {row["figure"] for row in REPORTED} == set(command.FIGURES)
    assert all(row["what"] and row["source"] for row in REPORTED)
    assert {row["formula"] for row in REPORTED if row["how"] == "formula"} == set(FORMULAS)


def test_formula_panels_agree(plotted: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--check", *TABLES, "--out", str(plotted)]) == 0
    assert "5 of 5 comparisons agree, 0 differ" in capsys.readouterr().out
    rows = json.loads((plotted / "check.json").read_text("utf-8"))
    assert [row["verdict"] for row in rows] == ["AGREES"] * 5
    assert (plotted / "index.html").read_text("utf-8").count("<td>AGREES</td>") == 5


def test_a_per_cent_off_differs(plotted: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = (plotted / "izzo_fig1.csv").read_text("utf-8").splitlines()
    rows = list(csv.DictReader(lines[1:]))
    for row in rows[-3:]:
        row["noise_scale"] = str(1.01 * float(row["noise_scale"]))
    text = "\n".join([lines[0], lines[1], *(",".join(row.values()) for row in rows)])
    (tmp_path / "izzo_fig1.csv").write_text(text, "utf-8")
    (tmp_path / "izzo_fig1.txt").write_text("caption", "utf-8")
    assert [row.verdict for row in check(tmp_path, ["izzo_fig1"])] == ["DIFFERS"]
    assert command.main(["--check", "izzo_fig1", "--out", str(tmp_path)]) == 1
    assert "0 of 1 comparison agree, 1 differ" in capsys.readouterr().out


def test_what_is_not_plotted_is_stated(tmp_path: Path) -> None:
    assert {row.verdict for row in check(tmp_path, command.FIGURES)} == {"NO RESULT"}
