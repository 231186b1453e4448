"""Kaissis et al., section 5: at Delta/sigma = 1/5, d = 300 and N = 150 j and jinv "match the plot of the
analytic form in Equation (7) exactly". Read as an equality, not as what a plot can show.
Here at FPR 1e-4.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import ncx2

ratio, d, N, alpha = 0.2, 300, 150, 1e-4
L = N * ratio**2

equation_7 = ndtr(
    ndtri(alpha) / np.sqrt(1.0 + 2.0 * L / d) + L / np.sqrt(2.0 * d + 4.0 * L)
)  # power, 1 - FNR
j = ncx2.sf(ncx2.isf(alpha, d, 0.0), d, L)
jinv = ncx2.cdf(ncx2.ppf(alpha, d, L), d, 0.0)

print(f"Power at FPR {alpha:g}: equation 7 says {equation_7:.4g}; j has {j:.4g} and jinv {jinv:.4g}.")
for name, power in (("j", j), ("jinv", jinv)):
    print(f"In probits of the FNR {name} is {ndtri(equation_7) - ndtri(power):+.4f} from equation 7.")

assert j < 0.9 * equation_7
assert jinv < 0.8 * equation_7
