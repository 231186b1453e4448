"""Azize and Basu, lemma C.9: E_0[Y] = -1/(2n) - t^2/(2n) + o(1/n), t = (z - mu)/sigma, for every coordinate.

Here Bernoulli(0.02) records and t = 6 sqrt(n): a target that holds its leakage, m* = t^2/n = 36, in a single coordinate.
"""

import numpy as np
from scipy.stats import binom

p = 0.02
skewness = (1 - 2 * p) / np.sqrt(p * (1 - p))
errors = []
for n in (100, 1_000, 10_000):
    t = 6.0 * np.sqrt(n)
    ones = np.arange(n + 1)
    mass = binom.pmf(ones, n, p)
    outside = (ones - n * p) / np.sqrt(n * p * (1 - p))  # delta^out, and delta^in:
    inside = (np.sqrt(n) * outside - t) / np.sqrt(n - 1)
    rest = outside**2 + outside * inside + inside**2 - 3
    y = 0.5 * (outside**2 - inside**2) - skewness * t / n * rest
    errors.append(n * (mass @ y - (-0.5 - t**2 / 2) / n))
    print(
        f"n = {n}: n times (E_0[Y] less the printed terms) is {errors[-1]:.4g}; the lemma says that it vanishes."
    )
assert abs(errors[-1]) > 5 * abs(errors[0]) > 1e3
