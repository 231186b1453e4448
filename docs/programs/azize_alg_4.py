"""Azize and Basu, algorithm 4: the covariance attack with g_batch = (theta_{t+1} - theta_t) / eta beats the scalar product.

Descent is theta_{t+1} = theta_t - eta g: the printed g_batch is minus the mean gradient of the batch. Here b = 10
gradients N(mu, I) in two coordinates, mu = (3, 0), and a target gradient g* = mu + (0, 2).
"""

import numpy as np
from scipy.special import ndtr, ndtri

b, mu, alpha = 10, np.array([3.0, 0.0]), 0.05
target = mu + np.array([0.0, 2.0])


def power(weights):
    """Of the linear score weights . (mean gradient) at FPR alpha: both laws are normal, the better for large values."""
    length = np.linalg.norm(weights)
    shift = weights @ (target - mu) / b / length
    cut = ndtri(1 - alpha) / np.sqrt(b)
    return 1 - ndtr((cut - shift) * b / np.sqrt(b - 1))


# (g* - mu)' (g_batch - mu) of the printed g_batch = -mean: as a score of the mean its weights are -(g* - mu).
covariance, scalar, corrected = power(-(target - mu)), power(-target), power(target - mu)
honest = power(target)
print(
    f"Power at FPR {alpha:g}: covariance attack {covariance:.4f} as printed, {corrected:.4f} with the sign of descent;"
)
print(f"scalar product {scalar:.4f} with the same sign, {honest:.4f} with that of descent.")
assert covariance < scalar  # as printed it is the weaker attack
assert corrected > honest
