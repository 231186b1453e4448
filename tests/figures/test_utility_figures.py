"""Figures of accuracy: drawn from tiny layers, and from given accuracies in place of networks that take minutes."""

from pathlib import Path

import numpy as np
import pytest

from figures import __main__ as command
from figures import kaissis_fig4
from mipsim import data
from sims import kaissis_utility, leemann_utility
from sims.last_layer import LastLayer
from tests.figures.test_drawn_numbers import read


def tiny_task(name: str) -> leemann_utility.Task:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(260, 3)).astype(np.float32)
    y = (x[:, 0] > 0.0).astype(np.int64)
    layer = LastLayer(name, x[:200], y[:200], x[200:], y[200:], 2)
    return leemann_utility.Task(leemann_utility.Run(8, 100.0, 50, 200, 3), 0.5, lambda *_: layer)


@pytest.mark.parametrize(("scale", "panels"), [("quick", 1), ("paper", 3)])
def test_accuracy_against_mu(
    scale: str, panels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in leemann_utility.TASKS:
        monkeypatch.setitem(leemann_utility.TASKS, name, tiny_task(name))
    assert command.main(["leemann_fig3", "--scale", scale, "--seed", "7", "--out", str(tmp_path)]) == 0
    caption, rows = read(tmp_path / "leemann_fig3.csv")
    for stated in (
        "Leemann et al. (2023), Fig. 3",
        "5 seeds from 7",
        "C = 100, n = 50, N = 200",
        "at rate 0.5",
        "Largest gap",
    ):
        assert stated in caption
    assert ("drawn at scale paper" in caption) == (scale == "quick")
    assert len(rows) == panels * len(leemann_utility.ARMS) * len(leemann_utility.MUS)
    for row in rows:
        assert 0.0 <= float(row["accuracy"]) <= 1.0
    plain = {row["accuracy"] for row in rows if row["curve"] == "no noise" and row["panel"] == "a"}
    assert len(plain) == 1, "one accuracy without noise, whatever mu is"
    kept = sorted(tmp_path.glob("counts/leemann_fig3_*.json"))
    assert len(kept) == 5 * panels
    before = [path.stat().st_mtime_ns for path in kept]
    assert command.main(["leemann_fig3", "--scale", scale, "--seed", "7", "--out", str(tmp_path)]) == 0
    assert [path.stat().st_mtime_ns for path in kept] == before, "drawn again from what is kept"


def test_bars_of_two_threat_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noises = kaissis_utility.noises(
        *(getattr(kaissis_utility.SCALES["quick"], n) for n in ("sampling_rate", "steps"))
    )
    given = {noises["DPTM"]: 0.3, noises["RTM"]: 0.4}
    monkeypatch.setattr(
        kaissis_fig4, "accuracy", lambda name, noise, seed, store: given[noise] + 0.01 * (seed - 9)
    )
    assert command.main(["kaissis_fig4", "--seed", "7", "--out", str(tmp_path)]) == 0
    caption, rows = read(tmp_path / "kaissis_fig4.csv")
    for stated in (
        "Kaissis et al. (2023), Fig. 4a",
        "5 seeds from 7",
        "0.300 ± 0.016 (DPTM), 0.400 ± 0.016 (RTM)",
        "80 steps",
        "not drawn",
    ):
        assert stated in caption
    epsilon = kaissis_utility.promised_epsilon(noises["RTM"], 0.05, 80)
    assert f"keeps ε = {epsilon:.2f}, not 1" in caption
    assert epsilon > 1.0
    assert [row["threat_model"] for row in rows] == ["DPTM"] * 5 + ["RTM"] * 5


def test_missing_data_and_states_of_other_trainings_are_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(data.DIRECTORY, raising=False)
    assert command.main(["leemann_fig3", "kaissis_fig4", "--out", str(tmp_path)]) == 2
    told = capsys.readouterr().err.splitlines()
    assert told[0].startswith(
        "leemann_fig3 is not drawn: Adult is read from a data directory, and none is named"
    )
    assert told[1].startswith(
        "kaissis_fig4 is not drawn: CIFAR-10 is read from a data directory, and none is named"
    )

    def belongs_elsewhere(*_: object) -> float:
        raise ValueError("checkpoint belongs to another training")

    monkeypatch.setattr(kaissis_fig4, "accuracy", belongs_elsewhere)
    assert command.main(["kaissis_fig4", "--out", str(tmp_path)]) == 2
    assert "belongs to another training" in capsys.readouterr().err
