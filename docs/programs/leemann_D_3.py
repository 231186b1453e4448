"""Leemann et al., appendix D.3: k independent steps of mu_step-GMIP compose to sqrt(k) mu_step-GMIP.
Here k = 2, and a step shows nothing of half of the targets, the same half in both, and of the others a coin
of e^2 : 1. The coins stand for such a step: a random set of values is released, which holds an exposed
record's value with probability 1 - q and every other value with q.
"""

import numpy as np
from scipy.special import ndtr, ndtri

k, epsilon, share = 2, 2.0, 0.5
q = 1.0 / (1.0 + np.exp(epsilon))  # chance of a 1 where the target is out, 1 - q where it is in

# A single step, averaged over targets (definition 4.1): the curve is a polygon, and mu_step the largest mu that
# any of its corners requires. Corners (FPR, power): "member" for the exposed at a 1; and for the unexposed as
# well.
corners = ((share * q, share * (1 - q)), (share * q + 1 - share, share * (1 - q) + 1 - share))
mu_step = max(ndtri(power) - ndtri(fpr) for fpr, power in corners)
mu = np.sqrt(k) * mu_step

# Both steps: "member" for an exposed target where both coins show a 1.
fpr, power = share * q**k, share * (1.0 - q) ** k
allowed = ndtr(mu + ndtri(fpr))

print(f"A step is {mu_step:.4f}-GMIP, so that two are claimed to be {mu:.4f}-GMIP.")
print(f"At FPR {fpr:.4f} that allows a power of {allowed:.4f}; this attack has {power:.4f}.")

assert power > allowed + 0.05
