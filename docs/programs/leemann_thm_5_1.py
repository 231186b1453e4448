"""Leemann et al., theorem 5.1: a step is f-MIP with f of equation 8, for any K >= ||Sigma^-1/2 theta'||^2 (as
printed, without the mean).
Here d = 1, n = 100, gradients N(10, 1), the target's gradient theta' = 0 and no noise: K = 0 is allowed.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import chi2

n, mean, fpr, K = 100, 10.0, 0.05, 0.0

# Equation 8: the noncentralities (n - 1) K and n K are 0.
allowed = chi2.cdf(n / (n - 1) * chi2.ppf(fpr, 1), 1)

# The attacker says "member" where the mean of the batch is low: N(10, 1/n) out, N((n - 1) 10/n, (n - 1)/n^2)
# in.
cut = mean + ndtri(fpr) / np.sqrt(n)
power = ndtr((cut - (n - 1) * mean / n) * n / np.sqrt(n - 1.0))

print(f"At FPR {fpr:g} equation 8 with K = {K:g} allows no attack a power above {allowed:.4f}.")
print(f"Thresholding the mean of the batch has power {power:.4f}.")

assert power > 4.0 * allowed
