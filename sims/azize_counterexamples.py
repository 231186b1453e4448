"""Small literal games in which a printed statement fails: the second route of the refutations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

import mipsim as mi
from sims.study import Study

if TYPE_CHECKING:
    from jaxtyping import Array

GAMES = {"quick": 20_000, "standard": 20_000, "full": 1_000_000}
ROWS, ATOM_ROWS = 50, 40


def _off_support() -> tuple[mi.FixedTarget, mi.FunctionAttack]:
    data = mi.Bernoulli(np.array([0.4, 0.5, 0.7]))

    def fraction(target: Array, output: Array) -> Array:
        total = output * ROWS
        return jnp.sum(jnp.abs(total - jnp.round(total)))

    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=ROWS, target=np.full(3, 0.5))
    return game, mi.FunctionAttack(fraction)


def _three_atoms() -> tuple[mi.FixedTarget, mi.FunctionAttack]:
    data = mi.Discrete(np.array([0.0, 1.0, np.sqrt(2.0)]), np.tile([0.6, 0.3, 0.1], (20, 1)))

    def decode(target: Array, output: Array) -> Array:
        # The only count c of sqrt 2 that leaves a whole number of ones; ratio of the counts' Binomial laws.
        counts = jnp.arange(ATOM_ROWS + 1)
        rest = output[:, None] * ATOM_ROWS - counts * jnp.sqrt(2.0)
        feasible = (rest > -0.5) & (rest + counts < ATOM_ROWS + 0.5)
        miss = jnp.where(feasible, jnp.abs(rest - jnp.round(rest)), jnp.inf)
        return jnp.sum(jnp.log(jnp.argmin(miss, axis=1) / (0.1 * ATOM_ROWS)))

    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=ATOM_ROWS, target=np.full(20, np.sqrt(2.0)))
    return game, mi.FunctionAttack(decode)


def _rare() -> tuple[mi.FixedTarget, mi.LikelihoodRatio]:
    p = np.full(100, 0.5)
    p[-1] = 0.1 / 100
    data = mi.Bernoulli(p)
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=np.ones(100))
    return game, mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=100)


def _subsampled(rho: float) -> tuple[mi.FixedTarget, mi.LikelihoodRatio]:
    data = mi.Bernoulli(np.tile([0.3, 0.4, 0.55, 0.7], 50))
    mechanism = mi.Subsampled(mi.EmpiricalMean(), rho)
    game = mi.FixedTarget(mechanism, data, n=100, target=data.easiest_target())
    # Ranked by the ratio given that the target is sampled: the same tests as the mixture's, without its saturation.
    return game, mi.LikelihoodRatio(mi.EmpiricalMean(), data, n=mechanism.rows(100))


SCALAR_P, SCALAR_TARGET, SCALAR_REFERENCE = (0.05, 0.1), (1.0, 1.0), (0.0, 0.0)
"""A small game in which the scalar product is the stronger attack (computed by enumeration)."""


def _scalar(kind: str) -> tuple[mi.FixedTarget, mi.AbstractAttack]:
    data = mi.Bernoulli(np.array(SCALAR_P))
    game = mi.FixedTarget(mi.EmpiricalMean(), data, n=4, target=np.array(SCALAR_TARGET))
    if kind == "product":
        return game, mi.ScalarProduct(SCALAR_REFERENCE, target=game.target)
    return game, mi.CovarianceScore(data, n=4, target=game.target)


COUNTEREXAMPLES = (
    *(
        Study(f"azize_counterexample_scalar_{k}", f"n = 4, {k} score", lambda k=k: _scalar(k), GAMES)
        for k in ("covariance", "product")
    ),
    Study(
        "azize_counterexample_bernoulli-off-support",
        "Bernoulli(.4, .5, .7), n = 50, target (1/2, 1/2, 1/2)",
        _off_support,
        GAMES,
    ),
    Study(
        "azize_counterexample_three-atoms",
        "atoms 0, 1, sqrt 2, n = 40, d = 20, target sqrt 2",
        _three_atoms,
        GAMES,
    ),
    Study(
        "azize_counterexample_rare-coordinate",
        "Bernoulli(1/2), one coordinate Bernoulli(0.1/n), n = d = 100",
        _rare,
        GAMES,
    ),
    *(
        Study(
            f"azize_counterexample_subsampled_{rho:g}",
            f"Bernoulli(.3, .4, .55, .7), n = 100, d = 200, easiest target, rho = {rho:g}",
            lambda r=rho: _subsampled(r),
            GAMES,
        )
        for rho in (0.05, 0.1, 0.5, 0.9)
    ),
)
