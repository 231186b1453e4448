"""Azize and Basu, lemma C.8: log(d_{n-1}(in)/d_n(out)) = (out^2 - in^2)/2 + lambda_3 (mu - z)/(n sigma) R + o_p(1/n).

Here the records are exponential, with mean, deviation 1 and skewness lambda_3 = 2, so that sums are gamma; the target is z = 3.
"""

import numpy as np
from scipy.stats import gamma

z = 3.0
for n in (10_000, 40_000, 160_000):
    total = np.random.default_rng(0).gamma(n, size=20_000)
    out, inside = (total - n) / np.sqrt(n), (total - z - (n - 1)) / np.sqrt(n - 1)
    exact = gamma.logpdf(total - z, n - 1) - gamma.logpdf(total, n) + 0.5 * np.log((n - 1) / n)
    skew = 2.0 * (1.0 - z) / n * (out**2 + out * inside + inside**2 - 3.0)
    errors = [n * np.abs(exact - (out**2 - inside**2) / 2 - share * skew) for share in (1.0, 1 / 6)]
    print(
        f"n = {n:,}: n times the error has the median {np.median(errors[0]):.3f}; with a sixth of the term {np.median(errors[1]):.3f}."
    )

# If the error were o_p(1/n), n times it would tend to 0.
assert np.median(errors[0]) > 5.0
assert np.median(errors[1]) < 0.05
