"""Azize and Basu, theorem 3.1: the optimal power tends to Phi(z_alpha + sqrt(m*)), m* = lim ||z* - mu||^2 / n.

Here n records of a single coordinate that is Bernoulli(0.1/n), and a target that has the rare 1: m* = 10.
"""

import numpy as np
from scipy.special import ndtr, ndtri

rate, alpha = 0.1, 1e-4
for n in (50, 5_000, 500_000, 50_000_000):
    p = rate / n
    m = (1 - p) / p / n
    claimed = ndtr(ndtri(alpha) + np.sqrt(m))
    # The ratio k / (n p) rises with the number k of ones: the best test says "member" for many ones. Two ones or
    # more have a probability above alpha without the target, so that a test of level alpha needs at least two.
    two_or_more = -np.expm1(n * np.log1p(-p)) - n * p * np.exp((n - 1) * np.log1p(-p))
    # With the target in, whose 1 counts, that is at least a 1 among the n - 1 others.
    most = -np.expm1((n - 1) * np.log1p(-p))
    print(f"n = {n}: claimed power {claimed:.4f} at FPR {alpha:g}; the best test has at most {most:.4f}.")
    assert two_or_more > alpha
    assert most < 0.4 * claimed
