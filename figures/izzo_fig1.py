"""Izzo et al. (2024), figure 1: the noise that eta-MIP needs, directly and through differential privacy."""

from math import sqrt
from pathlib import Path

import numpy as np

from figures import style, write
from figures.study_counts import Request
from mipsim.theory import izzo, izzo_example

DESCRIPTION = "noise scale against eta for MIP and for DP, on the data set of proposition 11 (no games)"
SIZES = (12, 18, 24, 30, 36, 42, 48)
HEADER = ("curve", "n", "eta", "noise_scale")
POINTS = 400
CAPTION_INCHES = 0.68
SIGMA = 1.0
"""The standard deviation of A is below 1 at every plotted n, and tends to it."""


def draw(request: Request) -> tuple[Path, ...]:
    """Draw the formulas, write the files; no game is played, so that scale and seed change nothing."""
    # Dense at both ends, where the curves turn.
    eta = 0.5 * np.sin(np.linspace(0.0, np.pi / 2, POINTS + 2)[1:-1]) ** 2
    rows: list[write.Row] = []
    with style.journal():
        import matplotlib

        figure = style.blank(style.COLUMN_INCHES + 1.3, 3.1 + CAPTION_INCHES)
        axes = figure.subplots()
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.125, right=0.86, top=0.935, bottom=bottom)
        shades = matplotlib.colormaps["plasma_r"](np.linspace(0.22, 0.92, len(SIZES)))
        for n, shade in zip(SIZES, shades, strict=True):
            scale = np.array([izzo.dp_noise_scale(float(e), izzo_example.sensitivity(n)) for e in eta])
            axes.plot(eta, scale, color=shade, linestyle=":", linewidth=1.3)
            axes.annotate(
                f"n = {n}",
                (0.5, float(np.interp(0.497, eta, scale))),
                xytext=(4, 0),
                textcoords="offset points",
                color=shade,
                va="center",
                fontsize=7.5,
            )
            rows += [("DP", n, float(e), float(s)) for e, s in zip(eta, scale, strict=True)]
        printed = np.array([izzo.mip_noise_scale(float(e), SIGMA) for e in eta])
        enough = np.array([izzo.sufficient_noise_scale(float(e), SIGMA) for e in eta])
        axes.plot(
            eta,
            printed,
            color=style.HARD,
            linewidth=1.6,
            label=rf"MIP as printed, $({izzo.CONSTANT_FROM_2:g}/\eta)^2\sigma$",
        )
        axes.plot(
            [],
            [],
            color=style.INK,
            linestyle=":",
            linewidth=1.3,
            label=r"DP, $\Delta/\log\frac{1+2\eta}{1-2\eta}$",
        )
        axes.plot(
            eta,
            enough,
            color=style.FAINT,
            linestyle="-.",
            linewidth=1.0,
            label=r"suffices for MIP, $2\sigma/\log\frac{1+2\eta}{1-2\eta}$",
        )
        for name, scale in (("MIP", printed), ("sufficient", enough)):
            rows += [(name, "", float(e), float(s)) for e, s in zip(eta, scale, strict=True)]
        axes.set_yscale("log")
        axes.set_xlim(0.0, 0.5)
        axes.set_ylim(0.1, 1e10)  # room for the legend above the curves
        axes.set_xlabel(r"$\eta$, accuracy above random guessing")
        axes.set_ylabel("noise scale")
        axes.set_title("Noise for membership-inference privacy", loc="left")
        axes.legend(loc="upper right", bbox_to_anchor=(1.0, 1.02))
        words = _caption()
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=112)
        return write.save(figure, request, "izzo_fig1", caption=words, header=HEADER, rows=rows)


def _caption() -> str:
    low, high = izzo_example.mip_wins_from(36, SIGMA)
    mean = style.unbroken("E‖θ − Eθ‖ ≤ σ")
    wide = izzo_example.mip_wins_from(36, sqrt(5.0))[0]
    return (
        "After Izzo et al. (2024), Fig. 1: noise on the set of proposition 11. Formulas, no games. Solid: theorem 9 as printed. "
        f"Dotted: Laplace noise for the DP that implies η-MIP. At n = 36 the printed MIP noise is the smaller for η from {low:.4f} to nearly {high:g}. "
        f"Dash-dotted: the scale that suffices for every algorithm, norm and dimension with {mean}; it is below DP's wherever 2σ < Δ.{style.SETTINGS}"
        f"1/sum over halves of the set with the proof's last record; M = 2, {izzo.CONSTANT_FROM_2:g}, σ = 1; with the proof's bound σ² = 5 the printed noise is the smaller from {wide:.4f} on. "
        "The scale that suffices pairs the sets with and without the target."
    )
