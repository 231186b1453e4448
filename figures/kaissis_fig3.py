"""Kaissis et al. (2023), figure 3: audits of a single DP-SGD step against the bound."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import roc, style, write
from figures.study_counts import GAMES, Played, Request, play
from mipsim import data
from mipsim.theory import kaissis
from sims.kaissis_games import LATENT

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = (
    "audits of a DP-SGD step: offline LiRA, a Dirac canary and 50 dimensions of real data against the bound"
)
CAPTION_INCHES = 0.45
HEADER: write.Row = ("panel", "curve", "fpr", "fnr", "band_low", "band_high", "theory")
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-4, 0.05, 60)]))
FORTH, BACK, BOUND = style.MEDIUM, style.HARD, "#E69F00"
STUDIES = (
    ("a", "kaissis_fig3a", "offline LiRA, logits", 1.0, 1),
    ("b", "kaissis_fig3b", "Dirac canary, gradients", 1.0, 1),
    ("c", "kaissis_fig3c", "diabetes, d = 50", 2.0, LATENT),
)
"""Panel, study, title, Delta/sigma, and the dimension of the bound."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panels, write the files.
    Raises MissingPackageError without scikit-learn, whose data are in the last panel; nothing is played then.
    """
    data.diabetes()
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 2.6 + CAPTION_INCHES)
        axes = figure.subplots(1, 3, sharey=True)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.066, right=0.982, top=0.87, bottom=bottom, wspace=0.13)
        for place, (tag, study, title, ratio, d) in zip(axes, STUDIES, strict=True):
            rows += _panel(place, tag, play(study, request), ratio, d)
            style.letter(place, tag, rf"{title}, $\Delta/\sigma = {ratio:g}$")
        known = axes[2].get_legend_handles_labels()[0] + roc.marks(band=f"{roc.CONFIDENCE:.0%} bands")
        figure.legend(
            handles=known, loc="upper center", ncols=len(known), bbox_to_anchor=(0.52, 1.0), columnspacing=1.0
        )
        axes[0].set_ylabel(r"type II error $\beta$")
        words = (
            f"After Kaissis et al. (2023), Fig. 3: audits of a step of DP-SGD. {GAMES[request.scale]:,} games in each world, seed {request.seed}. "
            f"Green: record absent (type I) against present; blue: the reverse. Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all "
            f"rates and panels. Dashed: the bounds j (black) and j⁻¹ (orange); grey: those of a single dimension, the power that 50 cost.{style.SETTINGS}"
            "(a), (b) on a one-dimensional binary task, in (a) with 256 shadow models a game; (c) with the last layer of a linear network of 50 latent "
            "dimensions on the diabetes data. The bounds are those of corollary 1 in (a), (b), and of theorem 2 with 50 dimensions in (c)."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "kaissis_fig3", caption=words, header=HEADER, rows=rows)


def _panel(axes: "Axes", tag: str, played: Played, ratio: float, d: int) -> list[write.Row]:
    line = kaissis.FoldedGaussianTradeOff(ratio)
    bound = line if d == 1 else kaissis.gaussian_tradeoff(ratio, d)
    if d > 1:
        label = "$j$, $j^{-1}$ of $d = 1$"
        axes.plot(GRID, line.beta(GRID), color=style.FAINT, linestyle="--", linewidth=0.9, label=label)
        axes.plot(line.beta(GRID), GRID, color=style.FAINT, linestyle="--", linewidth=0.9)
    low, high = played.histogram.tradeoff(1.0 - (1.0 - roc.CONFIDENCE) / len(STUDIES), roc.THRESHOLDS).band(
        GRID
    )
    result, promised = 1.0 - played.power_at(GRID), bound.beta(GRID)
    axes.plot([0, 1], [1, 0], color=style.FAINT, linewidth=0.5, label="guessing")
    axes.fill_between(GRID, low, high, color=FORTH, alpha=0.22, linewidth=0)
    axes.fill_betweenx(GRID, low, high, color=BACK, alpha=0.22, linewidth=0)
    axes.plot(GRID, result, color=FORTH, linewidth=1.6, label="absent against present")
    axes.plot(result, GRID, color=BACK, linewidth=1.6, label="present against absent")
    # Dark on green and light on blue: seen in grey print too.
    for x, y, colour, label in ((GRID, promised, style.INK, "$j$"), (promised, GRID, BOUND, "$j^{-1}$")):
        axes.plot(x, y, color=colour, linestyle=roc.DASHES[roc.THEORY], linewidth=1.1, label=label)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=r"type I error $\alpha$")
    series = zip(GRID, result, low, high, promised, strict=True)
    return [(tag, "forth", *map(float, numbers)) for numbers in series]
