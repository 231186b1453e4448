"""Sketches, tables and figures of formulas: what they hold, without games."""

import csv
from pathlib import Path

import numpy as np
import pytest

from figures import __main__ as command


def read(path: Path) -> tuple[str, list[dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return stream.readline(), list(csv.DictReader(stream))


def test_azize_table_1(tmp_path: Path) -> None:
    assert command.main(["azize_table1", "--out", str(tmp_path)]) == 0
    _, rows = read(tmp_path / "azize_table1.csv")
    scores = [float(row["As printed"]) for row in rows]
    assert scores[2] == pytest.approx(0.1 * scores[0], abs=1e-4)
    assert scores[1] < scores[0]
    assert rows[0]["Corrected sqrt(score)"] == f"{scores[0] ** 0.5:.4f}"


def test_leemann_table_1(tmp_path: Path) -> None:
    assert command.main(["leemann_table1", "--out", str(tmp_path)]) == 0
    _, rows = read(tmp_path / "leemann_table1.csv")
    cells = {row[""].strip(): row for row in rows}
    assert {"Goal", "Dataset access", "Protected instances", "Best used", "Model knowledge"} < set(cells)
    # Equation 9 by hand at d = K = 650, n = 500; and 2C / (n mu).
    mu = (650 + 999 * 650) / (500 * np.sqrt(1300 + 4 * 500 * 650))
    assert cells["one step without noise"]["f-MIP threat model"] == f"mu_step = {mu:.4f}"
    assert cells["noise for mu = 0.4"]["f-DP threat model"] == f"tau = {2 * 500 / (500 * 0.4):.4g}"
    assert 0.4 < mu < 1.2
    assert cells["noise for mu = 1.2"]["f-MIP threat model"].startswith("tau = 0 ")
