"""Leemann et al., corollary 5.1: for large d and n a step is mu_step-GMIP, with K >= ||Sigma^-1/2 theta'||^2 of theorem 5.1.

Here d = n = 1000, gradients N((1, ..., 1), I), the target's gradient theta' = 0 and no noise: K = 0 is allowed. For targets from
the law of the gradients the promise holds, since their K is near 2000.
"""

import numpy as np
from scipy.stats import ncx2, norm

d, n, fpr, K = 1000, 1000, 0.05, 0.0
allowed_mu = (d + (2 * n - 1) * K) / (n * np.sqrt(2 * d + 4 * n * K))
allowed = norm.cdf(norm.ppf(fpr) + allowed_mu)

# The attacker says "member" where the mean of the batch is near the target: n |m|^2 is chi-square with d degrees of freedom and
# noncentrality n d out; in, n^2 |m|^2 / (n - 1) has the noncentrality (n - 1) d.
cut = ncx2.ppf(fpr, d, n * d)
power = ncx2.cdf(cut * n / (n - 1), d, (n - 1) * d)
mu = norm.ppf(power) - norm.ppf(fpr)

print(f"At FPR {fpr:g} the corollary allows mu = {allowed_mu:.3f}, a power of {allowed:.4f}.")
print(f"The distance of the mean from the target has power {power:.4f}: mu = {mu:.3f}.")

assert mu > 0.9 > 10 * allowed_mu

# Sampled targets, and the least K of 20,000; the log ratio of (output, target) rises with these two differences.
rng, games, root = np.random.default_rng(0), 200_000, np.sqrt(n)
least = float(rng.noncentral_chisquare(d, d, 20_000).min())
promised = norm.cdf(norm.ppf(0.1) + (d + (2 * n - 1) * least) / (n * np.sqrt(2 * d + 4 * n * least)))
a, b, x, y = rng.chisquare(d, (4, games))
out, inside = a / (root + 1) - b / (root - 1), (x - y) / root
power = float(np.mean(inside > np.quantile(out, 0.9)))
print(
    f"Sampled targets: the least K of 20,000 is {least:.0f}; at FPR 0.1 it allows {promised:.3f}, and the best test has {power:.3f}."
)
assert power < promised - 0.05
