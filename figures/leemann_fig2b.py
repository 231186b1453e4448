"""Leemann et al. (2023), figure 2b: GLiR on gradients of networks on CIFAR-10, Location-30 and Adult, with estimated moments."""

from pathlib import Path

from figures import leemann_models, roc, style
from figures.study_counts import Request
from sims.last_layers import PROBLEMS

DESCRIPTION = (
    "GLiR on last-layer gradients of five networks on CIFAR-10, Location-30 and Adult, against mu = 1.14"
)
GAMES = {"quick": 500, "standard": 500, "full": 100_000}
"""Games in each world: each is a step of training on sampled records."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panels, write the files.
    Raises DataError where a data set is missing.
    """

    def words(panels: list[leemann_models.Panel]) -> str:
        return (
            f"After Leemann et al. (2023), Fig. 2b: one step on the gradients of the last layer at n sampled records, {style.unbroken('τ = 0')}, no clipping. "
            f"{leemann_models.models(panels)}GLiR by p-values, with F and n where algorithm 1 prints F⁻¹, which has no value at S > 1, and n - 1; the target "
            f"is sampled anew in each game. (a) as the authors draw it: mean and standard deviation of the five models. (b) to (d): each model. Solid: games in each world per model, seed {request.seed}; areas: {leemann_models.areas(panels)}. Shaded: "
            f"{roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and models. Dotted: μ = {leemann_models.MU} (area 0.790), which takes K = d. "
            f"{leemann_models.bounds(panels)}"
        )

    games = dict.fromkeys(PROBLEMS, GAMES[request.scale])
    return leemann_models.draw(request, "leemann_fig2b", 1, games, words)
