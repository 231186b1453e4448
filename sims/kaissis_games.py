"""The audits of Kaissis et al. (2023), figure 3: a single step of DP-SGD on a synthetic binary task, and on the diabetes data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import jax.numpy as jnp
import numpy as np

import mipsim as mi
from mipsim import data
from mipsim._precision import exact_scope
from mipsim.theory import kaissis
from sims.study import Study

if TYPE_CHECKING:
    from collections.abc import Callable

    from jaxtyping import Array

GAMES = {"quick": 100_000, "standard": 500_000, "full": 10_000_000}
CLIP = 1.0
ROWS = 64
SHADOWS = 256
"""Models without the record that offline LiRA trains for each game; their number is not stated in the paper."""
LEARNING_RATE = 0.5


def clipped_gradients(rows: Array) -> Array:
    """The sum of the clipped logistic-loss gradients at weights 0, shape (k,); rows of (features, label in {-1, 1})."""
    features, label = rows[:, :-1], rows[:, -1:]
    gradient = -0.5 * label * features
    norm = jnp.sqrt(jnp.sum(gradient**2, axis=1, keepdims=True))
    return jnp.sum(gradient * jnp.minimum(1.0, CLIP / jnp.maximum(norm, 1e-12)), axis=0)


def _threat(
    query: Callable[[Array], Array],
    records: np.ndarray,
    canary: np.ndarray,
    noise: mi.Gaussian,
    shadows: int = 0,
) -> mi.RelaxedThreat:
    with exact_scope("float64"):  # in which a study is played
        return mi.RelaxedThreat(query, records, canary, noise, shadows=shadows)


def _game(d: int, ratio: float, shadows: int = 0) -> mi.RelaxedThreat:
    """A canary whose gradient reaches the clip, in a fixed direction; Delta/sigma = ratio."""
    rng = np.random.default_rng(0)
    label = np.where(np.arange(ROWS) % 2 == 0, 1.0, -1.0)[:, None]
    records = np.hstack([rng.normal(size=(ROWS, d)) + label, label])
    direction = np.ones(1) if d == 1 else rng.normal(size=d)
    canary = np.append(4.0 * CLIP * direction / np.linalg.norm(direction), 1.0)
    noise = mi.Gaussian(np.zeros(d), np.full(d, (CLIP / ratio) ** 2))
    return _threat(clipped_gradients, records, canary, noise, shadows)


def canary_logit(release: Array) -> Array:
    """The logit of the canary's confidence in its label after a single step from 0 along the released gradient."""
    return -4.0 * CLIP * LEARNING_RATE * release[0]


def _gradient_space(d: int, ratio: float) -> tuple[mi.RelaxedThreat, mi.AbstractAttack]:
    return _game(d, ratio), mi.Magnitude()


def _logit_space() -> tuple[mi.RelaxedThreat, mi.AbstractAttack]:
    return _game(1, 1.0, SHADOWS), mi.OfflineLiRA(canary_logit, score="two_sided")


LATENT = 50
"""Width of the linear network on the diabetes data, whose last layer's gradient is released."""


def _diabetes() -> tuple[mi.RelaxedThreat, mi.AbstractAttack]:
    """The record with the longest gradient joins the others; Delta/sigma = 2. The paper says no more of the network than its latent dimension."""
    result = data.diabetes()
    y = (result.y - result.y.mean()) / result.y.std()
    rows = np.column_stack([result.x / result.x.std(axis=0), y]).astype(np.float64)
    inner = np.random.default_rng(0).normal(size=(result.x.shape[1], LATENT)) / np.sqrt(result.x.shape[1])

    def query(records: Array) -> Array:
        """The sum of the clipped gradients of half the squared error with respect to the last layer, where that is 0."""
        gradient = -records[:, -1:] * (records[:, :-1] @ inner)
        norm = jnp.sqrt(jnp.sum(gradient**2, axis=1, keepdims=True))
        return jnp.sum(gradient * jnp.minimum(1.0, CLIP / jnp.maximum(norm, 1e-12)), axis=0)

    canary = int(np.argmax(np.linalg.norm(rows[:, -1:] * (rows[:, :-1] @ inner), axis=1)))
    noise = mi.Gaussian(np.zeros(LATENT), np.full(LATENT, (CLIP / 2.0) ** 2))
    return _threat(query, np.delete(rows, canary, axis=0), rows[canary], noise), mi.Magnitude()


KAISSIS = (
    Study(
        "kaissis_fig3a",
        f"one-dimensional DP-SGD step, Delta/sigma = 1, offline LiRA on logits with {SHADOWS} shadow models a game",
        _logit_space,
        GAMES,
    ),
    Study(
        "kaissis_fig3b",
        "one-dimensional DP-SGD step, Delta/sigma = 1, Dirac canary, magnitude of the gradient",
        partial(_gradient_space, 1, 1.0),
        GAMES,
        claim=lambda game, attack: kaissis.FoldedGaussianTradeOff(1.0),
    ),
    Study(
        "kaissis_fig3c",
        f"DP-SGD step of a linear network on the diabetes data, {LATENT} latent dimensions, Delta/sigma = 2, magnitude of the gradient",
        _diabetes,
        GAMES,
        claim=lambda game, attack: kaissis.gaussian_tradeoff(2.0, LATENT),
    ),
    Study(
        "kaissis_d50",
        "DP-SGD step of 50 dimensions, Delta/sigma = 2, a canary at the clip, magnitude of the gradient",
        partial(_gradient_space, 50, 2.0),
        GAMES,
        claim=lambda game, attack: kaissis.gaussian_tradeoff(2.0, 50),
    ),
)
