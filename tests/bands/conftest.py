"""Counts sampled directly from their law: multinomial bins between thresholds, thousands of replicates."""

from collections.abc import Callable

import numpy as np
import pytest

Draw = Callable[..., np.ndarray]


@pytest.fixture(scope="session")
def draw_counts() -> Draw:
    """draw(rng, rates, games, replicates): counts with these monotone rates, shape (replicates, K)."""

    def draw(rng: np.random.Generator, rates: np.ndarray, games: int, replicates: int) -> np.ndarray:
        falling = rates[0] > rates[-1]
        rising = 1.0 - rates if falling else rates
        bins = np.diff(np.concatenate([[0.0], rising, [1.0]]))
        below = np.cumsum(rng.multinomial(games, bins, size=replicates), axis=1)[:, :-1]
        return games - below if falling else below

    return draw
