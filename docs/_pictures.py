"""Draws the four pictures of the glossary: `python docs/_pictures.py` writes `docs/images/*.svg`."""

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from scipy.special import ndtr, ndtri

import mipsim as mi

FOLDER = Path(__file__).parent / "images"
RED, GREEN, BLUE, GREY = "#D55E00", "#009E73", "#0072B2", "#777777"
STYLE: dict[Any, Any] = {
    "font.size": 9,
    "svg.fonttype": "none",
    "svg.hashsalt": "mipsim",
    "font.family": "sans-serif",
}
FPR = np.linspace(1e-4, 1 - 1e-4, 200)


def trade_off_curve(axes: Axes) -> None:
    for mu, colour in ((0.5, GREEN), (1.0, BLUE), (2.0, RED)):
        axes.plot(FPR, mi.GaussianTradeOff(mu).beta(FPR), colour, label=f"mu = {mu:g}")
    axes.plot([0, 1], [1, 0], "--", color=GREY, label="guessing")
    axes.set(xlabel="FPR (alpha)", ylabel="smallest FNR (beta)", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)


def probit(axes: Axes) -> None:
    x = np.linspace(-3, 3, 100)
    for mu, colour, label in ((1.0, BLUE, "claimed, mu = 1"), (1.5, RED, "true, mu = 1.5")):
        axes.plot(x, ndtri(mi.GaussianTradeOff(mu).beta(ndtr(x))), colour, label=label)
    axes.annotate("", (0.5, -1.5), (0.5, -2.0), arrowprops={"arrowstyle": "<->", "shrinkA": 0, "shrinkB": 0})
    axes.text(0.75, -1.2, "gap = 0.5 probits")
    axes.set(xlabel="FPR, in probits", ylabel="FNR, in probits", xlim=(-3, 3))
    axes.legend(frameon=False)


def verdict(axes: Axes) -> None:
    axes.axvspan(-0.02, 0.02, color=GREY, alpha=0.25, lw=0)
    axes.axvline(0, ymax=0.82, color=GREY, lw=0.8)
    rows = (
        ("INCONCLUSIVE", 0.004, 0.031, BLUE),
        ("REFUTED", 0.028, 0.05, RED),
        ("CONFIRMED", -0.008, 0.012, GREEN),
    )
    for height, (word, low, high, colour) in enumerate(rows):
        axes.plot([low, high], [height] * 2, colour, lw=4, solid_capstyle="butt")
        axes.text(-0.058, height, word, color=colour, va="center")
    axes.text(0, 2.6, "tolerance", ha="center", color=GREY)
    axes.set(xlabel="gap, in probits: interval of each claim", xlim=(-0.06, 0.06), ylim=(-0.6, 3), yticks=[])


def enclosure(axes: Axes) -> None:
    curve = mi.GaussianTradeOff(1.0).beta(FPR)
    low, high = np.maximum(curve - 0.05, 0), np.minimum(curve + 0.05, 1 - FPR)
    axes.fill_between(FPR, low, high, color=BLUE, alpha=0.25, lw=0, label="proven bounds")
    axes.plot(FPR, curve, BLUE, label="true curve")
    i = int(np.abs(FPR - 0.4).argmin())
    axes.plot([0.4, 0.4], [low[i], high[i]], "_-", color=RED)
    axes.text(0.43, high[i], "both ends of FNR\nat FPR 0.4", color=RED)
    axes.set(xlabel="FPR (alpha)", ylabel="FNR (beta)", xlim=(0, 1), ylim=(0, 1))
    axes.legend(frameon=False)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with plt.rc_context(STYLE):
        for draw in (trade_off_curve, probit, verdict, enclosure):
            figure, axes = plt.subplots(figsize=(3.4, 2.4), layout="constrained")
            axes.spines[["top", "right"]].set_visible(False)
            draw(axes)
            figure.savefig(FOLDER / f"{draw.__name__}.svg", metadata={"Date": None})
            plt.close(figure)


if __name__ == "__main__":
    main()
