"""Azize and Basu: the covariance attack is at least as strong as the scalar product (z* - z_ref)' muhat. By enumeration.

Here n = 2 records of two independent coins with p = (0.96, 0.98), the target (0.001, 0.001) and z_ref = (1, 1).
"""

import itertools

import numpy as np
from scipy.stats import binom

n, p, target, reference = 2, np.array([0.96, 0.98]), np.array([0.001, 0.001]), np.ones(2)


def power(weights: np.ndarray, alpha: float) -> float:
    """Of the best test of level alpha on weights' muhat, ties decided by lot."""
    atoms: dict[float, np.ndarray] = {}
    for world, rows in enumerate((n, n - 1)):
        for ones in itertools.product(range(rows + 1), repeat=2):
            mean = (np.array(ones) + world * target) / n
            mass = binom.pmf(ones, rows, p).prod()
            atoms.setdefault(round(float(weights @ mean), 12), np.zeros(2))[world] += mass
    used, found = 0.0, 0.0
    for score in sorted(atoms, reverse=True):
        out, inside = atoms[score]
        share = 1.0 if used + out <= alpha else (alpha - used) / out
        used, found = used + share * out, found + share * inside
        if share < 1.0:
            break
    return float(found)


alpha = 4.5e-4
covariance = power((target - p) / (p * (1 - p)), alpha)
scalar = power(target - reference, alpha)
print(f"At FPR {alpha:g} the covariance attack has power {covariance:.4f}, the scalar product {scalar:.4f}.")
assert scalar > covariance + 0.03
