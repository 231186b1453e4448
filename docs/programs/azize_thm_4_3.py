"""Azize and Basu, theorem 4.3: the attack that uses l_n(muhat; z_targ, mu, C) as the LR test function has the advantage
Phi(|m_scal|/(2 sqrt m)) - Phi(-|m_scal|/(2 sqrt m)), m = m_targ, whatever z_targ is.

Here d = n, the data are Bernoulli(0.3), the true target is all ones and the attack is aimed at (1/2, ..., 1/2). With z_targ in
the data every column sum is a whole number and a half; those of the true data never are. So the ratio is 0 at every output.
"""

import numpy as np
from scipy.special import ndtr
from scipy.stats import binom

p, games = 0.3, 20_000
rng = np.random.default_rng(0)
for n in (20, 200, 2000):
    variance = p * (1 - p)
    m_targ = (0.5 - p) ** 2 / variance  # d/n = 1
    m_scal = (0.5 - p) * (1 - p) / variance
    claimed = 2 * ndtr(abs(m_scal) / (2 * np.sqrt(m_targ))) - 1
    rates = []
    for member in (0, 1):
        column = rng.binomial(n - member, p, games) + member
        # P(column sum with z_targ among the records), the numerator of the likelihood ratio of a single column.
        ratio = binom.pmf(column - 0.5, n - 1, p) / binom.pmf(column, n, p)
        rates.append(float(np.mean(ratio > 0)))
    print(
        f"n = {n}: claimed {claimed:.4f}; the ratio is above 0 in {rates[1]:.4f} of the games with the target, {rates[0]:.4f} without."
    )
    # An attacker whose statistic is the same constant in both worlds has advantage 0, at every threshold and on either side.
    assert rates == [0.0, 0.0]
    assert claimed > 0.5
