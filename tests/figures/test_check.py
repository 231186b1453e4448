"""`--check`: each panel beside the paper's number, and a drawing that is a few per cent off."""

import csv
import json
from pathlib import Path

import pytest

from figures import __main__ as command
from figures import check as checks
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
    printed = capsys.readouterr().out
    assert "against our second computation: 4 of 4 comparisons agree, 0 differ" in printed
    assert "against the authors' number: 1 of 1 comparison agree, 0 differ" in printed
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


def test_sentences_on_an_order_or_a_loss_are_judged_both_ways() -> None:
    def cell(curve: str, tpr: float) -> dict[str, str]:
        ends = {"band_low": str(tpr - 0.01), "band_high": str(tpr + 0.01)}
        return {"curve": curve, "fpr": "0.01", "tpr": str(tpr)} | ends

    row, rising = {"curves": ["a", "b"], "fpr": 0.01}, [cell("a", 0.1), cell("b", 0.2)]
    assert checks._order(row, rising) == (True, "TPR at FPR 0.01: 0.1, 0.2")
    assert checks._order(row, [cell("a", 0.205), cell("b", 0.2)])[0]  # the bands explain that
    assert not checks._order(row, [cell("a", 0.23), cell("b", 0.2)])[0]
    heights = {("b", "f"): 0.5, ("b", "j"): 0.2, ("c", "f"): 0.4}
    for below, holds in ((0.05, True), (0.12, False)):
        cells = [
            {"panel": panel, "curve": curve, "x": "1", "y": str(y)}
            for (panel, curve), y in (heights | {("c", "j"): below}).items()
        ]
        assert checks._loss({"curves": ["f", "j"], "panels": ["b", "c"]}, cells)[0] is holds


def test_what_is_not_plotted_is_stated(tmp_path: Path) -> None:
    assert {row.verdict for row in check(tmp_path, command.FIGURES)} == {"NO RESULT"}
