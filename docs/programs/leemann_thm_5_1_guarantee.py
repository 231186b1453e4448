"""Leemann et al., theorem 5.1 and remark 5.2: for "all distributions with finite variance" a step is f-MIP,
f of equation 8. Here each of d = n/2 independent coordinates of a gradient is 0, 1 or sqrt 2 with probability
0.6, 0.3 or 0.1; the target's are all sqrt 2, K is that of the centred gradient, and there is no noise.
"""

import numpy as np
from scipy.stats import binom, ncx2

values, law = np.array([0.0, 1.0, np.sqrt(2.0)]), np.array([0.6, 0.3, 0.1])
mean = law @ values
variance = law @ values**2 - mean**2
K_per_coordinate = (np.sqrt(2.0) - mean) ** 2 / variance

for n in (200, 2000, 20_000):
    d = n // 2
    # n times the mean of a coordinate is a + b sqrt 2 with whole a and b, which it determines: the attacker
    # adds up the b.
    out = binom(n * d, law[2])
    inside = binom((n - 1) * d, law[2])  # of the others; the target brings d
    cut = out.isf(0.05)
    fpr, power = out.sf(cut), inside.sf(cut - d)

    K = d * K_per_coordinate
    allowed = ncx2.cdf(n / (n - 1) * ncx2.ppf(fpr, d, n * K), d, (n - 1) * K)
    print(f"n = {n}: at FPR {fpr:.4f} equation 8 allows a power of {allowed:.4f}; counting has {power:.4f}.")
    assert power > allowed + 0.3  # and it does not shrink as n grows
