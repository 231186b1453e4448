"""Azize and Basu, algorithm 4: the covariance attack improves on the scalar product when C0's inverse is well estimated.

Here C0 = (1/n_r) sum g g' as printed, not centred, and mu0, from infinitely many references; gradients N((3, 0), I), a batch of 2, a
target g* = (6, 1), a single step. Scores of the batch gradient: (g* - mu)' C0^-1 (. - mu), and g*'(.).
"""

import numpy as np
from scipy.special import ndtr, ndtri

batch, mean, target = 2, np.array([3.0, 0.0]), np.array([6.0, 1.0])
C0 = np.eye(2) + np.outer(mean, mean)
for alpha in (0.01, 0.1):
    powers = []
    for weights in (np.linalg.solve(C0, target - mean), target):
        # Normal, of variance |w|^2 / b without the target and (b - 1)/b of that with it, which lifts its mean.
        sd = np.sqrt(weights @ weights / batch)
        rise = weights @ (target - mean) / batch
        powers.append(float(ndtr((rise - sd * ndtri(1 - alpha)) / (sd * np.sqrt((batch - 1) / batch)))))
    print(
        f"At FPR {alpha:g} the covariance attack has power {powers[0]:.3f}, the scalar product {powers[1]:.3f}."
    )
    assert powers[1] > powers[0] + 0.3
