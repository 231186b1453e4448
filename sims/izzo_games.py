"""Subset games of Izzo et al. (2024): corollary 10's noise around two outputs, and algorithm 1 beside an outlier."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim.mechanisms.norm_noise import weighted_norm
from mipsim.theory import izzo
from sims.study import Study

if TYPE_CHECKING:
    from jaxtyping import Array

CASE = (16.0, 64, 0.25)
"""(M, d, eta) of the games of corollary 10."""
WRAPPED_ETA = 0.1
OUTLIER_RECORDS = np.array([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 1000.0])
"""Algorithm 1 releases the mean of half of these; the target is the last."""


def _two_outputs(moment: float, dimension: int, eta: float) -> tuple[mi.Subset, mi.FunctionAttack]:
    """D = {(1, ..., 1), (-1, ..., -1)}, A(D) = its one record: every sigma_i is 1."""
    scale = izzo.noise_constant(eta, moment, izzo.CONSTANT_FROM_2)
    records = np.ones((2, dimension)) * [[1.0], [-1.0]]
    mechanism = mi.NormNoise(
        lambda key, rows: rows[0], scale=scale, sigma=1.0, moment=moment, radius="exponential"
    )

    def ratio(target: Array, output: Array) -> Array:
        # The log-likelihood ratio of the density ||x||^-(d - 1) exp(-||x||/c) around the two outputs.
        ones = jnp.ones(dimension)
        far, near = weighted_norm(output + target, ones, moment), weighted_norm(output - target, ones, moment)
        return (dimension - 1) * (jnp.log(far) - jnp.log(near)) + (far - near) / scale

    return mi.Subset(mechanism, records, target=0), mi.FunctionAttack(ratio)


def _outlier() -> tuple[mi.Subset, mi.FunctionAttack]:
    scale = izzo.noise_constant(WRAPPED_ETA, 2.0, izzo.CONSTANT_FROM_2)
    mechanism = mi.MomentNoise(mi.EmpiricalMean(), scale=scale, subsets=32)
    game = mi.Subset(mechanism, OUTLIER_RECORDS[:, None], target=len(OUTLIER_RECORDS) - 1)
    return game, mi.FunctionAttack(lambda target, output: jnp.abs(output[0]))


IZZO = (
    Study(
        "izzo_cor-10_two-outputs",
        f"corollary 10's noise for eta = {CASE[2]:g}, M = {CASE[0]:g}, d = {CASE[1]}, n = 2",
        lambda: _two_outputs(*CASE),
        {"quick": 10_000, "standard": 20_000, "full": 500_000},
    ),
    Study(
        "izzo_alg-1_outlier",
        "algorithm 1 (32 halves of the training set, eta = 0.1) on the mean of 4 of 8 records, one of them 1000",
        _outlier,
        {"quick": 20_000, "standard": 50_000, "full": 1_000_000},
    ),
)
"""The studies."""
