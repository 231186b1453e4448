"""The README's picture: theorem 4.2 of Azize & Basu (2025) as printed, and as corrected, against the games.

The committed picture is plotted by `python -m figures verdict --scale full --out figures/images`.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figures import roc, style, write
from figures.study_counts import Played, Request, play
from mipsim.theory import azize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from mipsim.tradeoff.base import AbstractTradeOff

DESCRIPTION = "the README's picture: theorem 4.2 as printed and as corrected, with their verdicts"
RHO = 0.1
CONFIDENCE = 0.999
TOLERANCE = 0.05
# From this rate on, 10^6 games give the gap to about half the tolerance or better.
LEAST_RATE = 1e-2
COMPARED = 0.1
"""The FPR of the arrow, within the rates that are judged."""
CAPTION_INCHES = 0.6
CONFIRMED, REFUTED, BAND = "#0072B2", "#D55E00", "#30343B"


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the study, judge the two curves, draw and write the picture."""
    played = play(f"azize_fig2_rho_{RHO:g}", request)
    score = played.leakage()
    printed = azize.subsampled_tradeoff_printed(score, RHO)
    corrected = azize.subsampled_tradeoff_corrected(score, RHO)
    with style.journal():
        figure = style.blank(5.0, 3.05 + CAPTION_INCHES)
        axes = figure.subplots()
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.10, right=0.972, top=0.935, bottom=bottom)
        rows = _curves(axes, played, printed, corrected)
        _words(axes, played, printed, corrected)
        axes.set_title("Sub-sampling a tenth of the records: theorem 4.2 against the games", loc="left")
        words = (
            "Azize & Basu (2025), theorem 4.2, in the setting of their Fig. 2c: n = 1000, d = 5000, "
            f"Bernoulli data, easiest target (m* = {score:.2f}), ρ = {RHO:g}, exact likelihood ratio. "
            f"{request.games:,} games in each world, seed {request.seed}; "
            f"shaded: {CONFIDENCE:.1%} simultaneous confidence band. "
            f"Verdicts: failure probability {1 - CONFIDENCE:.1g}, tolerance {TOLERANCE:g} probits, "
            f"at rates from {LEAST_RATE:g} to {1 - LEAST_RATE:g}."
        )
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=120)
        return write.save(figure, request, "verdict", caption=words, header=roc.HEADER, rows=rows)


def _curves(
    axes: "Axes", played: Played, printed: "AbstractTradeOff", corrected: "AbstractTradeOff"
) -> list[write.Row]:
    alpha = roc.grid(roc.lowest_fpr(played.games))
    high, low = (1.0 - beta for beta in played.histogram.tradeoff(CONFIDENCE, roc.THRESHOLDS).band(alpha))
    tpr = played.power_at(alpha)
    claimed = [1.0 - curve.beta(alpha) for curve in (corrected, printed)]
    axes.fill_between(alpha, low, high, color=BAND, alpha=0.22, linewidth=0)
    axes.plot(alpha, tpr, color=BAND, linewidth=1.6)
    axes.plot(alpha, claimed[0], color=CONFIRMED, linestyle=roc.DASHES[roc.THEORY], linewidth=1.1)
    axes.plot(alpha, claimed[1], color=REFUTED, linestyle=roc.DASHES[roc.PRINTED], linewidth=1.5)
    roc.frame(axes, alpha[0])
    axes.set_yscale("log")
    axes.set_ylim(0.6 * min(claimed[1][0], tpr[0]), 1.0)
    axes.set_ylabel("true positive rate")
    series = zip(alpha, tpr, low, high, *claimed, strict=True)
    return [("a", f"rho={RHO:g}", *map(float, numbers)) for numbers in series]


def _words(axes: "Axes", played: Played, printed: "AbstractTradeOff", corrected: "AbstractTradeOff") -> None:
    curve = played.histogram.tradeoff(CONFIDENCE)
    result, claimed = float(played.power_at(np.array([COMPARED]))[0]), 1.0 - float(printed.beta(COMPARED))
    arrow = {"arrowstyle": "<->", "lw": 0.7, "color": style.INK, "shrinkA": 1, "shrinkB": 1}
    axes.annotate("", (COMPARED, result), (COMPARED, claimed), arrowprops=arrow)
    ratio = f"{result / claimed:.2g}× the claimed power\nat FPR {COMPARED:g}"
    axes.text(COMPARED, 0.6 * result, ratio, va="top", ha="center")
    mixture = r"$\rho\,\Phi(\Phi^{-1}(\alpha)+\sqrt{m^{\star}/\rho})+(1-\rho)\,\alpha$"
    normal = r"$\Phi(\Phi^{-1}(\alpha)+\sqrt{\rho\,m^{\star}})$"
    right, wrong = (curve.compare(claim, TOLERANCE, least_rate=LEAST_RATE) for claim in (corrected, printed))
    # In corners that no curve enters, whatever the number of games.
    words = (
        (0.02, 0.97, f"corrected: {right.verdict}\n{mixture}", CONFIRMED, "left", "top"),
        (0.98, 0.17, f"as printed: {wrong.verdict}\n{normal}", REFUTED, "right", "bottom"),
        (0.98, 0.05, f"solid: {played.games:,} games in each world", BAND, "right", "bottom"),
    )
    for x, y, text, colour, side, end in words:
        axes.text(
            x, y, text, color=colour, fontsize=9.5, ha=side, va=end, linespacing=1.4, transform=axes.transAxes
        )
