"""Leemann et al., algorithm 1 (GLiR): with S = (n-1) (m - theta)' Sigma^-1 (m - theta), p = log F^-1_{chi2_d(nK)}(S)
is the log p-value under H0.
Here d = 5, n = 20 and K = 5. Under H0 n (m - theta)' Sigma^-1 (m - theta) is chi2_d(nK).
"""

import numpy as np
from scipy.stats import ncx2

d, n, K = 5, 20, 5.0

# As printed: F^-1, a quantile function, of S. It takes levels in [0, 1]; S is n - 1 over n times a chi2_d(nK)
# variable.
beyond = ncx2.sf(n / (n - 1.0), d, n * K)
mean_of_S = (n - 1) / n * (d + n * K)
print(f"S is above 1, where F^-1 has no value, with probability {beyond:.6f}.")
print(f"At the mean of S, {mean_of_S:g}, SciPy's F^-1(S) is {ncx2.ppf(mean_of_S, d, n * K)}.")

# If F is meant: a p-value is below a with probability a under H0.
a = 0.1
reached = ncx2.cdf(ncx2.ppf(a, d, n * K) * n / (n - 1), d, n * K)
print(
    f"F(S) is below {a:g} with probability {reached:.4f} under H0, where a p-value is with probability {a:g}."
)

assert beyond > 0.999
assert np.isnan(ncx2.ppf(mean_of_S, d, n * K))
assert reached > 1.3 * a
