"""Azize and Basu, algorithm 3: the canary with the largest Mahalanobis score is the easiest to attack.

Gaussian gradients of two coordinates, of covariance 1 and mean (3, 0), in a batch of 4; mu0 and C0, not centred, as printed, are those of
infinitely many references.
"""

import numpy as np
from scipy.special import ndtr, ndtri

batch, alpha = 4, 0.3
mu0 = np.array([3.0, 0.0])
C0 = np.eye(2) + np.outer(mu0, mu0)  # E g g': the covariance, and the square of the mean

scores, powers = [], []
for name, canary in (("along the mean", np.array([6.0, 0.0])), ("across it", np.array([3.0, 2.0]))):
    delta = canary - mu0
    scores.append(delta @ np.linalg.solve(C0, delta))
    # The covariance attack with known moments: delta' (batch mean - mu0), normal in both worlds.
    out, inside = np.sqrt(delta @ delta / batch), np.sqrt((batch - 1) * (delta @ delta)) / batch
    powers.append(ndtr((delta @ delta / batch - ndtri(1 - alpha) * out) / inside))
    print(f"Canary {name}: score {scores[-1]:.2f}; detected with power {powers[-1]:.3f} at FPR {alpha:g}.")

assert scores[1] > 4 * scores[0]
assert powers[0] > powers[1] + 0.1
