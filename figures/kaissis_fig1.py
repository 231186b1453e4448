"""Kaissis et al. (2023), figure 1: the curves of both threat models, at low and at high noise."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import style, write
from figures.study_counts import Request
from mipsim.theory import kaissis
from mipsim.tradeoff import (
    AbstractTradeOff,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = (
    "trade-off curves of the relaxed threat model against those of the attacker who knows the record"
)
RATE = 0.3
NOISE = (1.0, 3.0)
"""mu of the upper row, which is plotted linearly, and of the lower row, which is readable only on logarithmic axes."""
KINDS = ("Laplace", "Gaussian", "sub-sampled")
DIMENSIONS = (1, 30)
LOWEST = 1e-4
CAPTION_INCHES = 0.45
HEADER: write.Row = ("panel", "noise", "mu", "d", "curve", "alpha", "beta")
GRID = np.unique(
    np.concatenate(
        [np.linspace(0.0, 1.0, 201), np.geomspace(1e-6, 0.05, 100), 1.0 - np.geomspace(1e-6, 0.05, 100)]
    )
)
RELAXED, BACK, BOTH, KNOWN = "#0072B2", "#56B4E9", "#222222", "#D55E00"


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the eight panels from the exact curves; no game is played."""
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 3.9 + CAPTION_INCHES)
        axes = figure.subplots(2, 4)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.07, right=0.975, top=0.89, bottom=bottom, wspace=0.2, hspace=0.32)
        tags = iter("abcdefgh")
        for row, mu in zip(axes, NOISE, strict=True):
            for place, noise in zip(row, KINDS, strict=False):
                rows += _panel(place, next(tags), noise, mu)
            rows += _dimensions(row[-1], next(tags), mu)
            row[0].set_ylabel(r"type II error $\beta$")
            for place in row[1:]:
                place.tick_params(labelleft=False)
        for place in axes[0]:
            place.set(xlim=(0, 1), ylim=(0, 1))
        for place in axes[1]:
            place.set(xscale="log", yscale="log", xlim=(LOWEST, 1), ylim=(LOWEST, 1))
            place.set_xlabel(r"type I error $\alpha$")
        words = (
            "After Kaissis et al. (2023), Fig. 1: exact curves, no games. Relaxed threat model: j (record absent against present), its inverse (the "
            "reverse) and J, both symmetrised; f is the curve of the attacker who knows the record's effect. μ is the sensitivity over the noise's "
            f"scale; μ = 3 on logarithmic axes. d = 1 but for j of d = 30 in (d) and (h), where f is that of every d; sampling rate p = {RATE:g}."
        )
        handles = {
            label: line
            for place in axes.flat
            for line, label in zip(*place.get_legend_handles_labels(), strict=True)
        }
        figure.legend(
            handles.values(), handles, loc="upper center", ncols=len(handles), bbox_to_anchor=(0.52, 1.0)
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request, "kaissis_fig1", caption=words, header=HEADER, rows=rows)


def curves(noise: str, mu: float) -> tuple[AbstractTradeOff, AbstractTradeOff]:
    """(j of the relaxed threat model, f of the DPTM)."""
    if noise == "Laplace":
        return FoldedLaplaceTradeOff(mu), LaplaceTradeOff(mu)
    j, f = kaissis.FoldedGaussianTradeOff(mu), GaussianTradeOff(mu)
    if noise == "Gaussian":
        return j, f
    return MixtureTradeOff(j, RATE), kaissis.symmetrised(MixtureTradeOff(f, RATE))


def _panel(axes: "Axes", tag: str, noise: str, mu: float) -> list[write.Row]:
    j, f = curves(noise, mu)
    beta = j.beta(GRID)
    near = np.geomspace(1e-12, 0.5, 4001)
    fine = np.unique(np.concatenate([GRID, near, 1.0 - near]))
    inverse = np.interp(GRID, j.beta(fine)[::-1], fine[::-1])
    lines = (
        ("j", r"$j$", beta, RELAXED, "-"),
        ("jinv", r"$j^{-1}$", inverse, BACK, (0, (4, 1.6))),
        ("J", r"$J$", kaissis.symmetrised(j).beta(GRID), BOTH, (0, (1, 1.2))),
        ("f", r"$f$", f.beta(GRID), KNOWN, style.DASH_DOT),
    )
    rows: list[write.Row] = []
    axes.plot(GRID, 1.0 - GRID, color=style.FAINT, linewidth=0.5, label="guessing")
    for key, label, values, colour, dashes in lines:
        axes.plot(GRID, values, color=colour, linestyle=dashes, label=label)
        rows += [(tag, noise, mu, 1, key, float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    symbol = rf"{noise}, $\mu = {mu:g}$"
    style.letter(axes, tag, symbol)
    return rows


def _dimensions(axes: "Axes", tag: str, mu: float) -> list[write.Row]:
    rows: list[write.Row] = []
    axes.plot(GRID, 1.0 - GRID, color=style.FAINT, linewidth=0.5)
    for d, colour in zip(DIMENSIONS, (RELAXED, style.MEDIUM), strict=True):
        values = kaissis.gaussian_tradeoff(mu, d).beta(GRID)
        axes.plot(GRID, values, color=colour, label="$j$" if d == 1 else rf"$j$, $d = {d}$")
        rows += [(tag, "Gaussian", mu, d, "j", float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    values = GaussianTradeOff(mu).beta(GRID)
    axes.plot(GRID, values, color=KNOWN, linestyle=style.DASH_DOT, label="$f$")
    rows += [(tag, "Gaussian", mu, 0, "f", float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    style.letter(axes, tag, rf"Gaussian, $\mu = {mu:g}$")
    return rows
