"""Azize and Basu: in the limit the covariance attack is at least as strong as the scalar product (z* - z_ref)' muhat.

Here d = n. The first coordinate is 0 or 1 and the second 0 or 1/2, each 0 but for a probability of 0.05/n; the target has both
rare values. All others are 0 but for a probability of 1/n^2, 1 or -1 by the toss of a coin, and the target has their mean, 0.
So z_ref = 0 is what a draw from the data's law gives nearly always, and both scores see the first two coordinates alone.
"""

import numpy as np
from scipy.stats import binom

rate, alpha = 0.05, 0.0035
target = np.array([1.0, 0.5])
k = np.arange(12)  # more rare values have probability 1e-25


def power(weights: np.ndarray, n: int) -> float:
    """Of the best test of level alpha that says "member" for large weights' muhat, ties decided by lot."""
    out = np.outer(*[binom.pmf(k, n, rate / n)] * 2)
    inside = np.outer(*[binom.pmf(k - 1, n - 1, rate / n)] * 2)
    score = np.round(np.add.outer(*(weights * target)[:, None] * k), 12)
    used = gained = 0.0
    for value in np.unique(score)[::-1]:
        chance = out[score == value].sum()
        share = min(1.0, (alpha - used) / chance) if chance else 1.0
        used, gained = used + share * chance, gained + share * inside[score == value].sum()
    return float(gained)


for n in (1_000, 100_000, 10_000_000):
    p = rate / n
    weights = (1 - p) * target / (p * (1 - p) * target**2)  # (z* - mu) / variance
    covariance, scalar = power(weights / weights[0], n), power(target, n)
    zero = np.exp(2 * np.log1p(-p) + (n - 2) * np.log1p(-1 / n**2))
    print(
        f"n = {n}, FPR {alpha:g}: covariance attack {covariance:.4f}, scalar product {scalar:.4f}; P(z_ref = 0) = {zero:.4f}."
    )
    assert scalar > covariance + 0.2
    assert zero > 0.99
