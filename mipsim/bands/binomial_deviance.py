"""The deviance of binomial counts."""

import numpy as np
from scipy.special import rel_entr

from mipsim._validation import real_array


def deviance(count: object, games: object, probability: object) -> np.ndarray:
    """2 n KL(x/n || p), twice the log-likelihood ratio of p^ against p, elementwise.

    Args:
        count: x, any shape, 0 <= x <= n.
        games: n >= 1.
        probability: p in [0, 1].

    Examples:
        >>> float(deviance(60, 100, 0.5).round(6))
        4.027103
        >>> deviance([0, 10], 10, [0.0, 0.0]).tolist()
        [0.0, inf]
    """
    given = {"count": count, "games": games, "probability": probability}
    x, n, p = (real_array(name, value) for name, value in given.items())
    return np.maximum(2.0 * (rel_entr(x, n * p) + rel_entr(n - x, n * (1.0 - p))), 0.0)
