"""Where a monotone condition begins to hold, for many problems at once."""

from collections.abc import Callable

import numpy as np

_EVALUATIONS, _MOST_CELLS, _NARROW = 1 << 16, 64, 2.0**-60
"""At once, cells a round, and the width at which float64 cannot halve the range again."""


def crossing(
    holds: Callable[[np.ndarray], np.ndarray], size: int, least: float, most: float
) -> tuple[np.ndarray, np.ndarray]:
    """Bracket the least z in [least, most] from which on a condition holds, for `size` problems at once.

    Args:
        holds: takes z of shape (size, cells) and returns whether the condition of each row holds there; monotone in z.
        size: number of problems.
        least: the lower end, where the condition is taken to fail.
        most: the upper end, where it is taken to hold.

    Returns:
        (low, high), shape (size,): it fails at low, holds at high, and they are 2^-60 of the range apart.

    Examples:
        >>> low, high = crossing(lambda z: z**2 >= np.array([[2.0], [9.0]]), 2, 0.0, 10.0)
        >>> high.round(12).tolist()
        [1.414213562373, 3.0]
    """
    low, high = np.full(size, least), np.full(size, most)
    cells = max(2, min(_MOST_CELLS, _EVALUATIONS // max(size, 1)))
    shares = np.arange(1, cells) / cells
    width = 1.0
    while width > _NARROW:
        inner = low[:, None] + (high - low)[:, None] * shares
        first = np.argmax(np.concatenate([holds(inner), np.ones((size, 1), bool)], axis=1), axis=1)
        ends = np.concatenate([low[:, None], inner, high[:, None]], axis=1)
        low = np.take_along_axis(ends, first[:, None], axis=1)[:, 0]
        high = np.take_along_axis(ends, first[:, None] + 1, axis=1)[:, 0]
        width /= cells
    return low, high
