"""Divergences of two laws on finitely many outputs."""

import numpy as np
from scipy.special import logsumexp


def least_delta(first: np.ndarray, second: np.ndarray, epsilon: float) -> float:
    """Return the least delta of (epsilon, delta)-DP for a single pair of output laws, in both directions: sum max(p - e^epsilon q, 0).
    `first`: probabilities, shape (m,); `second`: the same; `epsilon`: >= 0.

    >>> least_delta(np.array([1.0, 0.0]), np.array([0.5, 0.5]), 0.0)
    0.5
    """
    result = []
    for p, q in ((first, second), (second, first)):
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.where(q > 0, np.exp(epsilon) * q, 0.0)
        result.append(float(np.maximum(p - scaled, 0.0).sum()))
    return max(result)


def renyi_divergence(first: np.ndarray, second: np.ndarray, order: float) -> float:
    """Return D_order(first || second), inf where it diverges.
    `first`: probabilities, shape (m,); `second`: the same; `order`: > 0, not 1.

    Source: Renyi (1961); van Erven and Harremoes (2014), "Renyi divergence and Kullback-Leibler divergence".

    >>> renyi_divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), 0.5)
    inf
    >>> round(renyi_divergence(np.array([0.97, 0.03]), np.array([0.03, 0.97]), 1000.0), 3)
    3.476
    """
    if order > 1 and (first[second == 0] > 0).any():
        return float("inf")
    both = (first > 0) & (second > 0)
    if not both.any():
        return float("inf")
    # In logarithms: powers of order 200 leave float64.
    terms = order * np.log(first[both]) + (1 - order) * np.log(second[both])
    return float(np.asarray(logsumexp(terms))) / (order - 1)
