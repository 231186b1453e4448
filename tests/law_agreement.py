"""Do samples come from the same law? Each check fails a correct sampler with probability <= FAILURE."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.stats

stats: Any = scipy.stats  # its stubs type every frozen law as discrete
FAILURE = 1e-9
# Two-sided normal quantile of FAILURE: for means of > 1e4 draws, whose normal approximation is good there.
SIGMAS = float(-stats.norm.ppf(FAILURE / 2))


def same_law(first: np.ndarray, second: np.ndarray) -> bool:
    """Two-sample Kolmogorov-Smirnov; with ties its p-value is conservative."""
    result = stats.ks_2samp(np.asarray(first), np.asarray(second), method="asymp")
    return float(result.pvalue) >= FAILURE


def follows(sample: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> bool:
    """One-sample Kolmogorov-Smirnov against a continuous distribution function."""
    return float(stats.kstest(np.asarray(sample), cdf, method="asymp").pvalue) >= FAILURE


def frequencies_p(counts: np.ndarray, probabilities: np.ndarray) -> tuple[int, float]:
    """(cells, p-value) of a chi-square against probabilities; cells that expect < 10 are put together."""
    counts, probabilities = np.ravel(counts).astype(float), np.ravel(probabilities)
    assert abs(probabilities.sum() - 1) < 1e-9
    expected = counts.sum() * probabilities
    if counts[probabilities == 0].any():
        return int(np.count_nonzero(expected)), 0.0
    rare = expected < 10
    if rare.any():
        counts = np.append(counts[~rare], counts[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    keep = expected > 0
    statistic = np.sum((counts[keep] - expected[keep]) ** 2 / expected[keep])
    return int(keep.sum()), float(stats.chi2.sf(statistic, np.count_nonzero(keep) - 1))


def has_frequencies(counts: np.ndarray, probabilities: np.ndarray) -> bool:
    return frequencies_p(counts, probabilities)[1] >= FAILURE


def two_sample_p(first: np.ndarray, second: np.ndarray) -> tuple[int, float]:
    """(cells, p-value) of a chi-square of two histograms; cells with < 20 counts together are put together."""
    rare = first + second < 20
    a, b = (np.append(x[~rare], x[rare].sum()).astype(float) for x in (first, second))
    keep = a + b > 0
    a, b = a[keep], b[keep]
    share = a.sum() / (a.sum() + b.sum())
    expected = share * (a + b)
    statistic = np.sum((a - expected) ** 2 / (expected * (1 - share)))
    return a.size, float(stats.chi2.sf(statistic, a.size - 1))


def has_mean(sample: np.ndarray, mean: np.ndarray, variance: np.ndarray) -> bool:
    """Whether every sample mean lies within SIGMAS of its own standard errors of `mean`."""
    sample = np.asarray(sample)
    error = np.sqrt(np.asarray(variance) / sample.shape[0])
    return bool((np.abs(sample.mean(axis=0) - mean) <= SIGMAS * error).all())
