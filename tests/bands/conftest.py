"""Counts sampled directly from their law, thousands of replicates."""

from collections.abc import Callable

import numpy as np
import pytest

from tests import false_claims


@pytest.fixture(scope="session")
def draw_counts() -> Callable[..., np.ndarray]:
    """draw(rng, rates, games, replicates): counts with these monotone rates, shape (replicates, K)."""
    return false_claims.draw_counts
