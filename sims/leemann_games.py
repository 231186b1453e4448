"""The studies of Leemann, Pawelczyk & Kasneci (2023): figure 2a and a counterexample."""

from functools import partial

import numpy as np

import mipsim as mi
from mipsim.theory import leemann
from sims.study import Study

GAMES = {"quick": 100_000, "standard": 1_000_000, "full": 10_000_000}
FIGURE_2A = ((650, 500), (2580, 1970), (1026, 790))
"""(d, n) of the three curves of figure 2a, with the n of the authors' scripts of training: mu_step = 1.14 at K = d in all three."""


def _simulated(d: int, n: int) -> tuple[mi.FixedTarget, mi.AbstractAttack]:
    """Gaussian gradients with known moments and a target of K = d; the test does not depend on the covariance."""
    data = mi.Gaussian(np.zeros(d), np.ones(d))
    direction = np.random.default_rng(0).normal(size=d)
    target = direction * np.sqrt(d) / np.linalg.norm(direction)
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=n, target=target), mi.GLiR(data, n=n)


def _shifted_mean() -> tuple[mi.FixedTarget, mi.AbstractAttack]:
    """Gradients of mean 3 and a target of zero: without centring K = 0."""
    data = mi.Gaussian(np.full(2, 3.0), np.ones(2))
    return mi.FixedTarget(mi.EmpiricalMean(), data, n=10, target=np.zeros(2)), mi.GLiR(data, n=10)


LEEMANN = (
    *(
        Study(
            f"leemann_fig2a_{d}",
            f"Gaussian gradients, d = {d}, n = {n}, K = d, GLiR",
            partial(_simulated, d, n),
            GAMES,
            claim=lambda game, attack: leemann.step_tradeoff(
                game.data.dimension, game.n, game.data.dimension
            ),
        )
        for d, n in FIGURE_2A
    ),
    Study(
        "leemann_counterexample_mean",
        "Gaussian gradients N(3, 1), d = 2, n = 10, target 0, GLiR",
        _shifted_mean,
        GAMES,
    ),
)
