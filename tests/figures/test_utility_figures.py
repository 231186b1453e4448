"""Figures of accuracy: plotted from tiny layers, and from given accuracies in place of networks that take minutes."""

from dataclasses import replace
from pathlib import Path

import pytest

from figures import __main__ as command
from figures import kaissis_fig4
from mipsim import data
from sims import kaissis_utility
from tests.data.conftest import lay_out
from tests.figures.test_plotted_numbers import read

FEW = kaissis_utility.Scale((4,), 0, 12, 3, 6, 1, 0.01)


def given(monkeypatch: pytest.MonkeyPatch, accuracies: dict[float, float]) -> None:
    """Accuracies of noises in place of networks."""

    def accuracy(task: kaissis_utility.Task, name: str, noise: float, seed: int, store: Path) -> float:
        return accuracies[noise] + 0.01 * (seed - 9) + 0.1 * (task.title == "SNLI")

    monkeypatch.setattr(kaissis_fig4, "accuracy", accuracy)


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
