"""What the area of figure 2b of Leemann et al. (2023) owes to choices that the paper leaves open: the inverse covariance and the features.

A game is played as in the authors' public code: a step on n records without replacement, whose mean gradient is attacked for each of
the n and for as many others.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular
from scipy.stats import ncx2, rankdata

import mipsim as mi
from mipsim import data
from sims.gradient_spread import last_layer_of
from sims.gradients import SEED, single_threaded
from sims.last_layers import BACKGROUND, Features

INVERSES = ("shrunk", "sample", "triangle")
"""Of the covariance S: of Ledoit and Wolf's estimate along the axes of the gradients; of S along them; and what the public code computes,
the inverse of L L' with L the lower triangle of S itself, which a routine for Cholesky factors gives when it is passed S."""
FLOOR = -250.0
"""Least log p-value of the public code."""


def whitener(rows: np.ndarray, axes: np.ndarray, inverse: str) -> tuple[np.ndarray, int]:
    """A matrix W such that W W' is the inverse covariance of the rows by one of `INVERSES`, and the degrees of freedom that go with it."""
    if inverse == "triangle":
        shifted = rows - rows.mean(axis=0)
        varies = shifted.any(axis=0)
        shifted = shifted[:, varies]
        lower = np.tril(shifted.T @ shifted / len(rows))
        inverse_factor = solve_triangular(lower, np.eye(len(lower)), lower=True)
        return np.eye(len(varies))[:, varies] @ inverse_factor.T, len(lower)
    moments = mi.ShrunkMoments(rows @ axes)
    known = axes @ moments.axes.T
    if inverse == "sample":
        return known / np.sqrt(moments.spread), moments.spread.size
    beside = 1.0 / np.sqrt(moments.ridge)  # along the axes that the background does not vary along
    inside = 1.0 / np.sqrt(moments.weight * moments.spread + moments.ridge) - beside
    return known * inside @ (known.T @ axes) + beside * axes, axes.shape[1]


def log_p(
    whitening: np.ndarray, degrees: int, mean: np.ndarray, released: np.ndarray, targets: np.ndarray, n: int
) -> np.ndarray:
    """GLiR's log p-value of each target, shape (m,): low for members. Algorithm 1 with F where it prints its inverse."""
    statistic = ((released - targets) @ whitening) ** 2
    susceptibility = ((targets - mean) @ whitening) ** 2
    return ncx2.logcdf(n * statistic.sum(axis=1), degrees, n * susceptibility.sum(axis=1))


@single_threaded
def areas(of: Features, model: int, n: int, batches: int) -> dict[str, float]:
    """Inverse -> area under the ROC curve, the mean over batches of their own areas.
    `of`: features of all records, with the layer that is attacked; `model`: chooses the background and the batches; `n`:
    records of a batch; `batches`: of n records each.
    """
    random = np.random.default_rng([SEED, model])
    order = random.permutation(len(of.y))
    background, pool = np.split(order, [min(BACKGROUND, len(order) // 2)])
    seen = last_layer_of(of.x, of.y, of.start.reshape(-1, of.outputs))
    # As the public code has them: all weights of an output side by side, then the offsets.
    layout = np.arange(of.dimension).reshape(-1, of.outputs)
    layout = np.concatenate([layout[1:].T.ravel(), layout[0]])
    axes, known = of.axes[layout], seen[background].gradients[:, layout]
    ways = {name: whitener(known, axes, name) for name in INVERSES}
    mean = known.mean(axis=0)
    result: dict[str, list[float]] = {name: [] for name in INVERSES}
    for _ in range(batches):
        chosen = random.choice(pool, 2 * n, replace=False) if 2 * n <= len(pool) else random.permutation(pool)
        targets = seen[chosen].gradients[:, layout]
        half = len(chosen) // 2
        released = targets[:half].mean(axis=0)
        for name, way in ways.items():
            values = -np.maximum(
                log_p(*way, mean, released, targets, half), FLOOR if name == "triangle" else -np.inf
            )
            ranks = rankdata(values)[:half].sum()
            result[name].append(float((ranks - half * (half + 1) / 2) / (half * (len(chosen) - half))))
    return {name: float(np.mean(some)) for name, some in result.items()}


def uniform_features(model: int) -> Features:
    """Adult with 512 random tanh features whose weights and offsets are uniform in +-1/sqrt(inputs), as a layer of the public code starts."""
    people = data.adult()
    x = (people.x - people.x.mean(axis=0)) / people.x.std(axis=0)
    random = np.random.default_rng([SEED, model])

    def layer(inputs: int, outputs: int) -> np.ndarray:
        return random.uniform(-1.0, 1.0, size=(inputs + 1, outputs)) / np.sqrt(inputs)

    hidden, last = layer(x.shape[1], 512), layer(512, 2)
    features = np.tanh(x @ hidden[1:] + hidden[0]).astype(np.float32)
    return Features(features, people.y, 2, last.ravel().astype(np.float32))
