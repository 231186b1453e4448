"""The picture of an empirical trade-off curve: points, simultaneous band, claimed curve."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim.bands.played import AbstractPlayedTradeOff
from mipsim.tradeoff.base import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INK, _CURVE, _CLAIM = "#222222", "#0072B2", "#D55E00"  # blue and red that colour-blind readers tell apart
_JOURNAL: Any = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 9,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "savefig.dpi": 300,
}


def draw_figure(figure: Figure, curve: AbstractPlayedTradeOff, claim: AbstractTradeOff | None = None) -> None:
    """Fill an empty figure with a caption and two panels: FNR on FPR, and TPR on FPR with log axes."""
    import matplotlib as mpl

    figure.set_size_inches(6.9, 3.3)
    figure.set_layout_engine("constrained")
    with mpl.rc_context(_JOURNAL):
        left, right = figure.subplots(1, 2)
        draw_curve(left, curve, claim)
        draw_curve(right, curve, claim, logarithmic=True)
        right.get_legend().remove()
        figure.supxlabel(_caption(curve, claim), fontsize=8, color=_INK)


def draw_curve(
    ax: Axes,
    curve: AbstractPlayedTradeOff,
    claim: AbstractTradeOff | None = None,
    *,
    logarithmic: bool = False,
) -> None:
    """Draw FNR against FPR on `ax`, or TPR against FPR with both axes logarithmic.

    Args:
        ax: matplotlib axes.
        curve: the counts.
        claim: a claimed trade-off function, or None.
        logarithmic: whether to draw the second form.
    """
    import matplotlib as mpl

    least = max(0.5 / curve.out_games, 1e-12)
    band = curve.curve_band
    # Both bounds are steps that jump only here, so that these points draw the band exactly.
    grid = np.unique(np.concatenate([[least if logarithmic else 0.0, 1.0], band.alpha_low, band.alpha_high]))
    grid = grid[grid >= least] if logarithmic else grid
    lower, upper = band.at(grid)
    alpha, beta = curve.alpha, curve.beta
    fine = np.unique(np.concatenate([np.geomspace(least, 1.0, 400), np.linspace(least, 1.0, 400)]))
    claimed = None if claim is None else claim.tpr_at(fine) if logarithmic else claim.beta(fine)
    if logarithmic:
        floor = 0.5 / curve.in_games
        lower, upper, beta = (np.maximum(1.0 - value, floor) for value in (upper, lower, beta))
        beta = np.where(1.0 - curve.beta > 0, beta, np.nan)
        alpha = np.where(alpha > 0, alpha, np.nan)
    with mpl.rc_context(_JOURNAL):
        shade: Any = {"step": "post", "color": _CURVE, "alpha": 0.2, "lw": 0}
        ax.fill_between(grid, lower, upper, label=_band_label(curve), **shade)
        ax.plot(alpha, beta, "o-", color=_CURVE, ms=1.8, lw=0.7, label="played")
        if claimed is not None:
            ax.plot(fine, claimed, "--", color=_CLAIM, lw=1.1, label="claimed")
        ax.plot(fine, fine if logarithmic else 1.0 - fine, ":", color="0.55", lw=0.8, label="blind guess")
        ax.set_xlabel(r"false-positive rate $\alpha$")
        ax.set_ylabel(r"true-positive rate $1-\beta$" if logarithmic else r"false-negative rate $\beta$")
        if logarithmic:
            # From a quarter of a decade below the first point that carries information.
            start = max(least, float(band.alpha_high.min()) / 2)
            bottom = max(0.5 / curve.in_games, start)
            ax.set(xscale="log", yscale="log", xlim=(start, 1.0), ylim=(bottom, 1.1))
        else:
            ax.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        ax.legend(loc="lower right" if logarithmic else "upper right")


def inline_png(curve: AbstractPlayedTradeOff, claim: AbstractTradeOff | None = None) -> str:
    """The figure as a base64 PNG of some tens of kilobytes, without touching pyplot's state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    FigureCanvasAgg(figure)
    draw_figure(figure, curve, claim)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    return base64.b64encode(buffer.getvalue()).decode("ascii")


def _band_label(curve: AbstractPlayedTradeOff) -> str:
    return f"{100 * curve.confidence:.9g}% simultaneous band"


def _caption(curve: AbstractPlayedTradeOff, claim: AbstractTradeOff | None) -> str:
    games = f"{curve.out_games:,} out and {curve.in_games:,} in games"
    if curve.out_games == curve.in_games:
        games = f"{curve.out_games:,} games in each world"
    shaded = f"shaded: {_band_label(curve)} over {curve.thresholds.size} thresholds"
    if claim is None:
        return f"{games}; {shaded}"
    words = str(claim)
    if "\n" in words:  # of a curve of many points, a line for each of its arrays
        words = type(claim).__name__
    return f"{games}; {shaded}; dashed: {words}"
