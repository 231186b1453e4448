"""Chi-square of a histogram against an exact law, at the failure probability that all tests of the engine share."""

from typing import Any

import numpy as np
from scipy import stats

import mipsim as mi

FAILURE = 1e-9


def even_edges(law: Any, bins: int) -> np.ndarray:
    """Thresholds that cut the "out" law into about equally likely bins."""
    low, high = law.threshold_at(np.array([1 - 1e-6, 1e-6]))
    grid = np.linspace(low, high, 20_001)
    return np.unique(np.interp(np.arange(1, bins) / bins, law.cdf(grid, inside=False), grid))


def kolmogorov_smirnov_p(histogram: mi.Histogram, law: Any, *, inside: bool) -> tuple[int, float]:
    """(bins used, p-value); neighbouring bins are joined until 20 games are expected in each."""
    counts = histogram.inside if inside else histogram.out
    cdf = np.concatenate([[0.0], law.cdf(histogram.edges, inside=inside), [1.0]])
    place = np.floor(cdf[1:] * histogram.games / 20.0).astype(int)
    _, group = np.unique(place, return_inverse=True)
    # The last group may be short of games: it joins the group before.
    group = np.minimum(group, max(group.max() - 1, 0))
    expected = np.bincount(group, np.diff(cdf)) * histogram.games
    result = np.bincount(group, counts)
    used = expected > 1e-3
    assert result[~used].sum() == 0
    statistic = np.sum((result[used] - expected[used]) ** 2 / expected[used])
    return int(used.sum()), float(stats.chi2.sf(statistic, used.sum() - 1))
