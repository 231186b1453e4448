"""Leemann et al. (2023), figure 2c: GLiR's log p-values added over five steps on CIFAR-10, Location-30 and Adult."""

from math import ceil
from pathlib import Path

from figures import leemann_models, roc, style
from figures.study_counts import Request
from sims.last_layers import FOLLOWED, PROBLEMS, RATE, STEPS

DESCRIPTION = "as leemann_fig2b, log p-values added over five steps of training, against mu = 1.14 sqrt(5)"
GAMES = {"quick": 200, "standard": 500, "full": 100_000}
"""Games in each world: each is five steps of training on sampled records."""


def draw(request: Request) -> tuple[Path, ...]:
    """Play or read the studies, draw the panels, write the files.
    Raises DataError where a data set is missing.
    """

    def words(panels: list[leemann_models.Panel]) -> str:
        few = " (few at this scale: each is a training)" if request.scale == "quick" else ""
        # The variance of an area A is at most A (1 - A) / games (Birnbaum & Klose, 1957).
        error = ceil(500.0 / min(item.games for item in panels) ** 0.5) / 1000.0
        return (
            f"After Leemann et al. (2023), Fig. 2c: {STEPS} steps of training of the last layer at rate {RATE:g} (the paper states none), each on the same n sampled "
            f"records, {style.unbroken('τ = 0')}, no clipping; the log p-values of GLiR, with F and n where algorithm 1 prints F⁻¹, which has no value at S > 1, and n - 1, "
            f"are added. {leemann_models.models(panels)}The mean is followed from step to step by {FOLLOWED:,} of the background. The target is sampled anew "
            f"in each game. (a) as the authors draw it: mean and standard deviation of the five models. (b) to (d): each model. Solid: played curves of five models, seed {request.seed}; their areas, with the games in each world for each{few}: {leemann_models.areas(panels)}; "
            f"no area has a standard error above {error:g}. Shaded: {roc.CONFIDENCE:.0%} confidence bands, simultaneous over all FPRs and models. Dotted: μ = {leemann_models.MU} sqrt({STEPS}) for independent steps with K = d; these steps are on the same "
            f"records, which the paper too gives as the reason why its attacks gain little. {leemann_models.bounds(panels)}"
        )

    games = dict.fromkeys(PROBLEMS, GAMES[request.scale])
    return leemann_models.draw(request, "leemann_fig2c", STEPS, games, words)
