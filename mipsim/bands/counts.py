"""Checks of counts, shared by everything that turns counts into statements."""

import numpy as np

from mipsim._validation import finite_vector, whole


def class_counts(name: str, counts: object, games_name: str, games: object) -> tuple[np.ndarray, int]:
    """Return counts as an int64 vector with 0 <= count <= games, and the games as an int >= 1.

    Raises:
        ValueError: if a count is not whole, is negative or exceeds the games.

    Examples:
        >>> class_counts("false_positives", [3, 1.0], "out_games", 10)
        (array([3, 1]), 10)
    """
    n = whole(games_name, games, 1)
    values = finite_vector(name, counts)
    bad = (values != np.floor(values)) | (values < 0) | (values > n)
    if bad.any():
        raise ValueError(
            f"{name} holds {values[bad][0]:.15g}; it must hold whole numbers from 0 to {games_name} = {n}"
        )
    return values.astype(np.int64), n
