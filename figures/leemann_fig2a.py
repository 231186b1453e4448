"""Leemann et al. (2023), figure 2a: GLiR on simulated gradients with known moments against the analytic curve."""

from dataclasses import replace
from pathlib import Path

import mipsim as mi
from figures import roc, style
from figures.study_counts import Request, play
from mipsim.theory import leemann
from sims.leemann_games import FIGURE_2A

DESCRIPTION = "GLiR on simulated Gaussian gradients in three sizes against the analytic curve, mu = 1.14"
COLOURS = (style.EASY, style.MEDIUM, style.HARD)
MU = 1.14
CAPTION_INCHES = 0.7


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the three studies, draw the panel, write the files."""
    # A seed for each: studies of the same kind with the same seed share their random numbers, and their errors would agree.
    requested = [replace(request, seed=request.seed + k) for k in range(len(FIGURE_2A))]
    curves = [
        _curve(d, n, colour, item) for (d, n), colour, item in zip(FIGURE_2A, COLOURS, requested, strict=True)
    ]
    known = rf"analytic, $\mu = {MU}$", f"mu={MU}", mi.GaussianTradeOff(MU).tpr_at
    return roc.single_panel(
        request, "leemann_fig2a", curves, known, _caption(request), CAPTION_INCHES, loc="upper left"
    )


def _curve(d: int, n: int, colour: str, request: Request) -> roc.Curve:
    predicted = {roc.THEORY: leemann.step_tradeoff(d, n, float(d))}
    return roc.Curve(f"d = {d}, n = {n}", f"d={d}", colour, play(f"leemann_fig2a_{d}", request), predicted)


def _caption(request: Request) -> str:
    zero = style.unbroken("τ = 0")
    return (
        f"After Leemann et al. (2023), Fig. 2a: simulated Gaussian gradients with known mean and covariance, {zero}, a "
        f"target of K = d, GLiR. Solid: {request.games:,} games in each world per curve, seed {request.seed} and those after it. "
        f"Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and all three curves. "
        f"Dashed: theorem 5.1 for each size. Dotted: the Gaussian curve of corollary 5.1, μ = {MU}."
    )
