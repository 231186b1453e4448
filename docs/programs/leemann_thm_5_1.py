"""Leemann et al., theorem 5.1: a step is f-MIP with f of equation 8, for any K >= ||Sigma^-1/2 theta'||^2 (as
printed, without the mean).

Targets from the law of the gradients, as definition 4.2 has them: +-1 with P(+1) = 0.9, so that K = 1/0.36 for both.
A fixed target: gradients N(10, 1), the target's gradient theta' = 0, so that K = 0 is allowed. No noise, d = 1, n = 100.
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom, chi2, ncx2

n, own, fpr = 100, 0.9, 1e-4
K = 1.0 / (4.0 * own * (1.0 - own))
allowed = ncx2.cdf(n / (n - 1) * ncx2.ppf(fpr, 1, n * K), 1, (n - 1) * K)

# The attacker sees the target and the number of +1 in the batch, and takes pairs by their likelihood ratio.
ones = np.arange(n + 1)
null = np.concatenate([chance * binom.pmf(ones, n, own) for chance in (own, 1 - own)])
member = np.concatenate([own * binom.pmf(ones - 1, n - 1, own), (1 - own) * binom.pmf(ones, n - 1, own)])
order = np.argsort(-member / null)
power = np.interp(fpr, null[order].cumsum(), member[order].cumsum())
print(
    f"+-1, targets sampled: at FPR {fpr:g} equation 8 with K = {K:.3f} allows a power of {allowed:.6f}; it is {power:.6f}."
)
assert power > 1.15 * allowed

mean, fpr = 10.0, 0.05
allowed = chi2.cdf(n / (n - 1) * chi2.ppf(fpr, 1), 1)  # the noncentralities (n - 1) K and n K are 0

# The attacker says "member" where the mean of the batch is low: N(10, 1/n) out, N((n - 1) 10/n, (n - 1)/n^2) in.
cut = mean + ndtri(fpr) / np.sqrt(n)
power = ndtr((cut - (n - 1) * mean / n) * n / np.sqrt(n - 1.0))
print(
    f"N(10, 1), target 0: at FPR {fpr:g} equation 8 with K = 0 allows a power of {allowed:.4f}; it is {power:.4f}."
)
assert power > 4.0 * allowed
