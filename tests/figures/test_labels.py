"""Words on figures: none is crossed by a line, and none leaves the page."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation, Text
from matplotlib.transforms import BboxBase

from figures import write
from figures.study_counts import Request

FIGURES = ("azize_fig1", "azize_fig4", "izzo_fig1", "leemann_fig1")
"""Those that play no games and take a second."""


def plotted(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Figure:
    retained: list[Figure] = []

    def save(figure: Figure, *_: object, **__: object) -> tuple[Path, ...]:
        retained.append(figure)
        return ()

    monkeypatch.setattr(write, "save", save)
    importlib.import_module(f"figures.{name}").draw(Request("quick", 0, folder))
    retained[0].draw_without_rendering()
    return retained[0]


def words(axes: Axes) -> Iterator[Text]:
    legend = axes.get_legend()
    for text in (*axes.texts, *(legend.get_texts() if legend else ())):
        if text.get_text().strip():
            yield text


def strokes(axes: Axes) -> Iterator[np.ndarray]:
    """Points along every line and straight arrow that are seen, in pixels, two a pixel."""
    paths = [line.get_transform().transform(line.get_xydata()) for line in axes.lines]
    arrows = (text for text in axes.texts if isinstance(text, Annotation) and text.arrow_patch is not None)
    paths += [axes.transData.transform([item.xyann, item.xy]) for item in arrows]
    for path in paths:
        corners = path[np.isfinite(path).all(axis=1)]
        if len(corners) < 2:
            continue
        lengths = np.hypot(*np.diff(corners, axis=0).T)
        place = np.concatenate([[0.0], np.cumsum(lengths)])
        at = np.linspace(0.0, place[-1], int(min(2 * place[-1], 1e5)) + 2)
        points = np.column_stack([np.interp(at, place, corners[:, k]) for k in (0, 1)])
        yield points[within(points, axes.bbox)]


def within(points: np.ndarray, box: BboxBase) -> np.ndarray:
    """Which points lie in a box, a pixel less on every side: what only touches does not cross."""
    (left, low), (right, high) = box.get_points()
    x, y = points.T
    return (x > left + 1.0) & (x < right - 1.0) & (y > low + 1.0) & (y < high - 1.0)


def crossed(axes: Axes) -> list[str]:
    lines = list(strokes(axes))
    return [
        text.get_text()
        for text in words(axes)
        # A label with a box of its own hides what passes behind it.
        if text.get_bbox_patch() is None
        and any(within(line, text.get_window_extent()).any() for line in lines)
    ]


@pytest.mark.evidence
@pytest.mark.parametrize("name", FIGURES)
def test_no_line_crosses_a_word_and_none_leaves_the_page(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = plotted(name, tmp_path, monkeypatch)
    page = figure.bbox
    for axes in figure.axes:
        assert crossed(axes) == []
        for text in (*words(axes), axes.yaxis.label, axes.xaxis.label, axes.title):
            box = text.get_window_extent()
            if text.get_text() and axes.axison:
                assert page.x0 <= box.x0 < box.x1 <= page.x1, text.get_text()
                assert page.y0 <= box.y0 < box.y1 <= page.y1, text.get_text()


def test_a_crossed_word_is_seen() -> None:
    figure = Figure()
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1])
    axes.text(0.5, 0.5, "in the way", ha="center", va="center")
    axes.text(0.2, 0.8, "beside")
    figure.draw_without_rendering()
    assert crossed(axes) == ["in the way"]
