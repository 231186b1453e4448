"""Kaissis et al., section 5 and appendix: no data reconstruction is right with a probability above
1 - J(kappa), kappa the prior success. Here two records, equally likely (kappa = 1/2), of shifts 0.5 and -0.5,
noise N(0, 1); the attacker knows the records and q.
"""

import numpy as np
from scipy.special import ndtr

mu, kappa = 0.5, 0.5

# The tests |z| > c and |z| < c as (FPR, FNR) points, j and jinv, and the least that J may be: their convex
# envelope, which lies above each line that lies below all points.
c = np.linspace(0.0, 12.0, 100_001)
null_below = ndtr(c) - ndtr(-c)
shifted_below = ndtr(c - mu) - ndtr(-c - mu)
fpr = np.concatenate([1.0 - null_below, shifted_below])
fnr = np.concatenate([shifted_below, 1.0 - null_below])
J = max((fnr + slope * fpr).min() - slope * kappa for slope in np.geomspace(0.1, 10.0, 2001))

# The attacker names the record on whose side the output lies.
success = ndtr(mu)

print(f"1 - J(1/2) says that no reconstruction is right with a probability above {1.0 - J:.4f}.")
print(f"Naming the record on the side of the output is right with probability {success:.4f}.")

assert success > 1.0 - J + 0.1
