"""Judging a curve by games: the empirical trade-off of a study against a claimed one."""

from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mipsim.engine import Histogram
from mipsim.tradeoff import AbstractTradeOff
from sims.runner import run
from sims.studies import STUDIES
from sims.study import Study
from verify.claim import Budget, CurveEvidence, RegimeResult, Verdict

LEAST_RATE = 3e-3
"""FPR and FNR from here to 1 minus this are judged by games; below it exact laws are the judges."""

GAMES = (250_000, 1_000_000, 10_000_000)
"""Games per world at quick, standard and full."""


@lru_cache(maxsize=64)
def _played(name: str, games: int, seed: int, store: Path | None) -> Histogram:
    """Play a study once for all regimes that ask for it."""
    return run(STUDIES[name], games, seed, directory=store)


def judge_curve(
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
    """Play the study and compare its curve with the claimed one at thresholds fixed before the run.

    The judged thresholds are those whose two error rates reach LEAST_RATE; the simultaneous intervals pay for all of
    them. One size of n decides a limit only for it: outside the tolerance is REFUTED where `refutes` says that the
    statement is about this size (or that the standstill is shown elsewhere), otherwise INCONCLUSIVE.
    """
    count = budget.games(*games)
    histogram = _played(study.name, count, budget.study_seed, budget.store)
    curve = histogram.tradeoff(confidence=1 - budget.failure_probability)
    found = curve.compare(claimed, tolerance, least_rate=LEAST_RATE)
    verdict = Verdict(found.verdict_for("limit"))
    if verdict is Verdict.REFUTED and not refutes:
        verdict = Verdict.INCONCLUSIVE
    grid = np.geomspace(1e-5, 1.0, 200)
    lower, upper = curve.band(grid)
    evidence = CurveEvidence(
        curve.alpha,
        curve.beta,
        grid,
        lower,
        upper,
        grid,
        claimed.beta(grid),
        f"{count:,} games per world",
        study.name,
    )
    return RegimeResult(
        parameters=parameters | {"study": study.name},
        verdict=verdict,
        games=count,
        gap=found.gap,
        interval=found.interval,
        smallest_tolerance=found.smallest_tolerance,
        detectable_gap=found.detectable_gap,
        reading=reading,
        route=f"games ({histogram.manifest.get('route', 'sufficient')} route)",
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=f"judged at FPR {found.alpha_range[0]:.2g} to {found.alpha_range[1]:.2g}",
        seed=budget.study_seed,
        evidence=evidence,
        games_to_decide=found.games_to_confirm(tolerance) if verdict is Verdict.INCONCLUSIVE else None,
    )
