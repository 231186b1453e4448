"""`python -m sims bench hunt`: who finds planted defects, and how fast."""

from __future__ import annotations

import json
import random
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import differential_evolution
from scipy.stats import qmc

from mipsim import referee as rf
from mipsim.referee.domain import Choice, Whole
from mipsim.referee.judging.point import look
from sims.planted import DEFECTS, damaged_statement

PROBES, QUICK_PROBES = 2000, 400
"""Looks that each searcher may take: a few seconds. A hunt of a minute has twenty times as many."""
SEEDS, QUICK_SEEDS = 10, 2


@dataclass(frozen=True)
class Score:
    """How a searcher did on a defect: how many of the seeds detected it, and the mean seconds of a search."""

    searcher: str
    defect: str
    detected: int
    seeds: int
    seconds: float


class _Counterexample(Exception):
    pass


class _Spent(Exception):
    pass


def hunted(statement: rf.Statement, probes: int, seed: int) -> bool:
    """Search with `mipsim.referee.hunting.hunt`; detected means REFUTED by its judge."""
    return rf.hunt(statement, f"{probes} probes", seed=seed, progress=False).verdict == "REFUTED"


def sobol(statement: rf.Statement, probes: int, seed: int) -> bool:
    """Search by scrambled Sobol points alone."""
    generator = np.random.default_rng(seed)
    sample = qmc.Sobol(len(statement.domain), seed=generator)  # pyright: ignore[reportCallIssue]  # SciPy 1.14 has no rng
    points = sample.random(2 ** int(np.ceil(np.log2(probes))))
    return any(_breaks(statement, _point(statement, place)) for place in points[:probes])


def evolution(statement: rf.Statement, probes: int, seed: int) -> bool:
    """Search by SciPy's differential evolution with its own settings, categories as places in [0, 1]."""
    left = [probes]

    def height(x: np.ndarray) -> float:
        if left[0] == 0:
            raise _Spent
        left[0] -= 1
        strain = _strain(statement, _point(statement, x))
        if strain > 0.0:
            raise _Counterexample
        return min(-strain, 1e9)

    bounds = [(0.0, 1.0)] * len(statement.domain)
    try:
        while left[0]:
            differential_evolution(
                height,
                bounds,
                polish=False,
                maxiter=10**6,
                seed=seed * 1000 + left[0] % 1000,  # pyright: ignore[reportCallIssue]
            )
    except _Counterexample:
        return True
    except _Spent:
        pass
    return False


def hypothesis(statement: rf.Statement, probes: int, seed: int) -> bool:
    """Search by Hypothesis with `target`.
    Raises ImportError if it is not installed.
    """
    from hypothesis import HealthCheck, Phase, given, settings, strategies, target
    from hypothesis import seed as seeded

    places = {
        name: strategies.sampled_from(item.values)
        if isinstance(item, Choice)
        else strategies.integers(*item.ends)
        if isinstance(item, Whole)
        else strategies.floats(*item.ends)
        for name, item in statement.domain.items()
    }

    @seeded(seed)
    @settings(
        max_examples=probes, database=None, deadline=None, suppress_health_check=list(HealthCheck),  # pyright: ignore[reportArgumentType]
        phases=[Phase.generate, Phase.target],
    )  # fmt: skip
    @given(strategies.fixed_dictionaries(places))
    def searched(at: dict[str, Any]) -> None:
        strain = _strain(statement, at)
        if strain > 0.0:
            raise _Counterexample
        if strain > -1e6:
            target(strain)

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            searched()
    except _Counterexample:
        return True
    return False


SEARCHERS: dict[str, Callable[[rf.Statement, int, int], bool]] = {
    "hunt": hunted,
    "Sobol alone": sobol,
    "SciPy's differential evolution": evolution,
    "Hypothesis with target": hypothesis,
}


def _point(statement: rf.Statement, places: Sequence[float] | np.ndarray) -> dict[str, Any]:
    return {
        name: item.value(float(u)) for (name, item), u in zip(statement.domain.items(), places, strict=True)
    }


def _strain(statement: rf.Statement, at: dict[str, Any]) -> float:
    return look(statement, at, 0).strain if statement.stands(at) else -float("inf")


def _breaks(statement: rf.Statement, at: dict[str, Any]) -> bool:
    return _strain(statement, at) > 0.0


def run_hunt_bench(quick: bool = False, file: str | None = None) -> list[Score]:
    """Let every searcher look for every planted defect, print the table, and write it as JSON if a file is named.
    `quick`: fewer seeds and probes; `file`: where the JSON goes.
    """
    seeds, probes = (QUICK_SEEDS, QUICK_PROBES) if quick else (SEEDS, PROBES)
    random.seed(0)
    scores: list[Score] = []
    names = list(SEARCHERS)
    print(
        f"{len(DEFECTS)} planted defects, {seeds} seeds, {probes} probes each: detected, and seconds of a search"
    )
    print(f"{'':<40}" + "".join(f"{name[:22]:>24}" for name in names))
    for defect in DEFECTS:
        statement, row = damaged_statement(defect), []
        for name in names:
            began = time.perf_counter()
            try:
                result = sum(SEARCHERS[name](statement, probes, seed) for seed in range(seeds))
            except ImportError:
                row.append("not installed")
                continue
            seconds = (time.perf_counter() - began) / seeds
            scores.append(Score(name, defect.name, result, seeds, seconds))
            row.append(f"{result}/{seeds}  {seconds:6.2f} s")
        print(f"{defect.name:<40}" + "".join(f"{cell:>24}" for cell in row), flush=True)
    totals = []
    for name in names:
        mine = [score for score in scores if score.searcher == name]
        share = sum(score.detected for score in mine) / max(1, sum(score.seeds for score in mine))
        longest = max((score.seconds for score in mine), default=0.0)
        totals.append(f"{share:.1%}, <= {longest:.1f} s")
    print(f"{'all':<40}" + "".join(f"{cell:>24}" for cell in totals))
    if file is not None:
        Path(file).write_text(
            json.dumps([asdict(score) for score in scores], indent=1) + "\n", encoding="utf-8"
        )
    return scores
