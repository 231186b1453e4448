"""Leemann et al. (2023), figure 2a: GLiR on simulated gradients with known moments against the analytic curve."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import mipsim as mi
from figures import roc, style, write
from figures.study_counts import Request, play
from mipsim.theory import leemann
from sims.leemann_games import FIGURE_2A

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = "GLiR on simulated Gaussian gradients in three sizes against the analytic curve, mu = 1.14"
COLOURS = (style.EASY, style.MEDIUM, style.HARD)
WIDTHS = (3.6, 2.1, 0.9)
"""The curves coincide: each is seen beside the next."""
MU = 1.14
CAPTION_INCHES = 0.45


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the three studies, draw the curves and what each is off the analytic curve, write the files."""
    # A seed for each: studies of the same kind with the same seed share their random numbers, and their errors would agree.
    requested = [replace(request, seed=request.seed + k) for k in range(len(FIGURE_2A))]
    curves = [
        _curve(d, n, colour, item) for (d, n), colour, item in zip(FIGURE_2A, COLOURS, requested, strict=True)
    ]
    alpha, known = roc.grid(roc.lowest_fpr(request.games)), mi.GaussianTradeOff(MU)
    power = 1.0 - known.beta(alpha)
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 3.1 + CAPTION_INCHES)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        place = {"left": 0.066, "right": 0.982, "top": 0.93, "bottom": bottom, "wspace": 0.24, "hspace": 0.3}
        parts = figure.add_gridspec(len(curves), 2, **place)
        axes = figure.add_subplot(parts[:, 0])
        rows = roc.draw(axes, curves, panel="a", family=len(curves))
        solid = [line for line in axes.lines if str(line.get_label()).startswith("d =")]
        for line, width in zip(solid, WIDTHS, strict=True):
            line.set_linewidth(width)
        label = rf"analytic, $\mu = {MU}$"
        axes.plot(alpha, power, color="black", linewidth=0.9, linestyle=roc.DASHES[roc.PRINTED], label=label)
        rows += [
            ("a", f"mu={MU}", float(a), "", "", "", float(p), "") for a, p in zip(alpha, power, strict=True)
        ]
        axes.set_ylabel("true positive rate")
        shown = roc.marks(theory="theorem 5.1", band=f"{roc.CONFIDENCE:.0%} bands")
        axes.legend(handles=[*axes.get_legend_handles_labels()[0], *shown], loc="upper left")
        style.letter(axes, "a", "ROC curves")
        for part, tag, curve, first in zip(
            range(len(curves)), "bcd", curves, rows[:: len(alpha)], strict=False
        ):
            below = figure.add_subplot(parts[part, 1], sharex=axes)
            some = [row for row in rows if row[1] == first[1]]
            _off(below, np.array([row[3:7] for row in some], dtype=float).T - power, alpha, curve)
            style.letter(below, tag, f"{curve.label}: TPR less the analytic curve's")
            below.tick_params(labelbottom=tag == "d")
            below.set_xlabel("false positive rate" if tag == "d" else "")
        words = _caption(request)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "leemann_fig2a", caption=words, header=roc.HEADER, rows=rows)


def _off(axes: "Axes", off: np.ndarray, alpha: np.ndarray, curve: roc.Curve) -> None:
    """What the played curve, both ends of its band and theorem 5.1 are off, shape (4, alpha)."""
    played, low, high, theory = off
    axes.fill_between(alpha, low, high, color=curve.colour, alpha=0.2, linewidth=0)
    axes.plot(alpha, played, color=curve.colour)
    axes.plot(alpha, theory, color=roc.darker(curve.colour), linestyle=roc.DASHES[roc.THEORY], linewidth=0.9)
    axes.axhline(0.0, color="black", linestyle=roc.DASHES[roc.PRINTED], linewidth=0.9)
    roc.frame(axes, alpha[0])
    axes.set_ylim(-0.035, 0.035)


def _curve(d: int, n: int, colour: str, request: Request) -> roc.Curve:
    predicted = {roc.THEORY: leemann.step_tradeoff(d, n, float(d))}
    return roc.Curve(f"d = {d}, n = {n}", f"d={d}", colour, play(f"leemann_fig2a_{d}", request), predicted)


def _caption(request: Request) -> str:
    zero = style.unbroken("τ = 0")
    return (
        f"After Leemann et al. (2023), Fig. 2a: GLiR on simulated Gaussian gradients with known mean and covariance, {zero}, a "
        f"target of K = d. Solid: {request.games:,} games in each world per curve, seed {request.seed} and those after it. "
        f"Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and all three curves. "
        f"Dashed: theorem 5.1 for each size. Dotted: the Gaussian curve of corollary 5.1, μ = {MU}."
    )
