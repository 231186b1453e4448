"""Kaissis et al., theorem 1: under Laplace(b) noise no attacker of the relaxed threat model has errors below
J = Symm(j, jinv), whatever function q they chose. Here q is a count, Delta/b = mu = 0.5: the attacker knows
that the record shifts the output up.
"""

import numpy as np

mu, alpha = 0.5, 0.5

# The tests of the magnitude |z| > c and |z| < c as (FPR, FNR) points: j and jinv.
c = np.linspace(0.0, 30.0, 100_001)
null_below = 1.0 - np.exp(-c)  # P(|z| <= c) without the record; then with it, centre mu
shifted_below = np.where(c < mu, np.exp(-mu) * np.sinh(c), 1.0 - np.exp(-c) * np.cosh(mu))
fpr = np.concatenate([1.0 - null_below, shifted_below])
fnr = np.concatenate([shifted_below, 1.0 - null_below])

# The least that J may be: the convex envelope of both. It lies above each line that lies below all points.
J = max((fnr + slope * fpr).min() - slope * alpha for slope in np.geomspace(0.1, 10.0, 2001))

# The attacker says "member" where z > 0, which has FPR 1/2.
missed = 0.5 * np.exp(-mu)  # P(Laplace <= -mu)

print(f"At FPR {alpha:g} theorem 1 promises an FNR of at least {J:.4f}.")
print(f"The attacker who looks at the sign of z has an FNR of {missed:.4f}.")

assert missed < J - 0.05
