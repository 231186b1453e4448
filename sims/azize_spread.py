"""Wider settings than the paper's: the likelihood ratio at its point, other targets, random targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import mipsim as mi
from sims.azize_paper import N, mean_limit, normal_limit, paper_target, reference_data
from sims.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

GAMES = {"quick": 100_000, "standard": 400_000, "full": 4_000_000}
SLOW_GAMES = {"quick": 5_000, "standard": 40_000, "full": 1_000_000}
SEED = 20_250_503


def _likelihood_ratio(kind: str) -> tuple[mi.FixedTarget, mi.LikelihoodRatio]:
    data = reference_data()
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=N, target=paper_target(kind))
    return game, mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=N, target=game.target)


def _misspecified(aimed: tuple[float, ...]) -> tuple[mi.FixedTarget, mi.CovarianceScore]:
    data = mi.Bernoulli(np.tile([0.3, 0.4, 0.55, 0.7], 250))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=500, target=np.tile([1.0, 1.0, 0.0, 0.0], 250))
    return game, mi.CovarianceScore(data, n=500, target=np.tile(aimed, 250))


def _random_target() -> tuple[mi.RandomTarget, mi.LikelihoodRatio]:
    data = mi.Bernoulli(np.random.default_rng(SEED).uniform(0.25, 0.75, 500))
    return mi.RandomTarget(mi.EmpiricalMean(), data, n=100), mi.LikelihoodRatio(
        mi.EmpiricalMean(), data, n=100
    )


def _bind(build: Callable, *arguments: object) -> Callable:
    return lambda: build(*arguments)


SPREAD = (
    *(
        Study(
            f"azize_lr_{kind}",
            f"exact likelihood ratio, {kind} target, at the paper's point",
            _bind(_likelihood_ratio, kind),
            GAMES,
            claim=mean_limit,
        )
        for kind in ("easy", "medium", "hard")
    ),
    *(
        Study(
            f"azize_misspecified_{name}",
            f"aimed at a {name} point",
            _bind(_misspecified, aimed),
            GAMES,
            claim=normal_limit,
        )
        for name, aimed in (("near", (1.0, 1.0, 0.0, 1.0)), ("far", (0.0, 1.0, 0.0, 1.0)))
    ),
    Study("azize_random_target", "random targets, n = 100, d = 500", _random_target, SLOW_GAMES),
)
"""Studies beyond the figures."""
