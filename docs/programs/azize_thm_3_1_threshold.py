"""Azize and Basu, theorem 3.1: {l_n > tau_alpha}, tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha), has level alpha in the limit.

Here Gaussian records, d = 2n, and z* = mu, so that m* = 0 and tau_alpha = 0 for every alpha.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import chi2

m = 0.0
for alpha in (0.001, 0.05):
    tau_alpha = -m / 2 + np.sqrt(m) * ndtri(1 - alpha)
    for n in (100, 10_000, 1_000_000):
        d = 2 * n
        # l_n = (d/2) log(n/(n - 1)) - S/(2(n - 1)), and S is chi-square with d degrees of freedom under H0.
        cut = 2 * (n - 1) * (d / 2 * -np.log1p(-1 / n) - tau_alpha)
        level = chi2.cdf(cut, d)
        print(f"n = {n}, d = {d}: the test l_n > {tau_alpha:g} has FPR {level:.4f}; claimed {alpha:g}.")
        assert level > alpha + 0.4
