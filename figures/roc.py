"""A panel of ROC curves: empirical line, simultaneous band, predicted curves; and its rows for the CSV."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from figures import style, write
from figures.study_counts import Played, Request
from figures.write import Row
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

CONFIDENCE = 0.99
THEORY, PRINTED = "theory", "printed"
DASHES = {THEORY: (0, (4, 1.6)), PRINTED: (0, (1, 1.4))}
MARKS: dict[str, dict[str, Any]] = {
    "games": {},
    "band": {"linewidth": 6, "alpha": 0.2},
    THEORY: {"linestyle": DASHES[THEORY], "linewidth": 0.9},
    PRINTED: {"linestyle": DASHES[PRINTED], "linewidth": 0.9},
    "guessing": {"color": style.FAINT, "linewidth": 0.5},
}
"""How a legend shows what every curve has."""
THRESHOLDS = 128
HEADER: Row = ("panel", "curve", "fpr", "tpr", "band_low", "band_high", THEORY, PRINTED)


@dataclass(frozen=True)
class Curve:
    """A curve of a panel."""

    label: str  # the legend's words
    key: str  # plain words for the CSV
    colour: str  # of all its lines
    played: Played  # the study
    # `THEORY` and, where that differs, `PRINTED`: the curves to compare with
    predicted: Mapping[str, AbstractTradeOff] = field(default_factory=dict)


def grid(lowest: float, points: int = 320) -> np.ndarray:
    """False positive rates from `lowest` to 1, even on the log axis and dense enough near 1."""
    return np.unique(np.concatenate([np.geomspace(lowest, 1.0, points), np.linspace(0.5, 1.0, points // 8)]))


def lowest_fpr(games: int) -> float:
    """Where the FPR axis starts: 20 / games, up to the next 1, 2 or 5; left of it a band says nothing."""
    wanted = min(20.0 / games, 0.5)
    decade = 10.0 ** np.floor(np.log10(wanted))
    return float(next(step * decade for step in (1, 2, 5, 10) if step * decade >= wanted * (1 - 1e-9)))


def draw(
    axes: "Axes", curves: Sequence[Curve], *, panel: str, family: int, together: bool = False
) -> list[Row]:
    """Draw the curves; returns the rows of the CSV. `together`: shade what the bands cover as a single area.

    `family` is the number of bands of the figure. Each band has confidence 1 - (1 - CONFIDENCE) / family,
    so that with probability CONFIDENCE all true curves of the figure lie in their bands at all FPRs.
    """
    rows: list[Row] = []
    alpha = grid(lowest_fpr(curves[0].played.games))
    bands = []
    for curve in curves:
        level = 1.0 - (1.0 - CONFIDENCE) / family
        beta_low, beta_high = curve.played.histogram.tradeoff(level, THRESHOLDS).band(alpha)
        low, high = 1.0 - beta_high, 1.0 - beta_low
        tpr = curve.played.power_at(alpha)
        bands.append((low, high))
        if not together:
            axes.fill_between(alpha, low, high, color=curve.colour, alpha=0.20, linewidth=0)
        axes.plot(alpha, tpr, color=curve.colour, label=curve.label)
        predicted = {name: 1.0 - f.beta(alpha) for name, f in curve.predicted.items()}
        for name, power in predicted.items():
            axes.plot(alpha, power, color=darker(curve.colour), linestyle=DASHES[name], linewidth=0.9)
        for i, a in enumerate(alpha):
            ends = [float(predicted[name][i]) if name in predicted else "" for name in (THEORY, PRINTED)]
            rows.append((panel, curve.key, float(a), float(tpr[i]), float(low[i]), float(high[i]), *ends))
    if together:
        lows, highs = zip(*bands, strict=True)
        outermost = np.min(lows, axis=0), np.max(highs, axis=0)
        axes.fill_between(alpha, *outermost, color=style.FAINT, alpha=0.2, linewidth=0)
    frame(axes, alpha[0])
    axes.set_ylim(0.0, 1.0)
    return rows


def marks(**words: str) -> list["Line2D"]:
    """Entries of a legend: keys of `MARKS`, and what they show in this figure."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], **{"color": style.INK, "label": text, **MARKS[mark]}) for mark, text in words.items()
    ]


def single_panel(
    request: Request,  # where to, and of how many games
    name: str,
    curves: Sequence[Curve],
    # label, key for the CSV, and FPR -> TPR of the formula
    known: tuple[str, str, Callable[[np.ndarray], np.ndarray]],
    words: str,
    caption_inches: float,  # its height
) -> tuple[Path, ...]:
    """Draw a figure of a single panel, the curves and another formula in black, and write its files."""
    with style.journal():
        figure = style.blank(4.4, 3.2 + caption_inches)
        axes = figure.subplots()
        bottom = (caption_inches + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.1, right=0.97, top=0.885, bottom=bottom)
        rows = draw(axes, curves, panel="a", family=len(curves))
        label, key, power_at = known
        alpha = grid(lowest_fpr(request.games))
        power = power_at(alpha)
        axes.plot(alpha, power, color="black", linewidth=0.9, linestyle=DASHES[PRINTED], label=label)
        rows += [("a", key, float(a), "", "", "", float(p), "") for a, p in zip(alpha, power, strict=True)]
        axes.set_ylabel("true positive rate")
        shown = marks(theory="normal limit", band=f"{CONFIDENCE:.0%} bands")
        # Above the panel: in it, the curves of few games leave no corner free.
        handles, place = [*axes.get_legend_handles_labels()[0], *shown], (0.53, 1.0)
        figure.legend(handles=handles, loc="upper center", ncols=5, bbox_to_anchor=place, columnspacing=1.0)
        style.caption(figure, words, bottom_inches=caption_inches, characters=102)
        return write.save(figure, request, name, caption=words, header=HEADER, rows=rows)


def frame(axes: "Axes", lowest: float) -> None:
    """Axes of a ROC panel: the FPR is logarithmic."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.set_xscale("log")
    axes.set_xlim(lowest, 1.0)
    axes.xaxis.set_major_locator(LogLocator(10, numticks=12))
    # Of few decades each has named ticks between its powers of ten.
    few = lowest >= 2e-3
    axes.xaxis.set_minor_locator(LogLocator(10, subs=(2, 5) if few else range(2, 10), numticks=99))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: f"{value:g}") if few else NullFormatter())
    if few:
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.tick_params(axis="x", which="minor", labelsize=8)
    axes.set_xlabel("false positive rate")


def darker(colour: str) -> tuple[float, float, float]:
    """The colour mixed with black, so that a prediction stays visible on its own curve."""
    from matplotlib.colors import to_rgb

    r, g, b = to_rgb(colour)
    return 0.55 * r, 0.55 * g, 0.55 * b
