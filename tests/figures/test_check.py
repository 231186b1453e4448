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
    assert "against our second computation: 4 of 4 comparisons agree\n" in printed
    assert "against the authors' number: 1 of 1 comparison agrees\n" in printed
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
    assert "0 of 1 comparison agrees, 1 not\n" in capsys.readouterr().out


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
        places = (heights | {("c", "j"): below}).items()
        cells = [{"panel": panel, "curve": curve, "x": "1", "y": str(y)} for (panel, curve), y in places]
        assert checks._loss({"curves": ["f", "j"], "panels": ["b", "c"]}, cells)[0] is holds


def test_a_gain_over_another_figure_is_judged_both_ways() -> None:
    """A gain of 0.05 is seen in a plot, and 0.002 is not; the sentence says which of the two it should be."""

    def cells(gain: float) -> list[dict[str, str]]:
        result: list[dict[str, str]] = []
        for name, tpr in (("m0", 0.5), ("m1", 0.52), ("m2", 0.49)):
            before, now = ({"curve": name, "fpr": "0.251", "tpr": str(x)} for x in (tpr, tpr + gain))
            result += [before | {"figure": "b"}, {"curve": name, "fpr": "0.9", "tpr": "0.99"}, now]
        return result

    row = {"where": {"curve": ["m0", "m1", "m2"]}, "fpr": 0.25, "accuracy": 0.01}
    for gain, seen in ((0.05, True), (0.002, False)):
        assert checks._gain(row | {"seen": seen}, cells(gain))[0]
        agrees, says = checks._gain(row | {"seen": not seen}, cells(gain))
        assert not agrees
        assert f"gain {gain:+.4f} [{gain:+.4f}, {gain:+.4f}] over 3 models" in says


def test_what_is_not_plotted_is_stated(tmp_path: Path) -> None:
    assert {row.verdict for row in check(tmp_path, command.FIGURES)} == {"NO RESULT"}
    (tmp_path / "leemann_fig2c.csv").write_text("# caption\npanel,curve,fpr,tpr\n", "utf-8")
    rows = check(tmp_path, ["leemann_fig2c"])  # whose gain is over a figure that is not here
    assert [row.verdict for row in rows] == ["DRAWING", *["NO RESULT"] * 3]
