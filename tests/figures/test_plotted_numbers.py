"""What a figure plots: counts, bands and files, on counts whose law is known."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from figures import __main__ as command
from figures import study_counts
from mipsim.engine.histogram import Histogram
from sims import runner


def normal_counts(study: object, games: int, seed: int, directory: Path, progress: bool = False) -> Histogram:
    """Counts of N(-1, 2) against N(1, 2) scores: mu = sqrt(2)."""
    rng = np.random.default_rng(seed)
    edges = np.linspace(-8.0, 8.0, 513)

    def counted(mean: float) -> np.ndarray:
        scores = rng.normal(mean, np.sqrt(2.0), games)
        return np.bincount(np.searchsorted(edges, scores), minlength=edges.size + 1)

    return Histogram(edges, counted(-1.0), counted(1.0), {"seed": seed, "games": games})


def read(path: Path) -> tuple[str, list[dict[str, str]]]:
    with path.open(encoding="utf-8", newline="") as stream:
        return stream.readline(), list(csv.DictReader(stream))


# The others are formulas and sketches.
PLOTTED = (
    "azize_fig1",
    "azize_fig4",
    "azize_table1",
    "kaissis_fig1",
    "kaissis_fig2",
    "leemann_fig1",
    "leemann_table1",
    "leemann_table5",
)
# Plotted from a stand-in for their data in test_gradient_figures.py.
OF_DATA = ("azize_fig3", "azize_fig7", "azize_fig8", "leemann_fig2b", "leemann_fig2c")
# Trained, not played: test_utility_figures.py.
TRAINED = ("kaissis_fig4", "leemann_fig3")
ELSEWHERE = (*PLOTTED, *OF_DATA, *TRAINED)
PLAYED = [name for name in command.FIGURES if not name.startswith("izzo") and name not in ELSEWHERE]


@pytest.mark.evidence
@pytest.mark.parametrize("name", PLAYED)
@pytest.mark.parametrize("scale", ["quick", "standard"])
def test_every_figure_is_plotted(
    name: str, scale: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "run", normal_counts)
    assert command.main([name, "--scale", scale, "--seed", "7", "--out", str(tmp_path)]) == 0
    png, svg = (tmp_path / f"{name}.{kind}" for kind in ("png", "svg"))
    assert png.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert b"</svg>" in svg.read_bytes()
    assert (tmp_path / f"{name}.pdf").read_bytes()[:5] == b"%PDF-"
    caption, rows = read(tmp_path / f"{name}.csv")
    papers = {"kaissis": "Kaissis et al. (2023)", "leemann": "Leemann et al. (2023)"}
    paper = papers.get(name.split("_")[0], "Azize & Basu (2025)")
    for stated in (paper, "Fig. ", "seed 7", f"{study_counts.GAMES[scale]:,} games", "confidence"):
        assert stated in caption
    assert (tmp_path / f"{name}.txt").read_text("utf-8").strip() == caption.removeprefix("#").rpartition(
        " [mipsim "
    )[0].strip()
    for row in rows:
        if row.get("tpr"):
            assert 0.0 <= float(row["band_low"]) <= float(row["tpr"]) <= float(row["band_high"]) <= 1.0


@pytest.mark.evidence
def test_the_predictions_are_the_papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The CSV's curves for rho, from the formulas as the paper and the correction give them."""
    monkeypatch.setattr(runner, "run", normal_counts)
    assert command.main(["azize_fig2", "--out", str(tmp_path)]) == 0
    _, rows = read(tmp_path / "azize_fig2.csv")
    easy = next(r for r in rows if r["curve"] == "easy" and 0.01 < float(r["fpr"]) < 0.1)
    score = (norm.ppf(float(easy["theory"])) - norm.ppf(float(easy["fpr"]))) ** 2
    for rho in (0.1, 0.5, 1.0):
        some = [r for r in rows if r["curve"] == f"rho={rho:g}" and float(r["fpr"]) < 0.9]
        a = np.array([float(r["fpr"]) for r in some])
        mixture = rho * norm.cdf(norm.ppf(a) + np.sqrt(score / rho)) + (1 - rho) * a
        printed = norm.cdf(norm.ppf(a) + np.sqrt(rho * score))
        np.testing.assert_allclose([float(r["theory"]) for r in some], mixture, rtol=1e-6)
        np.testing.assert_allclose([float(r["printed"]) for r in some], printed, rtol=1e-6)
    noise = next(r for r in rows if r["curve"] == "gamma=1" and 0.01 < float(r["fpr"]) < 0.1)
    assert float(noise["theory"]) < float(easy["theory"])


def test_bins_and_points_are_those_of_the_counts() -> None:
    counts = normal_counts(None, 5000, 0, Path())
    edges, out, inside = study_counts.rebinned(counts, 40)
    assert out.sum() == inside.sum() == 5000
    assert 30 <= out.size == edges.size - 1 <= 40
    inner = np.searchsorted(counts.edges, edges[3:5])
    assert out[3] == counts.out[inner[0] + 1 : inner[1] + 1].sum()
    few = Histogram(np.array([0.0, 1.0]), np.array([5, 3, 2]), np.array([1, 4, 5]))
    np.testing.assert_allclose(study_counts.roc_points(few), [[0.0, 0.2, 0.5, 1.0], [0.0, 0.5, 0.9, 1.0]])


@pytest.mark.evidence
def test_a_single_figure_from_real_games(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The studies, the runner and the script together; a second call reads the stored counts, whole or not."""
    words = ["azize_fig5", "--scale", "standard", "--out", str(tmp_path)]
    assert command.main(words) == 0
    first = (tmp_path / "azize_fig5.csv").read_bytes()
    stored = sorted(p.stat().st_mtime_ns for p in (tmp_path / "counts").rglob("*.npz"))
    assert stored
    assert command.main(words) == 0
    assert (tmp_path / "azize_fig5.csv").read_bytes() == first
    for path in (tmp_path / "counts").rglob("*.npz"):
        path.write_bytes(path.read_bytes()[:100])
    assert command.main(words) == 2
    text = capsys.readouterr().err.strip()
    assert len(text.splitlines()) == 1
    assert "azize_fig2_" in text
    _, rows = read(tmp_path / "azize_fig5.csv")
    for panel in "ab":
        for world in ("out", "in"):
            assert sum(int(r["count"]) for r in rows if (r["panel"], r["world"]) == (panel, world)) == 200_000
