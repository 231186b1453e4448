"""Simulated gradients with estimated moments, for algorithms 3 and 4: laws, exact losses, distribution-free intervals."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import stats
from scipy.special import gammaln, hyp1f1

from verify.claim import Between, OneOf

D = 20
"""Dimension of the gradients whose moments are estimated; the batch has as many rows."""
SMALL = 5
"""The same where n_r / d grows to 512 and thousands of reference sets are drawn."""

LAWS: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "Gaussian": lambda rng, shape: rng.normal(size=shape),
    "skewed (exponential)": lambda rng, shape: rng.exponential(size=shape) - 1.0,
    "heavy-tailed (Student, 5 df)": lambda rng, shape: rng.standard_t(5, size=shape) / np.sqrt(5 / 3),
}
"""Standardised coordinates; gradients are A x + 1 with a fixed A."""


@cache
def mixing(d: int = D) -> np.ndarray:
    """A fixed, badly conditioned A: gradients have correlated coordinates of unequal size."""
    rng = np.random.default_rng(20_250_905)
    return rng.normal(size=(d, d)) / np.sqrt(d) + np.diag(np.geomspace(0.3, 3.0, d))


def score_matrix(references: np.ndarray, centred: bool, ridge: float) -> tuple[np.ndarray, np.ndarray]:
    """(mu0, inverse of C0 + ridge I) from reference sets of shape (R, n_r, d)."""
    mean = references.mean(axis=1)
    moment = references.transpose(0, 2, 1) @ references / references.shape[1]
    if centred:
        moment -= mean[:, :, None] * mean[:, None, :]
    return mean, np.linalg.inv(moment + ridge * np.eye(references.shape[2]))


def effective(weights: np.ndarray, direction: np.ndarray, covariance: np.ndarray, n: int) -> np.ndarray:
    """Signed mu of the linear scores w' g_batch: w'(g* - mu) / sqrt(n w'Cw), for weights of shape (..., d).

    For Gaussian gradients the exact FNR at FPR alpha is Phi((Phi^-1(1 - alpha) - mu) sqrt(n / (n - 1))) at every n: it
    falls with mu, so two linear scores are ordered as their mu are.

    Examples:
        >>> print(effective(np.array([2.0, 0.0]), np.array([3.0, 4.0]), np.eye(2), 9))
        1.0
    """
    spread = np.einsum("...i,ij,...j->...", weights, covariance, weights)
    return weights @ direction / np.sqrt(n * spread)


def mean_share(references: int, d: int, distance: float) -> float:
    """E[mu / sqrt(m*)] over drawn sets of Gaussian references, moments estimated from them, C0 centred; exact.

    With x = C^-1/2 (g - mu): S = (n_r - 1 degrees of freedom) Wishart / n_r and the estimated mean e ~ N(0, I / n_r) are
    independent, and mu / sqrt(m*) is the cosine of the angle between S^-1 (delta - e) and delta, |delta|^2 = distance.
    Given e, the cosine between S^-1 (delta - e) and delta - e is the root of a Beta((n_r - d + 1)/2, (d - 1)/2) number
    (Reed, Mallett & Brennan 1974) and the rest of S^-1 (delta - e) points evenly in all directions across delta - e, so
    the mean is a product: E sqrt(Beta) times the mean cosine of delta - e and delta, which is
    Gamma((d+1)/2) / (sqrt(2) Gamma(d/2 + 1)) l 1F1(1/2; d/2 + 1; -l^2/2), l^2 = n_r distance.

    Args:
        references: n_r > d.
        d: dimension, >= 2.
        distance: ||g* - mu||^2 in C^-1, > 0.

    Returns:
        The mean share of sqrt(m*) that the estimated weights keep, in (0, 1).

    Source: derived here; Reed, Mallett & Brennan (1974) for the Beta law; Mardia & Jupp (2000), section 9.3.

    Examples:
        >>> print(round(mean_share(40, 20, 20.0), 4), round(mean_share(20_000, 20, 20.0), 4))
        0.7121 0.9995
    """
    a, b = (references - d + 1) / 2, (d - 1) / 2
    root = np.exp(gammaln(a + 0.5) + gammaln(a + b) - gammaln(a) - gammaln(a + b + 0.5))
    length = np.sqrt(references * distance)
    shrink = np.exp(gammaln((d + 1) / 2) - gammaln(d / 2 + 1)) / np.sqrt(2.0)
    return float(root * shrink * length * hyp1f1(0.5, d / 2 + 1, -(length**2) / 2))


def quantile_interval(sample: np.ndarray, q: float, failure_probability: float) -> tuple[float, float, float]:
    """(estimate, low, high) of the q-quantile of a law from independent draws, by order statistics: no assumption on the law.

    The number of draws at most the quantile is binomial (ties only widen the coverage).

    Args:
        sample: independent draws, shape (R,).
        q: in (0, 1).
        failure_probability: of the interval, two-sided, in (0, 1).

    Returns:
        The sample's quantile with its interval; -inf or inf where too few draws bound that side.

    Source: David & Nagaraja (2003), Order Statistics, section 7.1.

    Examples:
        >>> print(quantile_interval(np.arange(1000.0), 0.5, 1e-3))
        (500.0, 447.0, 552.0)
    """
    ordered, count = np.sort(sample), len(sample)
    # P(B <= low) <= f/2 for B ~ Binomial(count, q): then ordered[low] <= quantile fails with at most that probability.
    low = int(stats.binom.ppf(failure_probability / 2, count, q)) - 1
    high = int(stats.binom.isf(failure_probability / 2, count, q))
    return (
        float(ordered[min(int(q * count), count - 1)]),
        float(ordered[low]) if low >= 0 else -np.inf,
        float(ordered[high]) if high < count else np.inf,
    )


DOMAIN = {
    "gradients": OneOf((*LAWS, "lattice"), "any; simulated ones are judged"),
    "references": Between(1, float("inf"), "n_r from d/4 (singular C0) upwards, and known moments"),
    "C0": OneOf(("uncentred", "centred"), "printed uncentred, called a covariance"),
    "steps": OneOf(("one", "the steps of an epoch"), "the score is summed over steps"),
}
"""What algorithms 3 and 4 leave open."""
BOUNDED = (
    "independent rows, C nonsingular, and E(u'C^-1/2 (g - mu))^4 <= h^2 for every unit vector u, with one h for all sizes "
    "(A x + b with independent coordinates of bounded kurtosis, say)"
)
"""The condition of both corrections. Bounded moments of single coordinates are not enough where coordinates depend on each other."""
