"""The covariance score with moments estimated from reference points, for Bernoulli data: its curve with a proven bracket."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtr

from mipsim.exact.binomial import binomial_probabilities
from mipsim.referee import Draws
from sims.azize_paper import REGULARISATION, N, reference_means
from verify.azize.laws.normal_sums import NormalCurve, linear_curve

GROUPS_P = (0.3, 0.4, 0.55, 0.7)


@lru_cache(maxsize=64)
def paper_weights(estimator: str, n0: int, draw: int) -> np.ndarray:
    """The weights w = C0^-1 (z - mu0) at the paper's point, easiest target, from a single sampled reference set, shape (5000,).

    `estimator`: see `variance_of`.
    """
    p, rng = reference_means(), np.random.default_rng([draw, n0])
    mean = (rng.random((n0, len(p))) < p).mean(axis=0)
    return ((p <= 0.5) - mean) / variance_of(estimator, mean)


def variance_of(estimator: str, mean: np.ndarray) -> np.ndarray:
    """What 0-1 records with these means give for the variances: "centred" or "uncentred", regularised by .01, or with "ridge" by 1/4."""
    own = mean if estimator.startswith("uncentred") else mean * (1 - mean)  # Z^2 = Z
    return own + (0.25 if estimator.endswith("ridge") else REGULARISATION)


def bernoulli_curve(weights: np.ndarray, p: np.ndarray, z: np.ndarray, n: int) -> NormalCurve:
    """The curve of w'muhat for Bernoulli(p) data, with its proven bracket."""
    sd = np.sqrt(p * (1 - p))
    return linear_curve(weights * sd, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, np.ones(len(p)), n)


def paper_curve(estimator: str, n0: int, draw: int) -> NormalCurve:
    """The curve at the paper's point."""
    p = reference_means()
    return bernoulli_curve(paper_weights(estimator, n0, draw), p, (p <= 0.5).astype(float), N)


def mu_without_limit(estimator: str) -> float:
    """What mu tends to at the paper's point as the reference points become many."""
    p = reference_means()
    z = (p <= 0.5).astype(float)
    return bernoulli_curve((z - p) / variance_of(estimator, p), p, z, N).mu


def growing_curve(estimator: str, n0: int, tau: float, n: int) -> NormalCurve:
    """The problem d = tau n, p = .3, .4, .55, .7, and a reference set in which every sum of a coordinate's n0 values has its expected frequency."""
    p = np.repeat(GROUPS_P, n0 + 1)
    sums = np.tile(np.arange(n0 + 1), len(GROUPS_P))
    z, mean, sd = (p <= 0.5).astype(float), sums / n0, np.sqrt(p * (1 - p))
    weight = (z - mean) / variance_of(estimator, mean) * sd
    frequency = binomial_probabilities(n0, np.array(GROUPS_P), np.zeros(len(GROUPS_P)), n0 + 1).ravel()
    count = tau * n / len(GROUPS_P) * frequency
    return linear_curve(weight, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, count, n)


def scores_by_games(estimator: str, n0: int, draw: int) -> Draws:
    """Scores at the paper's point: literal sums of Bernoulli records, sampled with NumPy."""
    p, rng, scores = reference_means(), np.random.default_rng(20_251_102), []
    z, weights = (p <= 0.5).astype(float), paper_weights(estimator, n0, draw)
    for member in (0, 1):
        score = np.zeros(3000)
        for block in np.array_split(np.arange(len(p)), 50):
            score += rng.binomial(N - member, p[block], (3000, len(block))) @ weights[block]
        scores.append(score + member * float(weights @ z))
    return Draws(*scores, how="NumPy, 3000 games a world")


def distance_to_normal(n: int, d: int, member: bool, draw: int) -> tuple[float, float]:
    """(largest distance of a small random linear score's distribution function from that of a normal law, enumerated; Berry's and Esseen's bound)."""
    rng = np.random.default_rng(draw)
    p, z, weights = rng.uniform(0.05, 0.95, d), rng.integers(0, 2, d).astype(float), rng.normal(size=d)
    curve = bernoulli_curve(weights, p, z, n)
    score, mass, sums = np.zeros(1), np.ones(1), np.arange(n + 1)
    for q, v, w in zip(p, z, weights, strict=True):
        score = np.add.outer(score, w * (sums - n * q)).ravel()
        mass = np.outer(mass, scipy.stats.binom.pmf(sums - member * v, n - member, q)).ravel()
    levels, index = np.unique(score.round(10), return_inverse=True)
    below = np.concatenate([[0.0], np.cumsum(np.bincount(index.ravel(), mass, len(levels)))])
    x = levels / np.sqrt(n * np.sum(weights**2 * p * (1 - p)))
    normal = ndtr((x - curve.mu) / curve.scale if member else x)
    result = float(np.maximum(np.abs(below[1:] - normal), np.abs(below[:-1] - normal)).max())
    return result, curve.error_in if member else curve.error_out
