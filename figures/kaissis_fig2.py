"""Kaissis et al. (2023), figure 2: many steps in many dimensions, and the power at a low FPR."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import style, write
from figures.study_counts import Request
from mipsim.theory import kaissis
from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "the limit of many steps and dimensions, and the power at FPR 0.001 against the noise"
DIMENSION, STEPS, RATIO = 300, 150, 0.2
ALPHA, RATE = 1e-3, 0.3
CAPTION_INCHES = 0.55
HEADER: write.Row = ("panel", "curve", "x", "y")
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-6, 0.05, 100)]))
RATIOS = np.linspace(0.05, 8.0, 80)
RELAXED, BACK, LIMIT, KNOWN = "#0072B2", "#56B4E9", "#222222", "#D55E00"


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the three panels from the exact curves; no game is played."""
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 2.35 + CAPTION_INCHES)
        axes = figure.subplots(1, 3)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.066, right=0.982, top=0.92, bottom=bottom, wspace=0.28)
        rows = _limit(axes[0]) + _power(axes[1], "b", 1.0) + _power(axes[2], "c", RATE)
        style.letter(axes[0], "a", rf"$d = {DIMENSION}$, $N = {STEPS}$, $\Delta/\sigma = 1/5$")
        style.letter(axes[1], "b", "Gaussian")
        style.letter(axes[2], "c", rf"sub-sampled, $p = {RATE:g}$")
        words = (
            "After Kaissis et al. (2023), Fig. 2: exact curves, no games, so that they have no seed and no confidence band. (a) j and j⁻¹ of "
            f"{STEPS} Gaussian steps in {DIMENSION} dimensions, the limit of theorem 3 (equation 7), at most {_gap(rows, 'j'):.2g} from j "
            f"and {_gap(rows, 'jinv'):.2g} from j⁻¹, and f of the attacker who knows the record's effect. (b, c) Power at FPR {ALPHA:g} in the relaxed threat model (J) and in the DPTM (f), d = 1."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "kaissis_fig2", caption=words, header=HEADER, rows=rows)


def _limit(axes: "Axes") -> list[write.Row]:
    total = STEPS * RATIO**2
    j = kaissis.gaussian_tradeoff(total**0.5, DIMENSION)
    lines = (
        ("j", r"$j$", j.beta(GRID), RELAXED, "-", 2.2),
        ("jinv", r"$j^{-1}$", j.inverse().beta(GRID), BACK, "-", 1.1),
        ("theorem 3", "theorem 3", kaissis.limit_beta(GRID, DIMENSION, total), LIMIT, (0, (1, 1.2)), 1.1),
        ("f", r"$f$ (DPTM)", GaussianTradeOff(total**0.5).beta(GRID), KNOWN, style.DASH_DOT, 1.1),
    )
    axes.plot([0, 1], [1, 0], color=style.FAINT, linewidth=0.5, label="guessing")
    rows: list[write.Row] = []
    for key, label, values, colour, dashes, width in lines:
        axes.plot(GRID, values, color=colour, linestyle=dashes, linewidth=width, label=label)
        rows += [("a", key, float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel=r"type I error $\alpha$", ylabel=r"type II error $\beta$")
    axes.legend(loc="upper right")
    return rows


def _gap(rows: list[write.Row], curve: str) -> float:
    """Largest distance in type II error between a curve of panel a and theorem 3."""
    values, limit = ([float(row[3]) for row in rows if row[:2] == ("a", key)] for key in (curve, "theorem 3"))
    return max(abs(a - b) for a, b in zip(values, limit, strict=True))


def _power(axes: "Axes", tag: str, rate: float) -> list[write.Row]:
    rows: list[write.Row] = []
    models = (
        ("DPTM", GaussianTradeOff, KNOWN, style.DASH_DOT),
        ("relaxed", kaissis.FoldedGaussianTradeOff, RELAXED, "-"),
    )
    for key, curve, colour, dashes in models:
        power = [float(kaissis.symmetrised(MixtureTradeOff(curve(mu), rate)).tpr_at(ALPHA)) for mu in RATIOS]
        label = key if key == "DPTM" else "relaxed threat model"
        axes.plot(RATIOS, power, color=colour, linestyle=dashes, label=label)
        rows += [(tag, key, float(x), y) for x, y in zip(RATIOS, power, strict=True)]
    axes.set(
        xlim=(0, 8),
        ylim=(0, 1.02),
        xlabel=r"$\Delta/\sigma$",
        ylabel=rf"power at $\alpha = 10^{{{int(np.log10(ALPHA))}}}$",
    )
    axes.legend(loc="lower right" if tag == "b" else "upper left")
    return rows
