"""Azize and Basu, lemma C.11: with k = rho n rows the logarithm of the ratio of sub-samples is W + o_p(1/n).

Here the records are exponential, with mean, deviation 1 and skewness lambda_3 = 2; the target is z = 3 and rho = 1/2.
"""

import numpy as np
from scipy.stats import gamma

z, rho = 3.0, 0.5
for k in (10_000, 40_000, 160_000):
    total = np.random.default_rng(0).gamma(k, size=20_000)
    out, inside = (total - k) / np.sqrt(k), (total - z - (k - 1)) / np.sqrt(k - 1)
    # sqrt(k/(k - 1)) d_{k-1}(in)/d_k(out) is the ratio of the two densities of the sum.
    exact = np.log1p(rho * np.expm1(gamma.logpdf(total - z, k - 1) - gamma.logpdf(total, k)))
    square = out**2 - inside**2
    skew = rho * 2.0 * (1.0 - z) / k * (out**2 + out * inside + inside**2 - 3.0)
    rest = rho * square / 2 + rho / (2 * k) + rho * (1 - rho) / 8 * square**2
    errors = [k / rho * np.abs(exact - rest - share * skew) for share in (1.0, 1 / 6)]
    print(
        f"k = {k:,}: n times the error has the median {np.median(errors[0]):.3f}; with a sixth of the term {np.median(errors[1]):.3f}."
    )

# If the error were o_p(1/n), n times it would tend to 0.
assert np.median(errors[0]) > 5.0
assert np.median(errors[1]) < 0.1
