"""Leemann et al. (2023), figure 2b: GLiR on gradients of networks on CIFAR-10, Location-30 and Adult, with estimated moments."""

from pathlib import Path

import mipsim as mi
from figures import leemann_models, style
from figures.study_counts import Request
from sims.last_layers import PROBLEMS

DESCRIPTION = (
    "GLiR on last-layer gradients of five networks on CIFAR-10, Location-30 and Adult, against mu = 1.14"
)
GAMES = {"quick": 500, "standard": 5_000, "full": 100_000}
"""Games in each world: each is a step of training on sampled records."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panels, write the files.
    Raises DataError where a data set is missing.
    """
    games = GAMES[request.scale]

    def words(panels: list[leemann_models.Panel]) -> str:
        return (
            f"After Leemann et al. (2023), Fig. 2b: GLiR on one step of training of the last layer. {leemann_models.panels_of(games, request.seed)}"
            f"Dashed: theorem 5.1. Dotted: μ = {leemann_models.MU} at K = d (area {mi.GaussianTradeOff(leemann_models.MU).auc():.3f}).{style.SETTINGS}"
            f"n sampled records a step, {style.unbroken('τ = 0')}, no clipping; the target is sampled anew in each game. {leemann_models.models(panels)}"
            f"GLiR by p-values, with F and n where algorithm 1 prints F⁻¹, which has no value at S > 1, and n - 1. {leemann_models.bounds(panels)}"
        )

    return leemann_models.draw(request, "leemann_fig2b", 1, dict.fromkeys(PROBLEMS, games), words)
