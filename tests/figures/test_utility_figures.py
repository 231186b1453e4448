"""Figures of accuracy: plotted from tiny layers, and from given accuracies in place of networks that take minutes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from figures import __main__ as command
from figures import kaissis_fig4
from mipsim import data
from mipsim.data.published import PUBLISHED
from sims import kaissis_utility, leemann_utility
from sims.last_layer import LastLayer
from tests.data.conftest import lay_out
from tests.figures.test_plotted_numbers import read


def tiny_task(name: str) -> leemann_utility.Task:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(260, 3)).astype(np.float32)
    y = (x[:, 0] > 0.0).astype(np.int64)
    layer = LastLayer(name, x[:200], y[:200], x[200:], y[200:], 2)
    return leemann_utility.Task(leemann_utility.Run(8, 100.0, 50, 200, 3), 0.5, lambda *_: layer)


@pytest.mark.evidence
@pytest.mark.parametrize(("scale", "panels"), [("quick", 1), ("standard", 3)])
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
    ):
        assert stated in caption
    assert ("left to scales standard and full" in caption) == (scale == "quick")
    assert len(rows) == panels * len(leemann_utility.ARMS) * len(leemann_utility.MUS)
    for row in rows:
        assert 0.0 <= float(row["accuracy"]) <= 1.0
    plain = {row["accuracy"] for row in rows if row["curve"] == "no noise" and row["panel"] == "a"}
    assert len(plain) == 1, "a single accuracy without noise, whatever mu is"
    retained = sorted(tmp_path.glob("counts/leemann_fig3_*.json"))
    assert len(retained) == 5 * panels
    before = [path.stat().st_mtime_ns for path in retained]
    assert command.main(["leemann_fig3", "--scale", scale, "--seed", "7", "--out", str(tmp_path)]) == 0
    assert [path.stat().st_mtime_ns for path in retained] == before, "plotted again from what is stored"


FEW = kaissis_utility.Scale((4,), 0, 12, 3, 6, 1, 0.01)
NOISES = {"DPTM": 1.5, "RTM": 0.5}


def given(monkeypatch: pytest.MonkeyPatch, accuracies: dict[float, float]) -> None:
    """Accuracies of noises in place of networks."""

    def accuracy(task: kaissis_utility.Task, name: str, noise: float, seed: int, store: Path) -> float:
        return accuracies[noise] + 0.01 * (seed - 9) + 0.1 * (task.title == "SNLI")

    monkeypatch.setattr(kaissis_fig4, "accuracy", accuracy)


@pytest.fixture
def plotted_quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    """And given noises: of every panel that is plotted."""
    monkeypatch.setattr(kaissis_fig4, "needed", lambda task, name: NOISES)
    given(monkeypatch, {1.5: 0.3, 0.5: 0.4})


@pytest.mark.evidence
def test_bars_of_two_threat_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    noises = kaissis_utility.needed(kaissis_utility.TASKS["a"], "quick")
    given(monkeypatch, {noises["DPTM"]: 0.3, noises["RTM"]: 0.4})
    monkeypatch.setenv(data.DIRECTORY, str(tmp_path))
    assert command.main(["kaissis_fig4", "--seed", "7", "--out", str(tmp_path)]) == 0
    caption, rows = read(tmp_path / "kaissis_fig4.csv")
    epsilon = kaissis_utility.promised_epsilon(noises["RTM"], 0.05, 80, 1e-5)
    assert epsilon > 1.0
    for stated in (
        "Fig. 4a:", "5 seeds from 7", "0.300 ± 0.016 (DPTM), 0.400 ± 0.016 (RTM); the paper has 0.67 (DPTM) and 0.81 (RTM)",
        "the data directory lacks snli_1.0.zip; c (ImageNet, ResNet-18", "lacks Imagenet32_train_npz.zip and Imagenet32_val_npz.zip",
        f"keeps ε = {epsilon:.2f}, not 1 (CIFAR-10).",
    ):  # fmt: skip
        assert stated in caption
    assert [(row["threat_model"], row["panel"]) for row in rows] == [("DPTM", "a")] * 5 + [("RTM", "a")] * 5
    # What is missing, and states of other trainings, are reported in a sentence.
    monkeypatch.delenv(data.DIRECTORY)
    assert command.main(["leemann_fig3", "kaissis_fig4", "--out", str(tmp_path)]) == 2


@pytest.mark.evidence
@pytest.mark.usefixtures("plotted_quickly")
@pytest.mark.parametrize("there", ["b", "bc"])
def test_the_panels_whose_data_are_there(there: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the right names make a panel; what they hold is checked when a network is trained."""
    for tag in there:
        published = PUBLISHED[kaissis_utility.TASKS[tag].needs or ""]
        (tmp_path / published.folders[0]).mkdir()
        for file in published.files:
            (tmp_path / published.folders[0] / file.name).touch()
    monkeypatch.setenv(data.DIRECTORY, str(tmp_path))
    assert command.main(["kaissis_fig4", "--out", str(tmp_path / "out")]) == 0
    caption, rows = read(tmp_path / "out/kaissis_fig4.csv")
    assert f"Fig. 4a{there}:" in caption
    assert [row["panel"] for row in rows] == [tag for tag in f"a{there}" for _ in range(10)]
    for words, panel in (("in the place of BERT", "b"), ("in the place of ResNet-18", "c")):
        assert (words in caption) == (panel in there)
    assert ("Not plotted" in caption) == (there != "bc")
    assert {float(row["accuracy"]) > 0.3 for row in rows if row["data"] == "SNLI"} <= {True}


@pytest.mark.evidence
def test_all_panels_are_trained_by_the_same_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From files in the published formats to the picture: three data sets of some records, four trainings of each.

    The networks of images take a compiler long, and so does calibration: test_utility.py has them.
    """
    for tag, task in kaissis_utility.TASKS.items():
        few = replace(FEW, records=3 if tag == "b" else 5, batch=3)
        monkeypatch.setitem(
            kaissis_utility.TASKS, tag, replace(task, network="layered", scales={"quick": few})
        )
    monkeypatch.setattr(kaissis_fig4, "SEEDS", 2)
    small = lay_out(tmp_path, monkeypatch)
    monkeypatch.setenv(data.DIRECTORY, str(small))
    monkeypatch.setattr(
        kaissis_utility,
        "noises",
        lambda rate, steps, epsilon, delta: {"DPTM": 1.0 / epsilon + 1e4 * delta, "RTM": 0.5 / epsilon},
    )
    monkeypatch.setattr(kaissis_fig4, "promised_epsilon", lambda *_: 2.0)
    for cached in (kaissis_utility.images, kaissis_utility.pairs):  # of other files
        cached.cache_clear()
    assert command.main(["kaissis_fig4", "--out", str(tmp_path / "out")]) == 0
    caption, rows = read(tmp_path / "out/kaissis_fig4.csv")
    assert "Fig. 4abc:" in caption
    assert len(rows) == 12
    for task in kaissis_utility.TASKS.values():
        names = [path.name for path in (tmp_path / "out/counts").glob(f"{task.stem}_quick_*.json")]
        assert len(names) == 4, "each training is stored under a name of its own"
    for tag, noise in (("a", 1.1), ("b", 1.018), ("c", 0.11)):
        some = [row for row in rows if row["panel"] == tag and row["threat_model"] == "DPTM"]
        assert [float(row["noise_multiplier"]) for row in some] == [pytest.approx(noise)] * 2
    kaissis_utility.pairs.cache_clear()
    for path in (tmp_path / "out/counts").glob("kaissis_fig4_snli*"):
        path.unlink()
    wrong = small / "snli/snli_1.0.zip"
    wrong.write_bytes(wrong.read_bytes()[:-1])
    assert command.main(["kaissis_fig4", "--out", str(tmp_path / "out")]) == 2, (
        "a file that is there and wrong is not left out in silence"
    )
