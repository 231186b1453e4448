"""Judging a curve by games: the empirical trade-off of a study against a claimed one."""

import threading
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

LEAST_RATE = 1e-2
"""FPR and FNR from here to 1 minus this are judged by games; below it exact laws are the judges."""

PROVEN = 1e-6
"""Error of a law, in probabilities, far below what any number of games played here resolves."""

GAMES = (100_000, 500_000, 5_000_000)
"""Games per world at quick, standard and full."""


_ONE_AT_A_TIME = threading.Lock()
"""One study uses every core, and two threads that ask for the same one must not write its counts at once."""


def played(name: str, games: int, seed: int, store: Path | None) -> Histogram:
    """Play a study once for all regimes that ask for it."""
    with _ONE_AT_A_TIME:
        return _played(name, games, seed, store)


@lru_cache(maxsize=64)
def law_at_this_size(name: str) -> AbstractTradeOff | None:
    """Return the exact curve of a study's attack at the study's own n, or None where none is known with a proven error.

    It tells what n -> infinity leaves out at this n from what finitely many games leave open.
    """
    game, attack = STUDIES[name].build()
    try:
        curve = game.exact(attack)
    except ValueError:
        return None
    return curve if curve.error_bound <= PROVEN else None


def of_law(law: AbstractTradeOff | None, contradicted: bool | None) -> str:
    """Say what is known of the exact law at the size that was played.

    Examples:
        >>> of_law(None, None)
        'no exact law is known at this size'
    """
    if law is None:
        return "no exact law is known at this size"
    agrees = "CONTRADICT" if contradicted else "agree with"
    return f"the games {agrees} the exact law at this size, which tells finite n from chance"


@lru_cache(maxsize=64)
def _played(name: str, games: int, seed: int, store: Path | None) -> Histogram:
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
    them. An interval that excludes the claim confirms nothing, unless the exact law at this n is known and explains it:
    then what is left is what n -> infinity leaves out, and the tolerance is for that. One size of n decides a limit only
    for it: outside the tolerance is REFUTED where `refutes` says that the statement is about this size (or that the
    standstill is shown elsewhere), otherwise INCONCLUSIVE.
    """
    count = budget.games(*games)
    histogram = played(study.name, count, budget.study_seed, budget.store)
    curve = histogram.tradeoff(confidence=1 - budget.failure_probability)
    law = law_at_this_size(study.name)
    found = curve.compare(claimed, tolerance, least_rate=LEAST_RATE, finite_size=law)
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
        parameters=parameters | {"study": study.name, "tolerance": tolerance},
        verdict=verdict,
        games=count,
        gap=found.gap,
        interval=found.interval,
        smallest_tolerance=found.smallest_tolerance,
        detectable_gap=found.detectable_gap,
        reading=reading,
        route=f"games ({histogram.manifest.get('fidelity', 'sufficient')} fidelity)",
        second_route=second_route() if second_route and verdict is Verdict.REFUTED else "",
        detail=f"judged at FPR {found.alpha_range[0]:.2g} to {found.alpha_range[1]:.2g}; {of_law(law, found.law_contradicted)}",
        seed=budget.study_seed,
        tolerance=tolerance,
        evidence=evidence,
        games_to_decide=found.games_to_confirm(tolerance) if verdict is Verdict.INCONCLUSIVE else None,
    )
