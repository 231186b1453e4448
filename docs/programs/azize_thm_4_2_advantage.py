"""Azize and Basu, theorem 4.2: with k = rho n sampled rows, the optimal advantage tends to 2 Phi(sqrt(rho m*)/2) - 1.

Here rho = 1/2 and m* = 25: Gaussian records, a target five standard deviations out in each of d = n coordinates.
"""

import numpy as np
from scipy.special import ndtr

rho, m = 0.5, 25.0
printed = 2 * ndtr(np.sqrt(rho * m) / 2) - 1

# The target is sampled with probability rho; if it is not, the release has the law without it. So TPR <= rho + (1 - rho) FPR,
# and no test has an advantage above rho (1 - FPR), at any n and d.
print(f"Advantage {printed:.4f} as printed; no test has more than {rho:g}.")
assert printed > 1.8 * rho
