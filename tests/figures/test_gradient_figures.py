"""Figures on real data: plotted from digits in place of the published images, and passed over in a single sentence where data are missing."""

from pathlib import Path

import numpy as np
import pytest

from figures import __main__ as command
from mipsim import data
from sims import gradient_epochs, gradients, last_layers, runner
from tests.figures.test_plotted_numbers import OF_DATA, normal_counts, read


@pytest.fixture(scope="module")
def digits() -> gradients.Victim:
    return gradients.victim("digits", data.digits(), convolutions=False, part="trained", references=100)


@pytest.mark.evidence
@pytest.mark.parametrize("name", OF_DATA)
def test_it_is_plotted(
    name: str,
    digits: gradients.Victim,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    last_layers._build.cache_clear()
    request.addfinalizer(last_layers._build.cache_clear)
    some = data.digits()
    seen = last_layers.Features(some.x.reshape(len(some), -1)[:, 26:32], some.y, 10, np.zeros(70, np.float32))
    few = last_layers.attack_on(seen, 0)
    monkeypatch.setattr(last_layers, "attacked", lambda which, model: few)
    for which in gradients.VICTIMS:
        monkeypatch.setitem(gradients.VICTIMS, which, lambda: digits)
    small = gradients.attacked(data.digits(), convolutions=False, part="trained", references=100)
    monkeypatch.setattr(gradient_epochs, "of", lambda victim: small)
    monkeypatch.setattr(gradient_epochs, "play_together", lambda *_: None)
    monkeypatch.setattr(runner, "run", normal_counts)
    assert command.main([name, "--seed", "7", "--out", str(tmp_path)]) == 0
    assert (tmp_path / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"</svg>" in (tmp_path / f"{name}.svg").read_bytes()
    caption, rows = read(tmp_path / f"{name}.csv")
    assert "Fig. " in caption
    assert rows
    for row in rows:
        if row.get("band_low"):
            assert float(row["band_low"]) <= float(row.get("tpr") or row["y"]) <= float(row["band_high"])
    if name.startswith("leemann"):
        known = f"mu={1.14 * (5 if name.endswith('c') else 1) ** 0.5:.4g}"
        models = [f"model={model}" for model in range(5)]
        for panel in "bcd":
            curves = dict.fromkeys(row["curve"] for row in rows if row["panel"] == panel)
            assert [*curves] == [*models, "mean area", known, "theorem 5.1, rank 63"]
        # 7 x 9 axes of the stand-in's 7 x 10 parameters.
        assert "vary along 63, 63, 63 axes, not d" in caption
    if name == "azize_fig3":
        # Three targets and two attacks on Fashion-MNIST; CIFAR-10 takes too long for this scale.
        assert sum(row["curve"].endswith("literal epoch") for row in rows) == 6
    if name == "azize_fig7":
        assert sum(int(row["images"]) for row in rows if row["panel"] == "a") == len(digits.pool)
    if name == "azize_fig8":
        scores = [float(row["mahalanobis"]) for row in rows[:3]]
        assert scores == sorted(scores, reverse=True)


@pytest.mark.usefixtures("no_scikit_learn")
@pytest.mark.parametrize(
    ("name", "words"),
    [("azize_fig7", "Fashion-MNIST is read from a data directory"), ("kaissis_fig3", "the diabetes data need the package sklearn")],
)  # fmt: skip
def test_missing_data_or_packages_stop_no_other_figure(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Before any game of it is played."""
    monkeypatch.setattr(runner, "run", lambda *_, **__: pytest.fail("a panel was played"))
    monkeypatch.delenv(data.DIRECTORY, raising=False)
    gradients.fashion.cache_clear()
    assert command.main([name, "leemann_table5", "--out", str(tmp_path)]) == 2
    report = capsys.readouterr()
    assert report.err.startswith(f"{name} is not plotted: {words}")
    assert report.err.count("\n") == 1
    assert "leemann_table5 (" in report.out
    assert not list(tmp_path.glob(f"{name}*"))
