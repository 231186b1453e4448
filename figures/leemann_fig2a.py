"""Leemann et al. (2023), figure 2a: GLiR on simulated gradients with known moments against the analytic curve."""

from pathlib import Path

import mipsim as mi
from figures import roc, style, write
from figures.played import Request, play
from mipsim.theory import leemann
from sims.leemann_games import FIGURE_2A

DESCRIPTION = "GLiR on simulated Gaussian gradients in three sizes against the analytic curve, mu = 1.14"
COLOURS = (style.EASY, style.MEDIUM, style.HARD)
MU = 1.14
CAPTION_INCHES = 0.7


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the three studies, draw the panel, write the files."""
    curves = [_curve(d, n, colour, request) for (d, n), colour in zip(FIGURE_2A, COLOURS, strict=True)]
    with style.journal():
        figure = style.blank(4.4, 2.9 + CAPTION_INCHES)
        axes = figure.subplots()
        bottom = (CAPTION_INCHES + 0.42) / figure.get_size_inches()[1]
        figure.subplots_adjust(left=0.1, right=0.97, top=0.985, bottom=bottom)
        rows = roc.draw(axes, curves, panel="a", family=len(curves))
        alpha = roc.grid(roc.lowest_fpr(request.games))
        power = 1.0 - mi.GaussianTradeOff(MU).beta(alpha)
        axes.plot(
            alpha, power, color="black", linestyle=roc.DASHES[roc.PRINTED], label=rf"analytic, $\mu = {MU}$"
        )
        rows += [
            ("a", f"mu={MU}", float(a), "", "", "", float(p), "") for a, p in zip(alpha, power, strict=True)
        ]
        axes.set_ylabel("true positive rate")
        axes.legend(loc="upper left")
        words = _caption(request)
        style.caption(figure, words, bottom_inches=CAPTION_INCHES, characters=102)
        return write.save(figure, request.out, "leemann_fig2a", caption=words, header=roc.HEADER, rows=rows)


def _curve(d: int, n: int, colour: str, request: Request) -> roc.Curve:
    predicted = {roc.THEORY: leemann.step_tradeoff(d, n, float(d))}
    return roc.Curve(f"d = {d}, n = {n}", f"d={d}", colour, play(f"leemann_fig2a_{d}", request), predicted)


def _caption(request: Request) -> str:
    zero = style.unbroken("τ = 0")
    return (
        f"After Leemann et al. (2023), Fig. 2a: simulated Gaussian gradients with known mean and covariance, {zero}, a "
        f"target of K = d, GLiR. Solid: {request.games:,} games in each world per curve, seed {request.seed}. "
        f"Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and all three curves. "
        f"Dashed: theorem 5.1 for each size. Dotted: the Gaussian curve of corollary 5.1, mu = {MU}. "
        "The three curves share their random numbers and nearly coincide."
    )
