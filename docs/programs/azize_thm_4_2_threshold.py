"""Azize and Basu, theorem 4.2: the test {l > tau_alpha}, tau_alpha = -rho m*/2 + sqrt(rho m*) Phi^-1(1 - alpha), has level alpha.

Here rho = 1/2, m* = 4 and alpha = 1/2, at which the test always says "in".
"""

import numpy as np
from scipy.special import ndtri

rho, m, alpha = 0.5, 4.0, 0.5
threshold = -rho * m / 2 - np.sqrt(rho * m) * ndtri(alpha)

# The ratio is l = log(1 - rho + rho L), L >= 0 the ratio of the sampled rows: it is at least log(1 - rho), whatever is released.
least = np.log(1 - rho)
print(
    f"Level {alpha:g} as printed; l is at least {least:.3f}, above the threshold {threshold:g}, so that the level is 1."
)
assert least > threshold + 0.3
