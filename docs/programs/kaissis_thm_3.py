"""Kaissis et al., theorem 3: as the number N of non-adaptive steps increases (alone, d = 1) j and jinv tend to
equation 7 and to Phi(Phi^-1(1 - a) - N mu2^2 / sqrt(2d)).
Here mu2 = Delta/sigma = 2/sqrt(N), so that N mu2^2 = 4 as N grows.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import ncx2

d, alpha = 1, 0.05

for N in (16, 256, 65_536):
    mu2 = 2.0 / np.sqrt(N)
    L = N * mu2**2
    equation_7 = ndtr(-ndtri(alpha) / np.sqrt(1.0 + 2.0 * L / d) - L / np.sqrt(2.0 * d + 4.0 * L))
    short = ndtr(-ndtri(alpha) - L / np.sqrt(2.0 * d))
    # The sum of the N outputs has mean 0 or N mu2 and variance N: its square over N is chi2_1 with
    # noncentrality L.
    j = ncx2.cdf(ncx2.isf(alpha, d, 0.0), d, L)
    jinv = ncx2.sf(ncx2.ppf(alpha, d, L), d, 0.0)
    print(f"N = {N}: the FNR at FPR {alpha:g} is {j:.4f} (j) and {jinv:.4f} (jinv), whatever N is; ", end="")
    print(f"equation 7 says {equation_7:.4f}, the short form {short:.4f}.")
    assert min(abs(x - y) for x in (j, jinv) for y in (equation_7, short)) > 0.1
    assert abs(j - jinv) > 0.1
