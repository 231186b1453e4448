"""Exact binomial intervals: valid for ties, for every n and for every probability."""

import numpy as np
from scipy.special import betainccinv, betaincinv

from mipsim._validation import class_counts, number, whole


def clopper_pearson(
    count: object, games: int, failure_probability: float, *, thresholds: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided Clopper-Pearson intervals (low, high), float64 of shape (K,), simultaneous over `thresholds` of them by Bonferroni.

    With eta = failure_probability / thresholds:
    low = BetaInv(x, n - x + 1; eta/2), high = 1 - BetaInv(n - x, x + 1; eta/2); 0 at x = 0 and 1 at x = n.
    Each side alone fails with probability at most eta/2.

    Args:
        count: x, shape (K,), whole numbers in [0, games].
        games: n >= 1.
        failure_probability: in (0, 1), for all intervals together.
        thresholds: over how many intervals the failure probability is shared, >= 1.

    Source: Clopper and Pearson, Biometrika 26 (1934).

    Examples:
        >>> low, high = clopper_pearson([0, 5, 10], 10, 0.05)
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0, 0.1871, 0.6915], [0.3085, 0.8129, 1.0])
    """
    x, n = class_counts("count", count, "games", games)
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    return one_sided_limits(x, n, 0.5 * risk / whole("thresholds", thresholds, 1))


def one_sided_limits(x: np.ndarray, n: np.ndarray | int, risk: float) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of `x` counts of `n` games, float64 of the shape of x: each fails with probability at most `risk`.
    >>> low, high = one_sided_limits(np.array([0, 5]), np.array([5, 10]), 0.025)
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0, 0.1871], [0.5218, 0.8129])
    """
    # The inverse is not defined at an end: stand in a valid count there and overwrite the result. The upper
    # end comes from the complementary inverse: 1 - BetaInv would lose an end of 1e-12 to rounding.
    inner_low, inner_high = np.maximum(x, 1), np.minimum(x, n - 1)
    low = np.where(x == 0, 0.0, betaincinv(inner_low, n - inner_low + 1.0, risk))
    high = np.where(x == n, 1.0, betainccinv(inner_high + 1.0, np.maximum(n - inner_high, 1), risk))
    return low, high
