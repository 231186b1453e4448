"""A refutation of eta-MIP by games: one attack on one data set whose accuracy is surely above 1/2 + eta."""

from __future__ import annotations

from collections.abc import Callable

from sims.studies import STUDIES
from verify.by_games import played
from verify.claim import Budget, Regime, RegimeResult, Verdict


def games_regime(study: str, eta: float, parameters: dict[str, object], second: Callable[[], str]) -> Regime:
    """Play the study; REFUTED where the lower confidence bound of eta is above the promised one, else INCONCLUSIVE."""

    def judge(budget: Budget) -> RegimeResult:
        scales = STUDIES[study].games
        count = budget.games(scales["quick"], scales["standard"], scales["full"])
        histogram = played(study, count, budget.study_seed, budget.store)
        curve = histogram.tradeoff(confidence=1 - budget.failure_probability)
        low, high = (0.5 * end for end in curve.advantage_interval())
        refuted = low > eta
        return RegimeResult(
            parameters=parameters,
            verdict=Verdict.REFUTED if refuted else Verdict.INCONCLUSIVE,
            games=count,
            gap=(low if refuted else 0.5 * (low + high)) / eta - 1.0,
            interval=(low / eta - 1.0, high / eta - 1.0),
            smallest_tolerance=float("inf") if not refuted else high / eta - 1.0,
            detectable_gap=(high - low) / eta,
            unit="relative to eta",
            route="games: literal",
            detail=f"the attack's eta is in [{low:.4f}, {high:.4f}], promised {eta:g}",
            second_route=second() if refuted else "",
            seed=budget.study_seed,
        )

    return Regime(f"games, {study}", parameters, judge)
