"""Azize and Basu, algorithm 4: the covariance attack improves on the scalar product when C0's inverse is well estimated.

Here C0 = (1/n_r) sum g g' as printed, not centred, from infinitely many references; gradients N((3, 0), I), a batch of 2, and a
target g* = (6, 1). Scores of the batch gradient: (g* - mu)' C0^-1 (. - mu), and g*'(.).
"""

import numpy as np

batch, alpha, games = 2, 0.1, 200_000
mean, target = np.array([3.0, 0.0]), np.array([6.0, 1.0])
direction = target - mean
own = {
    "covariance attack": np.linalg.solve(np.eye(2) + np.outer(mean, mean), direction),
    "scalar product": target,
}
rng = np.random.default_rng(0)
out = mean + rng.normal(size=(games, batch, 2)).mean(1)
inside = (mean + rng.normal(size=(games, 2)) + target) / batch
powers = {}
for name, weights in own.items():
    powers[name] = (inside @ weights > np.quantile(out @ weights, 1 - alpha)).mean()
    print(f"{name}: power {powers[name]:.3f} (+- 0.005) at FPR {alpha:g}.")
assert powers["scalar product"] > powers["covariance attack"] + 0.1
