"""Azize and Basu, section 3: "the average leakage is E[m*] = tau", m* = lim ||z* - mu||^2_{Sigma^-1} / n (theorem 3.1).

Here coordinate j = 2, 3, ..., d + 1 is Bernoulli(1/j^2), and d = n, so that tau = 1.
"""

import numpy as np

for n in (10**9, 10**12, 10**15):
    # Without a 1 beyond the first coordinates m_n is at most this, ones in all of the first counted: a 1 in
    # coordinate j counts (1 - p)/p < j^2, the zeros p/(1 - p) = 1/(j^2 - 1) each, 3/4 in all.
    first = round(n**0.3)
    at_most = (float(np.sum(np.arange(2.0, first + 2.0) ** 2)) + 0.75) / n
    chance = 1.0 / (first + 1)  # of a 1 beyond: at most the sum of their 1/j^2
    print(f"n = d = {n:.0e}: E[m_n] = 1, but m_n <= {at_most:.3g} except with probability {chance:.1e}.")

# So m* = 0 with probability 1 (and by Borel and Cantelli as a limit of the m_n too), and its mean is 0, not 1.
assert at_most < 0.02
assert chance < 1e-4
