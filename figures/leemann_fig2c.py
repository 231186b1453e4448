"""Leemann et al. (2023), figure 2c: GLiR's log p-values added over five steps on CIFAR-10, Location-30 and Adult."""

from pathlib import Path

from figures import leemann_models, style
from figures.study_counts import Request
from sims.last_layers import FOLLOWED, PROBLEMS, RATE, STEPS

DESCRIPTION = "as leemann_fig2b, log p-values added over five steps of training, against mu = 1.14 sqrt(5)"
GAMES = {"quick": 200, "standard": 5_000, "full": 100_000}
"""Games in each world: each is five steps of training on sampled records."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panels, write the files.
    Raises DataError where a data set is missing.
    """
    games = GAMES[request.scale]

    def words(panels: list[leemann_models.Panel]) -> str:
        return (
            f"After Leemann et al. (2023), Fig. 2c: GLiR over {STEPS} steps of training of the last layer. {leemann_models.panels_of(games, request.seed)}"
            f"Dashed: theorem 5.1 for a single step. Dotted: μ = {leemann_models.MU} sqrt({STEPS}) at K = d for independent steps; these share their records.{style.SETTINGS}"
            f"rate {RATE:g} (the paper states none), the same n sampled records in every step, {style.unbroken('τ = 0')}, no clipping; the target is sampled anew in each game. "
            f"{leemann_models.models(panels)}The log p-values of GLiR, with F and n where algorithm 1 prints F⁻¹, which has no value at S > 1, and n - 1, are added. "
            f"The mean is followed from step to step by {FOLLOWED:,} of the background. {leemann_models.bounds(panels)}"
        )

    return leemann_models.draw(request, "leemann_fig2c", STEPS, dict.fromkeys(PROBLEMS, games), words)
