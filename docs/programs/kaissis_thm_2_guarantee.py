"""Kaissis et al., theorem 2: under Gaussian noise no attacker of the relaxed threat model has errors below
J = Symm(j, jinv), whatever function q they chose. Here q is a count, Delta/sigma = mu = 0.5, d = 1: the attacker
knows that the record shifts the output up.
"""

import numpy as np
from scipy.special import ndtr

mu, alpha = 0.5, 0.5

# The tests of the magnitude |z| > c and |z| < c as (FPR, FNR) points: j and jinv.
c = np.linspace(0.0, 12.0, 100_001)
null_below = ndtr(c) - ndtr(-c)  # P(|z| <= c) without the record, and with it
shifted_below = ndtr(c - mu) - ndtr(-c - mu)
fpr = np.concatenate([1.0 - null_below, shifted_below])
fnr = np.concatenate([shifted_below, 1.0 - null_below])

# The least that J may be: the convex envelope of both. It lies above each line that lies below all points.
J = max((fnr + slope * fpr).min() - slope * alpha for slope in np.geomspace(0.1, 10.0, 2001))

# The attacker says "member" where z > 0, which has FPR 1/2.
missed = ndtr(-mu)

print(f"At FPR {alpha:g} theorem 2 promises an FNR of at least {J:.4f}.")
print(f"The attacker who looks at the sign of z has an FNR of {missed:.4f}.")

assert missed < J - 0.05
