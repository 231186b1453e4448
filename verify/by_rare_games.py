"""Judging a curve at small false-positive rates: tilted games, whose weights are exact, against a claimed curve."""

import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from mipsim.bands import RareTradeOff
from mipsim.rare import play_rare
from mipsim.tradeoff import AbstractTradeOff
from sims.studies import STUDIES
from sims.study import Study
from verify.by_games import law_at_this_size, of_law
from verify.claim import Budget, CurveEvidence, RegimeResult, Verdict

RATES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2)
"""About where the thresholds are placed: what plain games of this number cannot see."""

GAMES = (50_000, 200_000, 1_000_000)
"""Games per world at quick, standard and full."""

_ONE_AT_A_TIME = threading.Lock()
"""Two claims that ask for the same games get them once."""


def judge_rare(
    study: Study,
    claimed: AbstractTradeOff,
    tolerance: float,
    budget: Budget,
    parameters: dict[str, Any],
    *,
    games: tuple[int, int, int] = GAMES,
    reading: str = "",
    refutes: bool = False,
    second_route: Callable[[], str] | None = None,
) -> RegimeResult:
    """Play a study's game tilted and compare its curve at FPR 1e-6 to 1e-2 with the claimed one.

    As for plain games, an interval that excludes the claim confirms only what the exact law at this n explains. One size
    of n decides a limit only for it: outside the tolerance is REFUTED where `refutes` says that the statement is about
    this size, otherwise INCONCLUSIVE.

    Raises:
        ValueError: if the weights of the study's tilted games are not known exactly.
    """
    count = budget.games(*games)
    with _ONE_AT_A_TIME:
        curve = _played(study.name, count, budget.study_seed, 1 - budget.failure_probability)
    law = law_at_this_size(study.name)
    found = curve.compare(claimed, tolerance, finite_size=law)
    verdict = Verdict(found.verdict_for("limit"))
    if verdict is Verdict.REFUTED and not refutes:
        verdict = Verdict.INCONCLUSIVE
    grid = np.geomspace(1e-7, 1e-1, 121)
    lower, upper = curve.band(grid)
    low, high = found.alpha_range
    return RegimeResult(
        parameters=parameters | {"study": study.name, "tolerance": tolerance},
        verdict=verdict,
        games=count,
        gap=found.gap,
        interval=found.interval,
        smallest_tolerance=found.smallest_tolerance,
        detectable_gap=found.detectable_gap,
        reading=reading,
        route="games (tilted, thinned)",
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=(
            f"judged at FPR {low:.2g} to {high:.2g} by exponentially tilted games ({curve.manifest['score']}): their "
            f"weights are exact, and thinning makes the weighted counts binomial; {of_law(law, found.law_contradicted)}"
        ),
        seed=budget.study_seed,
        tolerance=tolerance,
        evidence=CurveEvidence(
            curve.alpha,
            curve.beta,
            grid,
            lower,
            upper,
            grid,
            claimed.beta(grid),
            f"{count:,} tilted games per world",
            f"{study.name}, tilted",
        ),
        games_to_decide=found.games_to_confirm(tolerance) if verdict is Verdict.INCONCLUSIVE else None,
    )


@lru_cache(maxsize=64)
def _played(name: str, games: int, seed: int, confidence: float) -> RareTradeOff:
    game, attack = STUDIES[name].build()
    return play_rare(game, attack, games, seed, false_positive_rates=RATES, confidence=confidence)
