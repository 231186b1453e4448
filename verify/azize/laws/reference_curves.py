"""The covariance score with moments estimated from reference points, for Bernoulli data: its curve with a proven bracket."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy
from scipy.special import ndtr

from mipsim.exact.binomial import binomial_probabilities
from mipsim.referee import Draws
from sims.azize_paper import REGULARISATION, N, reference_means
from verify.azize.laws.normal_sums import NearlyNormal, NormalCurve, linear_curve, sum_curve
from verify.berry_esseen import OTHER_LAWS

GROUPS_P = (0.3, 0.4, 0.55, 0.7)


@lru_cache(maxsize=64)
def paper_weights(estimator: str, n0: int, draw: int) -> np.ndarray:
    """The weights w = C0^-1 (z - mu0) at the paper's point, easiest target, from a single sampled reference set, shape (5000,).

    `estimator`: "centred" variances regularised by .01, "ridge" by 1/4; "uncentred" variances, or the whole uncentred "matrix".
    """
    p, rng = reference_means(), np.random.default_rng([draw, n0])
    records = (rng.random((n0, len(p))) < p).astype(float)
    mean = records.mean(axis=0)
    difference = (p <= 0.5) - mean
    if estimator == "matrix":
        # (r I + Z'Z/n0)^-1 x = (x - Z' (n0 r I + Z Z')^-1 Z x) / r
        small = records @ records.T + n0 * REGULARISATION * np.eye(n0)
        return (difference - records.T @ np.linalg.solve(small, records @ difference)) / REGULARISATION
    return difference / variance_of(estimator, mean)


def variance_of(estimator: str, mean: np.ndarray) -> np.ndarray:
    """What 0-1 records with these means give for the variances."""
    if estimator == "uncentred":
        return mean + REGULARISATION  # Z^2 = Z
    return mean * (1 - mean) + (0.25 if estimator == "ridge" else REGULARISATION)


def bernoulli_curve(weights: np.ndarray, p: np.ndarray, z: np.ndarray, n: int) -> NormalCurve:
    """The curve of w'muhat for Bernoulli(p) data, with its proven bracket."""
    sd = np.sqrt(p * (1 - p))
    return linear_curve(weights * sd, (z - p) / sd, (p**2 + (1 - p) ** 2) / sd, np.ones(len(p)), n)


def paper_curve(estimator: str, n0: int, draw: int) -> NormalCurve:
    """The curve at the paper's point; "redrawn": with a new reference set in every game."""
    p = reference_means()
    z = (p <= 0.5).astype(float)
    if estimator == "redrawn":
        return redrawn_curve(p, z, n0, N)
    return bernoulli_curve(paper_weights(estimator, n0, draw), p, z, N)


def redrawn_curve(p: np.ndarray, z: np.ndarray, n0: int, n: int) -> NormalCurve:
    """The curve of the score with a new reference set in every game, for Bernoulli(p) data, with its proven bracket.

    A coordinate's term is w e + g with e = muhat - p, and w = (z - m)/v(m), g = w (p - m) - w (z - m)/(2n) functions of the
    mean m of its n0 reference values, independent of e: the moments are sums over the n0 + 1 values of m. Third moments are
    bounded by (fourth moments)^(3/4).
    """
    sums = np.arange(n0 + 1)
    mass = scipy.stats.binom.pmf(sums, n0, p[:, None])
    mean = sums / n0
    w = (z[:, None] - mean) / variance_of("redrawn", mean)
    g = w * (p[:, None] - mean) - w * (z[:, None] - mean) / (2 * n)

    def average(x: np.ndarray) -> np.ndarray:
        return (mass * x).sum(axis=1)

    laws = []
    for member in (0, 1):
        rows, pq = n - member, p * (1 - p)
        shift = member * (z - p) / n
        variance = rows * pq / n**2
        cubed, fourth = rows * pq * (1 - 2 * p) / n**3, rows * pq * (1 + 3 * (rows - 2) * pq) / n**4
        fixed = w * shift[:, None] + g
        centre = average(fixed)
        h = fixed - centre[:, None]
        spread = average(w**2) * variance + average(h**2)
        most = (
            average(w**4) * fourth
            + 4 * average(w**3 * h) * cubed
            + 6 * average(w**2 * h**2) * variance
            + average(h**4)
        )
        error = OTHER_LAWS * float((most**0.75).sum()) / float(spread.sum()) ** 1.5
        laws.append(NearlyNormal(float(centre.sum()), float(spread.sum()), error))
    return sum_curve(*laws)


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
    """Scores at the paper's point: literal sums of Bernoulli records, or a reference set in every game, sampled with NumPy."""
    p, rng, scores = reference_means(), np.random.default_rng(20_251_102), []
    z, d = (p <= 0.5).astype(float), len(p)
    for member in (0, 1):
        if estimator == "redrawn":
            mean = rng.binomial(n0, p, (300, d)) / n0
            muhat = (rng.binomial(N - member, p, (300, d)) + member * z) / N
            weight = (z - mean) / variance_of("redrawn", mean)
            scores.append((weight * (muhat - mean) - weight * (z - mean) / (2 * N)).sum(axis=1))
            continue
        score, weights = np.zeros(3000), paper_weights(estimator, n0, draw)
        for block in np.array_split(np.arange(d), 50):
            score += rng.binomial(N - member, p[block], (3000, len(block))) @ weights[block]
        scores.append(score + member * float(weights @ z))
    return Draws(*scores, how=f"NumPy, {len(scores[0])} games a world")


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
