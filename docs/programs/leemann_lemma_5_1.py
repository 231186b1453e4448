"""Leemann et al., lemma 5.1: if a step is mu_step-GMIP and (n/N) sqrt(t) -> c, SGD tends to mu-GMIP, mu of
equation 10. Here c = 30; a step shows nothing of half of the targets, always the same, and of the presence of
the others in its batch a coin of e^0.1 : 1 (randomised response).
"""

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

c, epsilon, share = 30.0, 0.1, 0.5
q = 1.0 / (1.0 + np.exp(epsilon))  # chance of a 1 where the target is out, 1 - q where it is in

# A single step, averaged over targets (definition 4.1): the curve is a polygon, and mu_step the largest mu that
# any of its corners requires. Corners (FPR, power): "member" for the exposed at a 1; and for the unexposed as
# well.
corners = ((share * q, share * (1 - q)), (share * q + 1 - share, share * (1 - q) + 1 - share))
s = max(ndtri(power) - ndtri(fpr) for fpr, power in corners)
mu = np.sqrt(2.0) * c * np.sqrt(np.exp(s**2) * ndtr(1.5 * s) + 3.0 * ndtr(-0.5 * s) - 2.0)
print(f"mu_step = {s:.4f}, and equation 10 gives mu = {mu:.4f}.")

# t steps: attack the exposed targets alone, by the number of 1s. A step's chance of a 1 is q out, and q + p
# (1 - 2q) in, p = n/N.
for t in (10**4, 10**6, 10**8):
    p = c / np.sqrt(t)
    ones_out, ones_in = binom(t, q), binom(t, q + p * (1.0 - 2.0 * q))
    cut = ones_out.isf(1e-5)
    fpr, power = share * ones_out.sf(cut), share * ones_in.sf(cut)
    allowed = ndtr(mu + ndtri(fpr))
    print(f"t = {t:.0e}: at FPR {fpr:.3g} at most {allowed:.4f} is allowed; the attack has {power:.4f}.")
    assert power > 1.2 * allowed  # and it does not shrink as t grows
