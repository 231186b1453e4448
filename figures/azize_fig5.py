"""Azize & Basu (2025), figure 5a-c: the law of the covariance score in both worlds, and its ROC curve."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from figures import roc, style, write
from figures.study_counts import Played, Request, play, rebinned
from mipsim.bands import clopper_pearson
from mipsim.theory import azize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "distribution of the covariance score for the easiest and the hardest target, and a ROC curve"
MOST_BINS = 48
CAPTION_INCHES = 0.55
HEADER: write.Row = (
    "panel",
    "world",
    "left",
    "right",
    "count",
    "density",
    "band_low",
    "band_high",
    "normal_density",
)


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the two studies of figure 2, draw the three panels, write the files."""
    easy, hard = play("azize_fig2_easy", request), play("azize_fig2_hard", request)
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 2.35 + CAPTION_INCHES)
        axes = figure.subplots(1, 3)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.08, right=0.982, top=0.92, bottom=bottom, wspace=0.3)
        rows = _law(axes[0], easy, "a") + _law(axes[1], hard, "b")
        score = hard.leakage()
        curve = roc.Curve("games", "hard", style.HARD, hard, {roc.THEORY: azize.mean_tradeoff(score)})
        roc_rows = roc.draw(axes[2], [curve], panel="c", family=5)
        for place, tag, title in zip(axes, "abc", _titles(easy.leakage(), score), strict=True):
            style.letter(place, tag, title)
        shown = roc.marks(games="games", band=f"{roc.CONFIDENCE:.0%} bands", theory="theory")
        axes[2].legend(handles=shown, loc="upper left")
        axes[0].set_ylabel("density")
        axes[2].set_ylabel("true positive rate")
        words = _caption(request)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        paths = write.save(figure, request, "azize_fig5", caption=words, header=HEADER, rows=rows)
        table = request.out / "azize_fig5_roc.csv"
        write.write_bytes(table, write.table(words, roc.HEADER, roc_rows, request))
        return (*paths, table)


def _titles(easy: float, hard: float) -> tuple[str, str, str]:
    return (
        rf"easiest target, $m^{{\star}} = {easy:.2f}$",
        rf"hardest target, $m^{{\star}} = {hard:.2f}$",
        "ROC, hardest target",
    )


def _law(axes: "Axes", played: Played, panel: str) -> list[write.Row]:
    # As many bins as the games fill: of 500 in 48 bins the bands hide the histograms.
    edges, *counts = rebinned(played.histogram, min(MOST_BINS, round(2.0 * played.games ** (1 / 3))))
    widths = np.diff(edges)
    score = played.leakage()
    top = float(norm.pdf(0.0) / score**0.5)
    rows: list[write.Row] = []
    grid = np.linspace(edges[0], edges[-1], 400)
    worlds = (("out", style.OUT, -0.5), ("in", style.INSIDE, 0.5))
    for (world, colour, side), cells in zip(worlds, counts, strict=True):
        # All bins of both worlds of both panels, and the ROC band, share the failure probability.
        share = (1.0 - roc.CONFIDENCE) / 5
        low, high = clopper_pearson(cells, played.games, share, thresholds=len(cells))
        density = cells / (played.games * widths)
        axes.stairs(
            high / widths, edges, baseline=low / widths, color=colour, fill=True, alpha=0.3, linewidth=0
        )
        axes.stairs(density, edges, color=colour, linewidth=0.9)
        place = {"x": 0.02, "ha": "left"} if side < 0 else {"x": 0.98, "ha": "right"}
        axes.text(y=0.97, s=world, color=colour, va="top", transform=axes.transAxes, **place)
        top = max(top, float((high / widths).max()))
        law = side * score, score**0.5
        axes.plot(
            grid,
            norm.pdf(grid, *law),
            color=roc.darker(colour),
            linestyle=roc.DASHES[roc.THEORY],
            linewidth=0.9,
        )
        expected = np.diff(norm.cdf(edges, *law)) / widths
        for i, count in enumerate(cells):
            span = (float(edges[i]), float(edges[i + 1]), int(count), float(density[i]))
            rows.append(
                (
                    panel,
                    world,
                    *span,
                    float(low[i] / widths[i]),
                    float(high[i] / widths[i]),
                    float(expected[i]),
                )
            )
    axes.set_ylim(0.0, 1.12 * top)
    axes.set_xlim(edges[0], edges[-1])
    axes.set_xlabel("covariance score")
    return rows


def _caption(request: Request) -> str:
    return (
        "After Azize & Basu (2025), Fig. 5a–c: Bernoulli data, n = 1000, d = 5000. Solid: "
        f"{request.games:,} games in each world, seed {request.seed}. "
        f"Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all bins, both worlds, all FPRs "
        "and all three panels. Dashed: the predicted distributions N(−m*/2, m*) for “out” and N(+m*/2, m*) for “in” "
        "(lemma C.6), and theorem 3.1 in (c)."
    )
