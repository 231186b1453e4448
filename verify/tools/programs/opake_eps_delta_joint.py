"""opake 0.16.1: its p-value under (epsilon, delta)-DP takes r delta of r guesses as sure, no more; "mechanism-agnostic".

A mechanism reveals nothing, but with probability 0.1 it reveals 60 of 1,000 coins, chosen at random. Each is revealed with probability 0.006:
it is (0, 0.006)-DP. Then 60 guesses are right at once, and not 6.
"""

import numpy as np
from scipy.stats import binom


def p_value(r, u, epsilon, delta):
    """The formula of opake/api/auditing/one_run/_eps_delta.py: u errors among r guesses."""
    return binom.cdf(u, r - round(r * delta), 1.0 / (1.0 + np.exp(epsilon)))


rng = np.random.default_rng(0)
runs = 200_000
sure = np.where(rng.random(runs) < 0.1, 60, 0)
errors = rng.binomial(1000 - sure, 0.5)
wrong = np.mean(p_value(1000, errors, 0.0, 0.006) < 0.05)
print(
    f"Epsilon is 0 at delta = 0.006. At 95% confidence more is claimed in {wrong:.1%} of the audits; 5% are allowed."
)

assert wrong > 0.07
