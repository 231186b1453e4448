"""Azize and Basu, algorithm 3: the canary with the largest Mahalanobis score is the easiest to attack.

Here each of d = 50 coordinates of a gradient is +1 or -1, with probability 0.49 each, or a tiny c, with 0.02; n = 100 a
batch. The sum of a coordinate tells how many of its records hold c, and so how many hold +1.
"""

import numpy as np

n, d, games, alpha, c = 100, 50, 20_000, 0.1, 1e-3 / np.sqrt(2)
values, probability = np.array([1.0, c]), np.array([0.49, 0.02])  # of the two canaries, all coordinates alike
mean = 0.02 * c
variance = 0.98 + 0.02 * c**2 - mean**2
scores = d * (values - mean) ** 2 / variance
print(
    f"Mahalanobis scores: {scores[0]:.3g} of the canary of ones, {scores[1]:.3g} of the canary of c: the first is picked."
)
assert scores[0] > 1e4 * scores[1]

rng = np.random.default_rng(0)
powers = []
for p in probability:
    # The likelihood ratio of counts k of the canary's value is the product of k/(n p).
    out = np.log(np.maximum(rng.binomial(n, p, (games, d)), 0.01)).sum(1)
    inside = np.log(rng.binomial(n - 1, p, (games, d)) + 1.0).sum(1)
    powers.append((inside > np.quantile(out, 1 - alpha)).mean())
print(
    f"Power of the best attack at FPR {alpha:g}: {powers[0]:.3f} on the first, {powers[1]:.3f} on the second (+- 0.01)."
)
assert powers[1] > powers[0] + 0.5
