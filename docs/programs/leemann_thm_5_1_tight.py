"""Leemann et al., remark 5.2: without noise, with K = ||Sigma^-1/2 theta'||^2 as printed, equation 8 "cannot be
improved". Here d = 1, n = 100, gradients N(10, 1), and a target at the mean, theta' = 10, so that K = 100; and another
with theta' = 0, so that K = 0.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import ncx2

n, mean, fpr = 100, 10.0, 0.05


def equation_8(K):
    """The power that it says the best attack has at this FPR."""
    return ncx2.cdf(n / (n - 1) * ncx2.ppf(fpr, 1, n * K), 1, (n - 1) * K)


# theta' = 10: the mean of the batch is N(10, 1/n) out and N(10, (n - 1)/n^2) in. The likelihood ratio falls
# with its distance from 10, so that the best test says "member" near 10 (Neyman and Pearson).
half_width = ndtri(0.5 + fpr / 2.0)
best = 2.0 * ndtr(half_width * np.sqrt(n / (n - 1.0))) - 1.0
print(
    f"theta' = 10: equation 8 says power {equation_8(100.0):.4f} at FPR {fpr:g}; the best test has {best:.4f}."
)

# theta' = 0: the mean of the batch in is N((n - 1) 10/n, (n - 1)/n^2), and low means speak for it.
cut = mean + ndtri(fpr) / np.sqrt(n)
low = ndtr((cut - (n - 1) * mean / n) * n / np.sqrt(n - 1.0))
print(f"theta' = 0: equation 8 says power {equation_8(0.0):.4f} at FPR {fpr:g}; a single test has {low:.4f}.")

assert best < 0.25 * equation_8(100.0)
assert low > 4.0 * equation_8(0.0)
