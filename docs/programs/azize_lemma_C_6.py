"""Azize and Basu, lemma C.6: under H0 the log ratio l_n tends in law to N(-m*/2, m*).

Here a single coordinate is Bernoulli(0.1/n) and the target has the rare 1: m* = 10. In the n - 1 others, so that d = n, all
N(0, 1), the target is the mean: they add 0 to m*, and a finite number to l_n.
"""

import numpy as np
from scipy.special import ndtr

rate = 0.1
for n in (50, 5_000, 500_000, 50_000_000):
    p = rate / n
    m = (1 - p) / p / n
    # Records without a single 1 cannot hold the target: there l_n is minus infinity.
    impossible = np.exp(n * np.log1p(-p))
    claimed = ndtr((-100.0 + m / 2) / np.sqrt(m))
    print(f"n = {n}: P(l_n <= -100) under H0 is {impossible:.4f} or more; the lemma's law has {claimed:.1e}.")
    assert impossible > 0.9
    assert claimed < 1e-100
