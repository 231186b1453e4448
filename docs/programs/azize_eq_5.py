"""Azize and Basu, equation 5: l_n is asymptotically (z* - mu)' Sigma^-1 (muhat - mu) - ||z* - mu||^2_{Sigma^-1} / (2n).

Here a single coordinate is Bernoulli(1/n) and the target has the rare 1. In the n - 1 others, so that d = n, all N(0, 1),
the target is the mean: there the right side is 0, and what they add to l_n vanishes (its mean square is computed below).
"""

import numpy as np
from scipy.stats import binom

ones = np.arange(1, 60)
for n in (100, 10_000, 1_000_000):
    p = 1.0 / n
    log_ratio = np.log(ones / (n * p))  # of the number of ones in n records, with or without the target
    t = (1 - p) / (p * (1 - p))
    printed = t * (ones / n - p) - (1 - p) ** 2 / (p * (1 - p)) / (2 * n)
    apart = np.abs(log_ratio - printed) > 0.3
    chance = binom.pmf(0, n, p) + binom.pmf(ones[apart], n, p).sum()  # no ones: l_n is minus infinity
    # A coordinate where z = mu adds log(n/(n - 1))/2 - x^2/(2(n - 1)) with x of N(0, 1) under H0.
    mean, variance = np.log(n / (n - 1)) / 2 - 0.5 / (n - 1), 0.5 / (n - 1) ** 2
    rest = ((n - 1) * mean) ** 2 + (n - 1) * variance
    print(
        f"n = {n}: under H0 the two sides are 0.3 or more apart with probability {chance:.3f} (the others: {rest:.1e})."
    )
    # By Chebyshev the others move this by 0.1 with probability rest/0.01 at most.
    assert chance - rest / 0.01 > 0.25
