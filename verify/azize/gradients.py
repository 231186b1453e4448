"""Simulated gradients with estimated moments, for algorithms 3 and 4."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from verify.claim import Between, OneOf

D = 20
"""Dimension of the gradients whose moments are estimated; the batch has as many rows."""

RATIOS = (2, 8, 32, 128)
"""Reference gradients per dimension."""

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "skewed (exponential)": lambda rng, shape: rng.exponential(size=shape) - 1.0,
    "heavy-tailed (Student, 5 df)": lambda rng, shape: rng.standard_t(5, size=shape) / np.sqrt(5 / 3),
}
"""Standardised coordinates; gradients are A x + 1 with a fixed A."""


@cache
def mixing() -> np.ndarray:
    """A fixed, badly conditioned A: gradients have correlated coordinates of unequal size."""
    rng = np.random.default_rng(20_250_905)
    return rng.normal(size=(D, D)) / np.sqrt(D) + np.diag(np.geomspace(0.3, 3.0, D))


def score_matrix(references: np.ndarray, centred: bool, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """(mu0, inverse of C0 + ridge I) from reference sets of shape (R, n_r, d)."""
    mean = references.mean(axis=1)
    moment = references.transpose(0, 2, 1) @ references / references.shape[1]
    if centred:
        moment -= mean[:, :, None] * mean[:, None, :]
    return mean, np.linalg.inv(moment + ridge * np.eye(references.shape[2]))


def effective(weights: np.ndarray, direction: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Signed mu of linear scores w' g_batch, right side: w'(g* - mu) / sqrt(n w'Cw); exact for Gaussian gradients up to (n - 1)/n."""
    spread = np.einsum("...i,ij,...j->...", weights, covariance, weights)
    return weights @ direction / np.sqrt(n * spread)


DOMAIN = {
    "gradients": OneOf((*LAWS, "lattice"), "any; simulated ones are judged"),
    "references": Between(1, float("inf"), "n_r from d/4 (singular C0) to 128 d, and known moments"),
    "C0": OneOf(("uncentred", "centred"), "printed uncentred"),
}
"""What algorithms 3 and 4 leave open."""
