"""Kaissis et al., section 4: the sub-sampled Gaussian mechanism with a mask ~ Bern(p)^d in {0,1}^d satisfies
J-DR, J = Symm(j_p, jinv_p). Here d = 2, p = 1/2, Delta/sigma = 3, a shift of two equal entries, and a coin for
each coordinate, as the mask is printed.
"""

import numpy as np
from scipy.stats import binom, ncx2

d, p, mu, alpha = 2, 0.5, 3.0, 0.05

# Lemma 9: j_p = p j + (1 - p)(1 - alpha), from the tests |z|^2 > c; jinv_p is its inverse.
c = np.linspace(0.0, 100.0, 20_001)
fpr = ncx2.sf(c, d, 0.0)
fnr = p * ncx2.cdf(c, d, mu**2) + (1.0 - p) * (1.0 - fpr)
x, y = np.concatenate([fpr, fnr]), np.concatenate([fnr, fpr])
# The least that J may be: the convex envelope of both. It lies above each line that lies below all points.
J = max((y + slope * x).min() - slope * alpha for slope in np.geomspace(0.05, 20.0, 2001))

# The attack |z|^2 > c where k of the d coordinates keep their entry: noncentrality mu^2 k/d.
counts = np.arange(d + 1)
cut = ncx2.isf(alpha, d, 0.0)
missed = binom.pmf(counts, d, p) @ ncx2.cdf(cut, d, mu**2 * counts / d)

print(f"At FPR {alpha:g} J promises an FNR of at least {J:.5f}; this attack has {missed:.5f}.")

assert missed < J - 0.02
