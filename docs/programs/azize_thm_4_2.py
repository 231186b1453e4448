"""Azize and Basu, theorem 4.2: with k = rho n sampled rows, the optimal power tends to Phi(z_alpha + sqrt(rho m*)).

Here rho = 1/2 and m* = 36: Gaussian records, a target six standard deviations out in each of d = n coordinates.
"""

import numpy as np
from scipy.special import ndtr, ndtri

rho, m, alpha = 0.5, 36.0, 0.01
printed = ndtr(ndtri(alpha) + np.sqrt(rho * m))

# The target is sampled with probability rho; if it is not, the release has the law without it. So no test of
# level alpha has more power than rho + (1 - rho) alpha, at any n and d.
ceiling = rho + (1 - rho) * alpha
print(f"Power at FPR {alpha:g}: {printed:.4f} as printed; no test has more than {ceiling:.4f}.")
assert printed > 1.9 * ceiling
