"""Kaissis et al. (2023), figure 1: the curves of both threat models, at low and at high noise."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import style, write
from figures.played import Request
from mipsim.theory import kaissis
from mipsim.tradeoff import AbstractTradeOff

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DESCRIPTION = (
    "trade-off curves of the relaxed threat model against those of the attacker who knows the record"
)
RATE = 0.3
NOISE = ((1.0, "high noise"), (3.0, "low noise"))
DIMENSIONS = (1, 30)
CAPTION_INCHES = 0.55
HEADER: write.Row = ("panel", "noise", "mu", "d", "curve", "alpha", "beta")
GRID = np.unique(np.concatenate([np.linspace(0.0, 1.0, 201), np.geomspace(1e-6, 0.05, 100)]))
RELAXED, BACK, BOTH, KNOWN = "#0072B2", "#56B4E9", "#222222", "#D55E00"


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the six panels from the exact curves; no game is played."""
    rows: list[write.Row] = []
    with style.journal():
        figure = style.blank(style.PAGE_INCHES, 4.5 + CAPTION_INCHES)
        axes = figure.subplots(2, 3, sharex=True, sharey=True)
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.066, right=0.982, top=0.95, bottom=bottom, wspace=0.12, hspace=0.22)
        panels = (
            [("Laplace", mu) for mu, _ in NOISE]
            + [("Gaussian", mu) for mu, _ in NOISE]
            + [("sub-sampled", 3.0)]
        )
        for place, tag, (noise, mu) in zip(axes.flat, "abcde", panels, strict=False):
            rows += _panel(place, tag, noise, mu)
        rows += _dimensions(axes.flat[5])
        for place in axes[:, 0]:
            place.set_ylabel(r"type II error $\beta$")
        for place in axes[1]:
            place.set_xlabel(r"type I error $\alpha$")
        words = (
            "After Kaissis et al. (2023), Fig. 1: exact curves, no games, so that they have no seed and no confidence band. Relaxed threat "
            "model: j (record absent against present), jinv (the reverse) and J = Symm(j, jinv); f is the curve of the attacker who knows the "
            f"record's effect. μ is the sensitivity over the noise's scale, taken as 1 and 3; sampling rate p = {RATE:g}, d = 1 but in (f), "
            "where j of d = 30 is compared with d = 1 at μ = 3."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=158)
        return write.save(figure, request.out, "kaissis_fig1", caption=words, header=HEADER, rows=rows)


def curves(noise: str, mu: float) -> tuple[AbstractTradeOff, AbstractTradeOff]:
    """(j of the relaxed threat model, f of the DPTM)."""
    if noise == "Laplace":
        return kaissis.laplace_tradeoff(mu), kaissis.laplace_dptm(mu)
    j, f = kaissis.FoldedGaussianTradeOff(mu), kaissis.gaussian_dptm(mu)
    if noise == "Gaussian":
        return j, f
    return kaissis.sampled_tradeoff(j, RATE), kaissis.symmetrised(kaissis.sampled_tradeoff(f, RATE))


def _panel(axes: "Axes", tag: str, noise: str, mu: float) -> list[write.Row]:
    j, f = curves(noise, mu)
    beta = j.beta(GRID)
    fine = np.unique(np.concatenate([GRID, np.linspace(0.0, 1.0, 4001)]))
    inverse = np.interp(GRID, j.beta(fine)[::-1], fine[::-1])
    lines = (
        ("j", r"$j$", beta, RELAXED, "-"),
        ("jinv", r"$j^{-1}$", inverse, BACK, (0, (4, 1.6))),
        ("J", r"$J$", kaissis.symmetrised(j).beta(GRID), BOTH, (0, (1, 1.2))),
        ("f", r"$f$", f.beta(GRID), KNOWN, "-"),
    )
    rows: list[write.Row] = []
    axes.plot([0, 1], [1, 0], color=style.FAINT, linewidth=0.5)
    for key, label, values, colour, dashes in lines:
        axes.plot(GRID, values, color=colour, linestyle=dashes, label=label)
        rows += [(tag, noise, mu, 1, key, float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    symbol = rf"{noise}, $\mu = {mu:g}$"
    style.letter(axes, tag, symbol)
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.legend(loc="upper right")
    return rows


def _dimensions(axes: "Axes") -> list[write.Row]:
    rows: list[write.Row] = []
    axes.plot([0, 1], [1, 0], color=style.FAINT, linewidth=0.5)
    for d, colour in zip(DIMENSIONS, (RELAXED, style.MEDIUM), strict=True):
        values = kaissis.gaussian_tradeoff(3.0, d).beta(GRID)
        axes.plot(GRID, values, color=colour, label=rf"$j$, $d = {d}$")
        rows += [
            ("f", "Gaussian", 3.0, d, "j", float(a), float(b)) for a, b in zip(GRID, values, strict=True)
        ]
    values = kaissis.gaussian_dptm(3.0).beta(GRID)
    axes.plot(GRID, values, color=KNOWN, label=r"$f$, every $d$")
    rows += [("f", "Gaussian", 3.0, 0, "f", float(a), float(b)) for a, b in zip(GRID, values, strict=True)]
    style.letter(axes, "f", r"Gaussian, $\mu = 3$")
    axes.legend(loc="upper right")
    return rows
