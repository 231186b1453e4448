"""Leemann et al. (2023), figure 1: the trade-off of theorem 5.1 against that of corollary 5.1 as d and n grow."""

from pathlib import Path

import numpy as np

import mipsim as mi
from figures import style, write
from figures.study_counts import Request
from mipsim.theory import leemann

DESCRIPTION = "theorem 5.1 against corollary 5.1 at K = d, without noise, for growing d and n (no games)"
SIZES = ((2, 2), (6, 5), (26, 20), (650, 500))
"""(d, n) with d/n near 1.3, the ratio of figure 2a."""
COLOURS = ("#F6C27A", "#E8654F", "#9B2A7A", "#1E1548")
HEADER = ("d", "n", "mu_step", "alpha", "theorem_5_1", "corollary_5_1")
CAPTION_INCHES = 0.6
DASHES = (0, (4, 1.6))


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the formulas, write the files; no game is played, so that scale and seed change nothing."""
    alpha = np.linspace(0.0, 1.0, 401)
    inner = np.unique(np.concatenate([np.geomspace(1e-4, 0.02, 60), np.linspace(0.02, 0.99, 240)]))
    rows: list[write.Row] = []
    widest = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES * 0.9, 2.6 + CAPTION_INCHES)
        axes = figure.subplots(1, 2)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.07, right=0.985, top=0.92, bottom=bottom, wspace=0.24)
        for (d, n), colour in zip(SIZES, COLOURS, strict=True):
            mu = leemann.step_mu(d, n, d)
            exact, normal = leemann.step_tradeoff(d, n, float(d)), mi.GaussianTradeOff(mu)
            left, right = exact.beta(alpha), normal.beta(alpha)
            axes[0].plot(alpha, left, color=colour, label=f"d = {d}, n = {n}")
            axes[0].plot(alpha, right, color=colour, linestyle=DASHES, linewidth=0.9)
            axes[1].plot(inner, exact.beta(inner) - normal.beta(inner), color=colour)
            widest.append(float(np.abs(left - right).max()))
            rows += [(d, n, mu, *map(float, cells)) for cells in zip(alpha, left, right, strict=True)]
        axes[0].set_ylabel(r"type-II error $\beta$")
        axes[0].plot([], [], color=style.INK, label="theorem 5.1")
        axes[0].plot([], [], color=style.INK, linestyle=DASHES, linewidth=0.9, label="corollary 5.1")
        axes[0].legend(loc="upper right")
        axes[0].set_xlim(0.0, 1.0)
        axes[0].set_ylim(0.0, 1.0)
        axes[1].set_ylabel(r"$\beta$ of theorem 5.1 $-$ $\beta$ of corollary 5.1")
        axes[1].axhline(0.0, color=style.FAINT, linewidth=0.6)
        axes[1].set_xlim(0.0, 1.0)
        for place, tag, title in zip(axes, "ab", ("the two curves", "their difference"), strict=True):
            place.set_xlabel(r"type-I error $\alpha$")
            style.letter(place, tag, title)
        words = _caption(widest)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=140)
        return write.save(figure, request, "leemann_fig1", caption=words, header=HEADER, rows=rows)


def _caption(widest: list[float]) -> str:
    size = style.unbroken("(d, n)")
    gaps = ", ".join(f"{gap:.2g}" for gap in widest)
    return (
        "After Leemann et al. (2023), Fig. 1: τ = 0, K = d; formulas, no games. Solid: theorem 5.1, by two non-central chi-square distributions. "
        "Dashed in (a): the Gaussian curve of corollary 5.1. "
        f"Largest difference in β over α: {gaps} from the smallest to the largest {size}."
    )
