"""Sums without rounding error of their own."""

from math import fsum

import numpy as np


def precise_dot(first: np.ndarray, second: np.ndarray) -> float:
    """The scalar product; each product is rounded once and the sum is exact.

    Examples:
        >>> precise_dot(np.array([1e16, 1.0, -1e16]), np.ones(3))
        1.0
    """
    return fsum((np.asarray(first) * np.asarray(second)).tolist())
