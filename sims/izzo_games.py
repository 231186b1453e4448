"""Subset games of Izzo et al. (2024): corollary 10's noise around two outputs."""

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


def scale_of(moment: float, eta: float) -> float:
    """The factor c = (constant/eta)^(1 + 2/M), the scale over sigma that corollary 10 prints."""
    return izzo.noise_constant(eta, moment, izzo.CONSTANT_FROM_2)


def two_outputs(moment: float, dimension: int, eta: float) -> tuple[mi.Subset, mi.FunctionAttack]:
    """D = {(1, ..., 1), (-1, ..., -1)}, A(D) = its only record: every sigma_i is 1."""
    scale = scale_of(moment, eta)
    records = np.ones((2, dimension)) * [[1.0], [-1.0]]
    mechanism = mi.NormNoise(
        lambda key, rows: rows[0], scale=scale, coordinate_scale=1.0, moment=moment, radius="exponential"
    )

    def ratio(target: Array, output: Array) -> Array:
        # The log-likelihood ratio of the density ||x||^-(d - 1) exp(-||x||/c) around the two outputs.
        ones = jnp.ones(dimension)
        far, near = weighted_norm(output + target, ones, moment), weighted_norm(output - target, ones, moment)
        return (dimension - 1) * (jnp.log(far) - jnp.log(near)) + (far - near) / scale

    return mi.Subset(mechanism, records, target=0), mi.FunctionAttack(ratio)


IZZO = (
    Study(
        "izzo_cor-10_two-outputs",
        f"corollary 10's noise for eta = {CASE[2]:g}, M = {CASE[0]:g}, d = {CASE[1]}, n = 2",
        lambda: two_outputs(*CASE),
        {"quick": 10_000, "standard": 20_000, "full": 500_000},
    ),
)
"""The studies."""
