"""Azize and Basu, section 3: an audit concludes that the empirical mean is sqrt(m*)-Gaussian DP; read as a guarantee.

Here two data sets of n = 100 zeros and ones that differ in a single record.
"""

import numpy as np
from scipy.special import ndtr

first = np.zeros(100)
other = first.copy()
other[0] = 1.0

# The mean has no noise: the test "the mean is that of the second data set" never errs, so that TPR - FPR = 1.
fpr, tpr = float(first.mean() == other.mean()), float(other.mean() == other.mean())
m = 1.0  # any finite leakage
promised = ndtr(np.sqrt(m) / 2) - ndtr(-np.sqrt(m) / 2)
print(f"sqrt(m*)-GDP with m* = {m:g} promises an advantage of at most {promised:.4f}; it is {tpr - fpr:g}.")
assert tpr - fpr == 1.0
assert promised < 1.0
