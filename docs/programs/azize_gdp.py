"""Azize and Basu, section 3: an audit with target z* would conclude sqrt(m*)-Gaussian differential privacy.

That is delta(eps) = Phi(-eps/s + s/2) - e^eps Phi(-eps/s - s/2), s = sqrt(m*). Here a single coordinate is Bernoulli(0.3/n), the
target has the rare 1; in the n - 1 others, so that d = n, say N(0, 1), it is the mean: m* = 1/0.3.
"""

import numpy as np
from scipy.special import ndtr

rate, epsilon = 0.3, 0.1
for n in (50, 5_000, 500_000, 50_000_000):
    p = rate / n
    s = np.sqrt((1 - p) / p / n)
    claimed = ndtr(-epsilon / s + s / 2) - np.exp(epsilon) * ndtr(-epsilon / s - s / 2)
    # The event "the coordinate holds a 1" has probability 1 with the target, and without it:
    without = -np.expm1(n * np.log1p(-p))
    delta = 1.0 - np.exp(epsilon) * without
    print(f"n = {n}: delta({epsilon:g}) is claimed to be {claimed:.4f}; this event alone needs {delta:.4f}.")
    assert delta > claimed + 0.05
