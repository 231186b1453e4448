"""Leemann et al., section 5.2: exactly T steps at rate n/N are mu-GMIP, mu of equation 10 at c = (n/N) sqrt(T).
Here T = 1 step at rate p = n/N = 0.01, which is mu_step = 2 for the records of its batch: N(0, 1) against
N(2, 1).
"""

import numpy as np
from scipy.special import ndtr, ndtri

s, p, steps = 2.0, 0.01, 1

c = p * np.sqrt(steps)
mu = np.sqrt(2.0) * c * np.sqrt(np.exp(s**2) * ndtr(1.5 * s) + 3.0 * ndtr(-0.5 * s) - 2.0)

# The attacker says "member" above a threshold z. A member is in the batch with probability p only.
fpr = 1e-5
z = -ndtri(fpr)
power = (1.0 - p) * ndtr(-z) + p * ndtr(s - z)
allowed = ndtr(mu - z)  # 1 - g_mu(fpr)

print(f"Equation 10 gives mu = {mu:.4f}: at FPR {fpr:g} no attack has more power than {allowed:.3g}.")
print(f"Thresholding the output has power {power:.3g} there, {power / allowed:.1f} times as much.")

assert power > 4.0 * allowed
