"""Two-sample chi-square over bins, at a failure probability stated once for all tests of the engine."""

import numpy as np
from scipy import stats

FAILURE = 1e-9


def two_sample_p(first: np.ndarray, second: np.ndarray) -> tuple[int, float]:
    """(bins used, p-value) for two histograms; bins with fewer than 20 counts together are pooled."""
    rare = first + second < 20
    a, b = (np.append(x[~rare], x[rare].sum()).astype(float) for x in (first, second))
    keep = a + b > 0
    a, b = a[keep], b[keep]
    share = a.sum() / (a.sum() + b.sum())
    expected = share * (a + b)
    statistic = np.sum((a - expected) ** 2 / (expected * (1 - share)))
    return a.size, float(stats.chi2.sf(statistic, a.size - 1))
