"""Azize and Basu: the covariance attack is at least as strong as the scalar product (z* - z_ref)' muhat. By enumeration.

Here n = 2 records of two independent coordinates, 0 or 1 and 0 or 1/2, each 0 with probability 0.9. The target is (1, 1/2), and
the reference point (0, 0), which a draw from the data's law gives with probability 0.81.
"""

import numpy as np
from scipy.stats import binom

n, p = 2, 0.1
target, reference = np.array([1.0, 0.5]), np.zeros(2)
mean, variance = p * target, p * (1 - p) * target**2
# Laws of the numbers of records that have 1, and that have 1/2: without the target, and with it.
k = np.arange(n + 1)
out = np.outer(*[binom.pmf(k, n, p)] * 2)
inside = np.outer(*[binom.pmf(k - 1, n - 1, p)] * 2)


def power(weights: np.ndarray, alpha: float) -> float:
    """Of the best test of level alpha that says "member" for large weights' muhat, ties decided by lot."""
    score = np.round(np.add.outer(*(weights * target)[:, None] * k / n), 12)
    used = gained = 0.0
    for value in np.unique(score)[::-1]:
        chance = out[score == value].sum()
        share = min(1.0, (alpha - used) / chance)
        used, gained = used + share * chance, gained + share * inside[score == value].sum()
    return float(gained)


alpha = out[1:, 1:].sum() + out[2, 0] + 1e-12  # of "a 1 and a 1/2, or two 1s"
covariance = power((target - mean) / variance, alpha)
scalar = power(target - reference, alpha)
print(
    f"At FPR {alpha:.4g} the covariance attack has power {covariance:.4f}, the scalar product {scalar:.4f}."
)
assert scalar > covariance + 0.1
