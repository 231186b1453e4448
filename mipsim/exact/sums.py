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


_SPLIT = 2.0**27 + 1.0


def product_parts(first: np.ndarray | float, second: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
    """The rounded products and what rounding took from them: their sums are the exact products.

    Source: Dekker (1971). Numbers beyond 1e290 or below 1e-140 are outside its range.

    Examples:
        >>> bool(product_parts(1.0 + 2.0**-30, 1.0 - 2.0**-30)[1] == -(2.0**-60))
        True
    """
    a, b = np.asarray(first, np.float64), np.asarray(second, np.float64)
    a_high, b_high = (x * _SPLIT - (x * _SPLIT - x) for x in (a, b))
    a_low, b_low = a - a_high, b - b_high
    product = a * b
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def exact_dot(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """The scalar product to twice the digits: the nearest number, and what is left.

    Examples:
        >>> exact_dot(np.array([0.1]), np.array([0.1]))[1] != 0.0
        True
    """
    high, low = product_parts(first, second)
    parts = [*np.ravel(high).tolist(), *np.ravel(low).tolist()]
    total = fsum(parts)
    return total, fsum([*parts, -total])
