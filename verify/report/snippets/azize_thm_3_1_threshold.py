"""Azize and Basu, theorem 3.1: {l_n > tau_alpha}, tau_alpha = -m*/2 + sqrt(m*) Phi^-1(1 - alpha), has level alpha in the limit.

Here Gaussian records and z* = mu, so that m* = 0 and tau_alpha = 0 for every alpha.
"""

import numpy as np
from scipy.stats import chi2

alpha, tau = 0.05, 2
for n in (100, 10_000, 1_000_000):
    d = tau * n
    # l_n = (d/2) log(n/(n - 1)) - S/(2(n - 1)), and S is chi-square with d degrees of freedom under H0.
    cut = d * (n - 1) * -np.log1p(-1 / n)
    level = chi2.cdf(cut, d)
    print(f"n = {n}, d = {d}: the test of threshold 0 has FPR {level:.4f}; claimed for alpha = {alpha:g}.")
    assert level > 0.45
