"""ml_privacy_meter: "Best One Run DP Auditing Results: EPS Lower Bound ... P_VALUE 0.05", for scores that say nothing.

The bound is the largest over all pairs (lowest k_neg scores "out", scores from k_pos on "in"), in steps of the root of the number of
canaries, and each is tested at the full p-value. Epsilon is above 0 where any test rejects fair guesses.
"""

import numpy as np
from scipy.stats import binom

size, runs, wrong = 200, 1000, 0
step = int(np.sqrt(size))
pairs = [(low, high) for high in range(0, size, step) for low in range(0, high, step)]
low, high = np.array(pairs).T
guesses = low + size - high
for member in np.random.default_rng(0).random((runs, size)) < 0.5:  # in the order of the scores
    ins = np.concatenate([[0], np.cumsum(member)])
    right = (low - ins[low]) + (ins[-1] - ins[high])
    wrong += bool(np.any(binom.sf(right - 1, guesses, 0.5) < 0.05))
print(f"Nothing leaks. Of {runs} audits with p-value 0.05, {wrong} give epsilon above 0; 50 are allowed.")

assert wrong > 200
