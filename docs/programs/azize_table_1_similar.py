"""Azize and Basu, table 1: the leakage score of an attack built for a similar point is (1/n)(z_targ - mu)' Sigma^-1 (z_true - mu).

Here the records are N(0, I) with d = 400 and n = 200, the attack is built for twice the target, and its advantage is exact.
"""

import numpy as np
from scipy.special import ndtr

d, n = 400, 200
true = np.full(d, 0.5)
built = 2.0 * true
score = built @ true / n
printed = ndtr(np.sqrt(score) / 2) - ndtr(-np.sqrt(score) / 2)

# The attack thresholds built' mean: normal in both worlds, with means 0 and built' true / n, variances |built|^2 / n times 1 and 1 - 1/n.
shift, out = score, np.sqrt(built @ built / n)
inside = out * np.sqrt(1.0 - 1.0 / n)
thresholds = np.linspace(-5 * out, 5 * out, 100_001)
advantage = np.max(ndtr(thresholds / out) - ndtr((thresholds - shift) / inside))

print(
    f"The table's score is {score:.2f}, an advantage of {printed:.3f}; the best threshold of the attack has {advantage:.3f}."
)
print(
    f"With m_scal^2/m_targ = {(shift / out) ** 2:.2f} it is {ndtr(shift / out / 2) - ndtr(-shift / out / 2):.3f}."
)

assert printed > advantage + 0.05
