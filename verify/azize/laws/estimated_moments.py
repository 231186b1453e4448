"""Simulated gradients whose moments are estimated from reference gradients, for algorithms 3 and 4 of Azize & Basu (2025)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammaln, hyp1f1, logit, ndtr, ndtri

from mipsim.referee import Draws, Number
from verify.azize.laws.normal_sums import NormalCurve, sum_curve, sum_law
from verify.azize.laws.z_moments import logit_piece

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "skewed (exponential)": lambda rng, shape: rng.exponential(size=shape) - 1.0,
    "heavy-tailed (Student, 5 df)": lambda rng, shape: rng.standard_t(5, size=shape) / np.sqrt(5 / 3),
}
"""Standardised coordinates of a gradient, independent as section 3 of Azize & Basu supposes."""


def score_matrix(references: np.ndarray, centred: bool, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """(mu0, inverse of C0 + ridge I) from reference sets of shape (R, n_r, d)."""
    mean = references.mean(axis=1)
    moment = references.transpose(0, 2, 1) @ references / references.shape[1]
    if centred:
        moment -= mean[:, :, None] * mean[:, None, :]
    return mean, np.linalg.inv(moment + ridge * np.eye(references.shape[2]))


def effective(weights: np.ndarray, direction: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Signed mu of the linear scores w' g_batch: w'(g* - mu) / sqrt(n w'Sigma w), for weights of shape (..., d).

    For Gaussian gradients the exact FNR at FPR alpha is Phi((Phi^-1(1 - alpha) - mu) sqrt(n / (n - 1))) at every n: it
    falls with mu, so two linear scores are ordered as their mu are.

    >>> print(effective(np.array([2.0, 0.0]), np.array([3.0, 4.0]), np.eye(2), 9))
    1.0
    """
    spread = np.einsum("...i,ij,...j->...", weights, covariance, weights)
    return weights @ direction / np.sqrt(n * spread)


def mean_share(references: int, d: int, distance: float) -> float:
    """E[mu / sqrt(m*)] over sampled sets of Gaussian references, moments estimated from them, C0 centred; exact.

    With x = Sigma^-1/2 (g - mu): S = (n_r - 1 degrees of freedom) Wishart / n_r and the estimated mean e ~ N(0, I / n_r) are
    independent, and mu / sqrt(m*) is the cosine of the angle between S^-1 (delta - e) and delta, |delta|^2 = distance.
    Given e, the cosine between S^-1 (delta - e) and delta - e is the root of a Beta((n_r - d + 1)/2, (d - 1)/2) number
    (Reed, Mallett & Brennan 1974) and the rest of S^-1 (delta - e) points evenly in all directions across delta - e, so
    the mean is a product: E sqrt(Beta) times the mean cosine of delta - e and delta, which is
    Gamma((d+1)/2) / (sqrt(2) Gamma(d/2 + 1)) l 1F1(1/2; d/2 + 1; -l^2/2), l^2 = n_r distance.

    `references`: n_r > d; `d`: dimension, >= 2; `distance`: ||g* - mu||^2 in Sigma^-1, > 0. Returns the mean share of
    sqrt(m*) that the estimated weights keep, in (0, 1).

    Source: derived here; Reed, Mallett & Brennan (1974) for the Beta law; Mardia & Jupp (2000), section 9.3.

    >>> print(round(mean_share(40, 20, 20.0), 4), round(mean_share(20_000, 20, 20.0), 4))
    0.7121 0.9995
    """
    a, b = (references - d + 1) / 2, (d - 1) / 2
    root = np.exp(gammaln(a + 0.5) + gammaln(a + b) - gammaln(a) - gammaln(a + b + 0.5))
    length = np.sqrt(references * distance)
    shrink = np.exp(gammaln((d + 1) / 2) - gammaln(d / 2 + 1)) / np.sqrt(2.0)
    return float(root * shrink * length * hyp1f1(0.5, d / 2 + 1, -(length**2) / 2))


def random_share(law: str, d: int, references: int, distance: float, draw: int) -> Number:
    """The ratio mu / sqrt(m*) with centred estimated moments, mean over sampled reference sets; Sigma = I, which any other Sigma is turned into.

    The target is typical of the law, at this distance; of sets there are 200, or as many as 4 million numbers make.

    >>> share = random_share("Gaussian", 5, 10_000, 5.0, 0)
    >>> round(share.value, 3), share.route
    (1.0, 'mean of 80 random reference sets (seed 0)')
    """
    rng = np.random.default_rng(draw)
    target = LAWS[law](rng, (d,))
    target *= np.sqrt(distance / np.sum(target**2))
    sets = int(np.clip(4e6 / (references * d), 8, 200))
    centre, inverse = score_matrix(LAWS[law](rng, (sets, references, d)), True, 0.0)
    weights = np.einsum("rij,rj->ri", inverse, target - centre)
    mean = float(effective(weights, target, np.eye(d), 1).mean()) / float(np.sqrt(distance))
    return Number(mean, route=f"mean of {sets} random reference sets (seed {draw})")


def step_problem(
    d: int, spread: float, mean: float, size: float, angle: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(mean gradient, g* less it, variances) of a single step: the mean lies along the first axis, g* at an angle to it.

    Variances run from 1 to `spread`: all that a rotation leaves of a covariance matrix.

    >>> [part.round(3).tolist() for part in step_problem(3, 4.0, 2.0, 1.0, np.pi / 2)]
    [[2.0, 0.0, 0.0], [0.0, 0.707, 0.707], [1.0, 2.0, 4.0]]
    """
    first, across = np.eye(d)[0], np.full(d, 1 / np.sqrt(d - 1))
    across[0] = 0.0
    direction = size * (np.cos(angle) * first + np.sin(angle) * across)
    return mean * first, direction, np.geomspace(1.0, spread, d)


def step_scores(
    weights: np.ndarray, mean: np.ndarray, direction: np.ndarray, variance: np.ndarray, batch: int
) -> list[Draws]:
    """Linear scores of the mean of a batch of Gaussian gradients, by literal batches sampled with NumPy."""
    games = int(np.clip(2e7 / (batch * mean.size), 2000, 400_000))
    rng = np.random.default_rng(20_250_907)
    steps = []
    for member in (False, True):
        gradients = mean + rng.normal(size=(games, batch, mean.size)) * np.sqrt(variance)
        if member:
            gradients[:, 0] = mean + direction
        steps.append(gradients.mean(axis=1))
    how = f"NumPy, {games:,} literal batches a world"
    return [Draws(steps[0] @ w, steps[1] @ w, how) for w in weights]


def epoch_power(scalar: bool, size: float, spread: float, batch: int, alpha: float = 0.5) -> float:
    """Exact power of the sum of two steps' scores, known moments: mean 0, Sigma = diag(1, spread), g*_1 = (size, 0), g*_2 = (0, size).

    The target is in either batch with probability 1/2: with it there the sum is a mixture of two normal laws.

    >>> print(round(epoch_power(False, 8.0, 1 / 9, 64), 3), round(epoch_power(True, 8.0, 1 / 9, 64), 3))
    0.811 0.83
    """
    variances, targets = np.array([1.0, spread]), size * np.eye(2)
    weights = targets if scalar else targets / variances
    variance = np.sum(weights**2 * variances, axis=1) / batch
    shift = np.sum(weights * targets, axis=1) / batch
    threshold = -ndtri(alpha) * np.sqrt(variance.sum())
    inside = variance.sum() - variance / batch
    return float(ndtr((shift - threshold) / np.sqrt(inside)).mean())


def epoch_scores(size: float, spread: float, batch: int, games: int = 200_000) -> list[Draws]:
    """The same by sampled batch means: covariance attack, scalar product."""
    rng = np.random.default_rng(20_251_103)
    variances, targets = np.array([1.0, spread]), size * np.eye(2)
    scores: list[list[np.ndarray]] = [[], []]
    for member in (False, True):
        means = rng.normal(size=(games, 2, 2)) * np.sqrt(variances / batch)
        if member:
            own = np.arange(games), rng.integers(0, 2, games)
            rest = rng.normal(size=(games, 2)) * np.sqrt(variances * (batch - 1)) / batch
            means[own] = rest + targets[own[1]] / batch
        for pair, weights in zip(scores, (targets / variances, targets), strict=True):
            pair.append((means * weights).sum(axis=(1, 2)))
    return [Draws(*pair, how=f"NumPy, {games:,} epochs a world from batch means") for pair in scores]


def candidates_of(
    law: str,  # of the coordinates of x
    d: int,  # dimension
    candidates: int,
    references: int | None,  # gradients from which mu0 and C0 are estimated; None: both are known exactly
    mean: float,  # of every coordinate
    centred: bool,  # whether C0 is
    ridge: float,  # added to C0
    draw: int,  # seed
    problems: int = 1,  # that are sampled, with their references
) -> tuple[np.ndarray, np.ndarray]:
    """(||g_k - mu||_{Sigma^-1}, shape (problems, candidates); index of the candidate that algorithm 3 picks, shape (problems,)).

    Gradients are x + mean (1, ..., 1).
    """
    rng, shift = np.random.default_rng(draw), np.full(d, mean)
    x = LAWS[law](rng, (problems, candidates, d))
    if references is None:
        moment = (1.0 + ridge) * np.eye(d) + (0.0 if centred else 1.0) * np.outer(shift, shift)
        centre, inverse = shift[None], np.linalg.inv(moment)[None]
    else:
        sets = LAWS[law](rng, (problems, references, d)) + mean
        centre, inverse = score_matrix(sets, centred, ridge)
    difference = x + mean - centre[:, None]
    score = np.einsum("rki,rki->rk", difference @ inverse, difference)
    return np.linalg.norm(x, axis=2), np.argmax(score, axis=1)


def candidate_scores(law: str, d: int, targets: np.ndarray, batch: int, games: int = 40_000) -> list[Draws]:
    """Scores of the covariance attack with known moments on standardised candidates, by literal batches."""
    rng, result = np.random.default_rng(20_250_906), []
    for target in targets:
        means = [LAWS[law](rng, (games, batch, d)) for _ in range(2)]
        means[1][:, 0, :] = target
        result.append(
            Draws(
                *(rows.mean(axis=1) @ target for rows in means),
                how=f"NumPy, {games:,} literal batches a world",
            )
        )
    return result


RARITY_ROWS = 256_000_000


def rarity_curve(p: float) -> NormalCurve:
    """The optimal attack on a candidate of a single value, of probability p, in d = n/2 coordinates: the sum tells how many rows hold it."""
    out, inside = logit_piece(float(logit(p)), True).ratio_worlds(RARITY_ROWS)
    return sum_curve(*(sum_law([(1.0, 0.5 * RARITY_ROWS, world)]) for world in (out, inside)))


def rarity_scores(probabilities: tuple[float, ...], n: int = 100, games: int = 20_000) -> list[Draws]:
    """The same attacks at n rows, by sampled counts of the value."""
    rng, result = np.random.default_rng(4), []
    for p in probabilities:
        counts = [rng.binomial(n - member, p, (games, n // 2)) + member for member in (0, 1)]
        scores = (np.log(np.maximum(c, 0.5)).sum(axis=1) for c in counts)
        result.append(
            Draws(
                *scores,
                how=f"NumPy, {games:,} games a world with the counts of the values, n = {n}, d = {n // 2}",
            )
        )
    return result
