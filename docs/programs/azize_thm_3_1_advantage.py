"""Azize and Basu, theorem 3.1: the optimal advantage tends to Phi(sqrt(m*)/2) - Phi(-sqrt(m*)/2), m* = lim ||z* - mu||^2 / n.

Here a single coordinate is Bernoulli(0.3/n) and the target has the rare 1: m* = 1/0.3. In the n - 1 others, so
that d = n, say N(0, 1), the target is the mean: they add 0 to m*, and can only add to what the best attack sees.
"""

import numpy as np
from scipy.special import ndtr

rate = 0.3
for n in (50, 5_000, 500_000, 50_000_000):
    p = rate / n
    m = (1 - p) / p / n
    claimed = ndtr(np.sqrt(m) / 2) - ndtr(-np.sqrt(m) / 2)
    # Say "member" if the coordinate holds a 1: always so with the target, and with no chance but this without it.
    false_positives = -np.expm1(n * np.log1p(-p))
    advantage = 1.0 - false_positives
    print(f"n = {n}: claimed advantage {claimed:.4f}; this attack has {advantage:.4f}.")
    assert advantage > claimed + 0.09
