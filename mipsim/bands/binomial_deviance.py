"""Kullback-Leibler divergence and deviance of binomial counts."""

import numpy as np
from scipy.special import rel_entr


def divergence(observed: object, probability: object) -> np.ndarray:
    """KL(p^ || p) of two Bernoulli laws in nats, elementwise; inf where p^ cannot come from p.

    Args:
        observed: p^, any shape, in [0, 1].
        probability: p, broadcastable, in [0, 1].

    Examples:
        >>> divergence([0.5, 0.0, 0.5], [0.5, 0.5, 0.0]).round(6).tolist()
        [0.0, 0.693147, inf]
    """
    seen, p = np.asarray(observed, dtype=np.float64), np.asarray(probability, dtype=np.float64)
    return np.maximum(rel_entr(seen, p) + rel_entr(1.0 - seen, 1.0 - p), 0.0)


def deviance(count: object, games: object, probability: object, complement: object = None) -> np.ndarray:
    """2 n KL(x/n || p), twice the log-likelihood ratio of p^ against p, elementwise.

    Args:
        count: x, any shape, 0 <= x <= n.
        games: n >= 1.
        probability: p in [0, 1].
        complement: 1 - p, where p is so near 1 that float64 cannot subtract it.

    Examples:
        >>> float(deviance(60, 100, 0.5).round(6))
        4.027103
        >>> deviance([0, 10], 10, [0.0, 0.0]).tolist()
        [0.0, inf]
    """
    x, n, p = (np.asarray(v, dtype=np.float64) for v in (count, games, probability))
    q = 1.0 - p if complement is None else np.asarray(complement, dtype=np.float64)
    return np.maximum(2.0 * (rel_entr(x, n * p) + rel_entr(n - x, n * q)), 0.0)
