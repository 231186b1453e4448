"""Kaissis et al., theorem 3: as the number N of non-adaptive steps increases (alone) j and jinv tend to equation 7 and to
Phi(Phi^-1(1 - a) - N mu2^2 / sqrt(2d)), mu2 = Delta/sigma << 1.

Here d = 1. With mu2 held (1/5, as in figure 2a) both FNRs vanish, which is true of error rates; in probits j falls twice as fast
as equation 7. With N mu2^2 held, so that mu2 falls, the limits differ.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import ncx2

d, alpha = 1, 0.05


def curves(L):
    """j, jinv and equation 7. The sum of the N outputs has mean 0 or N mu2 and variance N: its square over N is chi2_1(L)."""
    equation_7 = ndtr(-ndtri(alpha) / np.sqrt(1.0 + 2.0 * L / d) - L / np.sqrt(2.0 * d + 4.0 * L))
    return ncx2.cdf(ncx2.isf(alpha, d, 0.0), d, L), ncx2.sf(ncx2.ppf(alpha, d, L), d, 0.0), equation_7


for N in (500, 2000, 8000):
    j, jinv, equation_7 = curves(N * 0.2**2)
    print(f"mu2 = 0.2, N = {N}: FNR {j:.3g} (j), {jinv:.3g} (jinv), {equation_7:.3g} (equation 7); ", end="")
    print(f"in probits {ndtri(j):.2f} and {ndtri(equation_7):.2f}.")
assert max(j, jinv, equation_7) < 1e-12
assert ndtri(j) < 1.7 * ndtri(equation_7)

for N in (16, 256, 65_536):
    j, jinv, equation_7 = curves(N * (2.0 / np.sqrt(N)) ** 2)
    short = ndtr(-ndtri(alpha) - 4.0 / np.sqrt(2.0 * d))
    print(f"mu2 = 2/sqrt(N), N = {N}: FNR {j:.4f} (j), {jinv:.4f} (jinv), whatever N is; ", end="")
    print(f"equation 7 says {equation_7:.4f}, the short form {short:.4f}.")
    assert min(abs(x - y) for x in (j, jinv) for y in (equation_7, short)) > 0.1
    assert abs(j - jinv) > 0.1
