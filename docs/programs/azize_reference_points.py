"""Azize and Basu, appendix E.1: with few reference points the covariance attack loses a negligible part of its power.

Here the setting of figure 6: d = 5000 coins with p uniform in [0.25, 0.75], n = 1000, the easiest target. C0 = (1/n0) sum Z Z' has no
inverse for n0 < d, and the paper does not say what is inverted: here its diagonal, not centred, as printed, and r added. With 1
reference point each r that is tried, up to weights z* - mu0, loses half a probit or more. With 10 small ones lose most of the
power, large ones little. No games: the bounds hold for the sampled reference points (Berry and Esseen).
"""

import numpy as np
from scipy.special import ndtr, ndtri

d, n, alpha = 5000, 1000, 0.1


def powers(weights: np.ndarray, p: np.ndarray, target: np.ndarray) -> tuple[float, float]:
    """The least and the most that the power of the score weights' muhat may be at FPR alpha."""
    third = (np.abs(weights) ** 3 * p * (1 - p) * (p**2 + (1 - p) ** 2)).sum()
    variance = (weights**2 * p * (1 - p)).sum()  # of a record's part in n muhat
    error = 0.56 * third / variance**1.5 / np.sqrt([n, n - 1])  # in the law without the target, and with it
    rise = weights @ (target - p) / np.sqrt(variance)
    least, most = (
        ndtr((rise - np.sqrt(n) * ndtri(1 - alpha + sign * error[0])) / np.sqrt(n - 1)) - sign * error[1]
        for sign in (1, -1)
    )
    return float(least), float(most)


rng = np.random.default_rng(0)
for n0 in (1, 10):
    p = rng.uniform(0.25, 0.75, d)
    target = (p <= 0.5) * 1.0
    references = (rng.random((n0, d)) < p) * 1.0
    mu0, C0 = references.mean(0), (references**2).mean(0)
    known = powers((target - p) / (p * (1 - p)), p, target)[0]
    lost = []
    for r in (1e-6, 0.01, 0.1, 1.0, 10.0, 1e6):
        few = powers((target - mu0) / (C0 + r), p, target)[1]
        lost.append(ndtri(known) - ndtri(few))
        print(
            f"n0 = {n0}, r = {r:g}: power at most {few:.3f} at FPR {alpha:g}, with known moments at least {known:.3f}: "
            f"{lost[-1]:.2f} probits are lost."
        )
    assert min(lost) > 0.5 or n0 > 1
    assert max(lost[:2]) > 1.0
