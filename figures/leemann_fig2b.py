"""Leemann et al. (2023), figure 2b: GLiR on gradients of networks on Adult, with estimated moments."""

from dataclasses import replace
from pathlib import Path

import numpy as np

import mipsim as mi
from figures import roc, style
from figures.played import Request, play
from mipsim.theory import leemann
from sims.gradients import ADULT_BATCH, BACKGROUND, MODELS

DESCRIPTION = "GLiR on gradients of five networks on Adult with estimated moments, against mu = 1.14"
MU = 1.14
CAPTION_INCHES = 1.05
GAMES = {"quick": 2_000, "paper": 500, "full": 100_000}
"""Games in each world: every record of every game is drawn."""
COLOURS = ("#2D1160", "#7B2382", "#B5367A", "#E75263", "#F98C5A")


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panel, write the files.

    Raises:
        DataError: where Adult is missing.
    """
    request = replace(request, fewer=GAMES[request.scale])
    curves = [
        roc.Curve(f"model {seed}", f"model={seed}", colour, play(f"leemann_fig2b_adult_{seed}", request))
        for seed, colour in zip(range(MODELS), COLOURS, strict=True)
    ]
    ranks = [curve.played.game.data.dimension for curve in curves]
    best = {}
    for rank in sorted(set(ranks)):
        bound, first = leemann.step_tradeoff(rank, ADULT_BATCH, float(rank)), ranks.index(rank)
        curves[first] = replace(curves[first], predicted={roc.THEORY: bound})
        best[rank] = 1.0 - _area(bound)
    known = rf"analytic, $\mu = {MU}$", f"mu={MU}", mi.GaussianTradeOff(MU).tpr_at
    areas = [float(np.trapezoid(curve.played.tpr, curve.played.fpr)) for curve in curves]
    words = _caption(request, areas, best)
    return roc.one_panel(request, "leemann_fig2b", curves, known, words, CAPTION_INCHES, loc="lower right")


def _area(bound: mi.AbstractTradeOff) -> float:
    alpha = np.linspace(0.0, 1.0, 4001)
    return float(np.trapezoid(bound.beta(alpha), alpha))


def _caption(request: Request, areas: list[float], best: dict[int, float]) -> str:
    """`best` has the area of the bound for each rank that gradients of a model have."""
    ranks = " or ".join(map(str, best))
    bounds = ", ".join(f"{area:.3f}" for area in best.values())
    return (
        f"After Leemann et al. (2023), Fig. 2b, Adult: one step on n = {ADULT_BATCH} gradients of 512 frozen random tanh features and a linear layer "
        f"(d = 1,026), five draws of the network, at the start of its training; {style.unbroken('τ = 0')}, no clipping. GLiR by p-values, with n and F, "
        f"the target drawn anew in each game; mean and covariance from {BACKGROUND:,} background gradients, shrunk as Ledoit and Wolf do. Solid: "
        f"{request.games:,} games in each world per model, seed {request.seed}; areas {', '.join(f'{area:.3f}' for area in areas)}. Shaded: "
        f"{roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and the five models. Dotted: μ = {MU} (area .790), which takes d = 1,026; "
        f"but the two rows of the layer have opposite gradients, which vary along {ranks} axes: dashed, theorem 5.1 with d = K = {ranks} (area {bounds})."
    )
