"""Binomial probabilities for many parameters at once, with a proven error."""

import numpy as np

_EPS = 2.0**-52


def binomial_table(n: int, p: np.ndarray, low: np.ndarray, size: int) -> np.ndarray:
    """P(Binomial(n, p_j) = low_j + k), k = 0 .. size - 1, by ratios of neighbours from the mode outwards.

    A ratio (n - k) p / ((k + 1) (1 - p)) is right to 2 EPS, so that a value m counts from the mode is right to 3 m EPS of itself, up
    to one factor for all, which the sum, 1 less what is outside the window, fixes. So their total error is at most
    6 EPS E|count - mode| + 64 EPS <= `binomial_error`. Nothing overflows, and what underflows is below 1e-300.

    Args:
        n: trials.
        p: in (0, 1), shape (d,).
        low: first counts, whole numbers <= the mode, shape (d,).
        size: how many counts; those beyond n have probability 0.

    Returns:
        shape (d, size); each row sums to 1: the window must hold all but a negligible part.

    Examples:
        >>> binomial_table(2, np.array([0.25]), np.array([0.0]), 4)
        array([[0.5625, 0.375 , 0.0625, 0.    ]])
    """
    count = low[:, None] + np.arange(size)
    odds = (p / (1.0 - p))[:, None]
    place = np.clip(np.floor((n + 1) * p) - low, 0, size - 1).astype(int)[:, None]
    with np.errstate(under="ignore"):
        up = np.maximum(n - count, 0.0) / (count + 1.0) * odds  # from count to count + 1
        after = np.arange(size)[None, :] > place
        before = np.arange(size)[None, :] < place
        rising = np.where(after[:, 1:], up[:, :-1], 1.0)
        right = np.concatenate([np.ones_like(odds), np.cumprod(rising, axis=1)], axis=1)
        down = np.where(before, 1.0 / np.where(before, np.maximum(up, 1e-300), 1.0), 1.0)
        left = np.cumprod(down[:, ::-1], axis=1)[:, ::-1]
        table = np.where(after, right, left)
    return table / table.sum(axis=1, keepdims=True)


def binomial_error(n: int, p: np.ndarray) -> np.ndarray:
    """A bound on the sum of the absolute errors of a row of `binomial_table`, shape (d,).

    Examples:
        >>> binomial_error(100, np.array([0.5])) < 1e-13
        array([ True])
    """
    return _EPS * (6.0 * (np.sqrt(n * p * (1.0 - p)) + 1.0) + 64.0)
