"""Audits in one training run: how many right guesses about canaries a privacy guarantee allows."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest probability of so many right guesses under (epsilon, delta)-DP.

    Args:
        canaries: each in the training set or not by a fair coin.
        guesses: how many of them the auditor guesses about.
        right: how many of the guesses are right.
        epsilon: of the null hypothesis.
        delta: of the null hypothesis.

    Source: Steinke, Nasr, Jagielski (2023), theorem 5.2.

    Examples:
        >>> p_value(100, 10, 10, 0.0, 0.0) == 2.0**-10
        True
    """
    law = binom(guesses, 1.0 / (1.0 + math.exp(-epsilon)))
    below = law.cdf(np.arange(right - 1, -2, -1))  # P(fewer than right), then with one less each
    steps = (below[0] - below[1:]) / np.arange(1, right + 1)
    worst = float(steps.max(initial=0.0))
    return min(float(law.sf(right - 1)) + 2.0 * canaries * delta * worst, 1.0)


def refuses_gdp(canaries: int, guesses: int, right: int, mu: float, significance: float) -> bool:
    """Whether so many right guesses are too many for mu-GDP.

    Source: Mahloujifar, Melis, Chaudhuri (2025), algorithm for f-DP with a fair coin for each canary.

    Examples:
        >>> refuses_gdp(1000, 100, 99, 1.0, 0.05), refuses_gdp(1000, 100, 60, 1.0, 0.05)
        (True, False)
    """
    r, h = significance * right / canaries, significance * (guesses - right) / canaries
    for i in range(right - 1, -1, -1):
        higher = max(h, float(ndtr(ndtri(r) - mu)))
        if higher == h:
            break
        r, h = min(r + i / (guesses - i) * (higher - h), 1.0), higher
    return r + h > guesses / canaries
