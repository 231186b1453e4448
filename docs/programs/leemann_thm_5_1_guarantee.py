"""Leemann et al., theorem 5.1 and remark 5.2: for "all distributions with finite variance" a step is f-MIP, f of equation 8.

Here each of d = n/2 independent coordinates has four equally likely values near -1 and 1 that are rationally independent, and
the target is any from this law, as definition 4.2 has it. Each value is 1 standard deviation from the mean, within 0.3%.
"""

from itertools import product

import numpy as np
from scipy.stats import binom, ncx2

values = np.array([-1.0, -1.0, 1.0, 1.0]) + np.sqrt([2.0, 3.0, 5.0, 7.0]) * np.array([-1, 1, -1, 1]) / 1000
mean, variance = values.mean(), values.var()
K_per_coordinate = ((values - mean) ** 2 / variance).max()
assert K_per_coordinate < 1.01

# The sum of a coordinate names how often each value is in it; here seen for 12 records, by going through all counts.
sums = np.sort([np.dot(c, values) for c in product(range(13), repeat=4) if sum(c) == 12])
assert np.diff(sums).min() > 1e-10

for n in (200, 2000, 20_000):
    d = n // 2
    # The attacker adds up, over the coordinates, how many records have the target's value.
    out = binom(n * d, 0.25)
    inside = binom((n - 1) * d, 0.25)  # of the others; the target brings d
    cut = out.isf(0.5)
    fpr, power = out.sf(cut), inside.sf(cut - d)

    K = d * K_per_coordinate
    allowed = ncx2.cdf(n / (n - 1) * ncx2.ppf(fpr, d, n * K), d, (n - 1) * K)
    print(f"n = {n}: at FPR {fpr:.4f} equation 8 allows a power of {allowed:.4f}; counting has {power:.4f}.")
    assert power > allowed + 0.1  # and it does not shrink as n grows
