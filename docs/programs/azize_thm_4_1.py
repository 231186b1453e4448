"""Azize and Basu, theorem 4.1: with noise N(0, Sigma_gamma)/sqrt(n) the power tends to Phi(z_alpha + sqrt(m)).

Here m = lim (1/n) ||z* - mu||^2_{(Sigma + Sigma_gamma)^-1}. Coordinate j, of d = n, is a fair coin, 0 or 1, with noise of standard deviation
gamma_j = 1/j, and the target is the mean, 1/2 everywhere: m = 0.
"""

import numpy as np
from scipy.special import ndtr, ndtri

alpha, target, mean, variance = 0.01, 0.5, 0.5, 0.25
for n in (1_000, 30_000, 1_000_000):
    gamma = 1.0 / np.arange(1, n + 1)
    m = ((target - mean) ** 2 / (variance + gamma**2)).sum() / n
    claimed = ndtr(ndtri(alpha) + np.sqrt(m))
    # Sums of n coins are whole numbers; with the target they are half a number off. Say "member" where the released
    # sum of the last coordinate is nearer to a half than to a whole number: right unless noise moves it by a quarter.
    noise = np.sqrt(n) * gamma[-1]
    wrong = 2 * ndtr(-0.25 / noise)
    print(
        f"n = {n}: this test has FPR <= {wrong:.1e} and power >= {1 - wrong:.6f}; claimed: {claimed:g} at FPR {alpha:g}."
    )
    assert wrong < 1e-6 < alpha
    assert 1 - wrong > claimed + 0.9
