"""Sketches, tables and figures of formulas: what they hold, without games."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from figures import __main__ as command
from sims import leemann_utility


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


def test_leemann_table_5(tmp_path: Path) -> None:
    """The paper says in words that CIFAR-10 needs no noise from mu = 0.86 on."""
    assert command.main(["leemann_table5", "--out", str(tmp_path)]) == 0
    _, rows = read(tmp_path / "leemann_table5.csv")
    assert len(rows) == 20
    free = [float(row["mu"]) for row in rows if float(row["CIFAR-10 GMIP"]) == 0.0]
    assert round(min(free), 2) == 0.86
    gdp = [float(row["CIFAR-10 GDP"]) for row in rows]
    assert (np.diff(gdp) < 0).all()
    assert (rows[0]["CIFAR-10 equation 9"], rows[0]["CIFAR-10 GDP"]) == ("26.13", "2.838")
    for row in rows:
        assert float(row["Adult GMIP"]) == min(float(row["Adult equation 9"]), float(row["Adult GDP"]))
    # Equation 10 by hand at the step that the table takes for mu = 2.
    s, c = leemann_utility.step_mu(2.0, leemann_utility.RUNS["CIFAR-10"]), 400 * np.sqrt(1200) / 48_000
    inner = np.exp(s**2) * norm.cdf(1.5 * s) + 3 * norm.cdf(-0.5 * s) - 2
    assert np.sqrt(2 * inner) * c == pytest.approx(2.0, rel=1e-9)
