"""Azize and Basu: in the limit the covariance attack is at least as strong as the scalar product (z* - z_ref)' muhat.

Here two coordinates are Bernoulli(0.05/n), the target has both rare ones, and z_ref = (0, 1/2). In all others, d = n of them,
target and z_ref are the mean: there both scores have weight 0.
"""

import numpy as np
from scipy.stats import binom

rate, alpha = 0.05, 0.0035
k = np.arange(12)  # more ones have probability 1e-25


def power(weights: tuple[float, float], n: int) -> float:
    """Of the best test of level alpha on the weighted number of ones, ties decided by lot."""
    out = np.outer(*[binom.pmf(k, n, rate / n)] * 2)
    inside = np.outer(*[np.append(0.0, binom.pmf(k[:-1], n - 1, rate / n))] * 2)
    score = np.add.outer(weights[0] * k, weights[1] * k)
    used, found = 0.0, 0.0
    for value in np.unique(score)[::-1]:
        here = score == value
        p, q = out[here].sum(), inside[here].sum()
        share = 1.0 if used + p <= alpha else (alpha - used) / p
        used, found = used + share * p, found + share * q
        if share < 1.0:
            break
    return float(found)


for n in (1_000, 100_000, 10_000_000):
    covariance, scalar = power((1.0, 1.0), n), power((1.0, 0.5), n)
    print(f"n = {n}, FPR {alpha:g}: covariance attack {covariance:.4f}, scalar product {scalar:.4f}.")
    assert scalar > covariance + 0.2
