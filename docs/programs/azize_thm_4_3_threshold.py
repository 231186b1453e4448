"""Azize and Basu, theorem 4.3: a misspecified attack has advantage Phi(|m_scal|/(2 sqrt m)) - Phi(-|m_scal|/(2 sqrt m)).

Read with the test "score > 0" that theorem 2.1 calls optimal; by the total variation of its proof it stands.
Here m = m_targ = 1 and m_scal = -1: the attack is aimed at a point opposite the target. The scores are N(-m/2, m) without the target and N(m_scal - m/2, m) with it.
"""

import numpy as np
from scipy.special import ndtr

m, m_scal = 1.0, -1.0
claimed = ndtr(abs(m_scal) / (2 * np.sqrt(m))) - ndtr(-abs(m_scal) / (2 * np.sqrt(m)))
fpr = 1 - ndtr((0 + m / 2) / np.sqrt(m))
tpr = 1 - ndtr((0 - m_scal + m / 2) / np.sqrt(m))
print(f"Claimed advantage {claimed:.4f}; the test has TPR {tpr:.4f} and FPR {fpr:.4f}: {tpr - fpr:.4f}.")

# The scores' law, from 200,000 games with d = n = 400 Gaussian coordinates; the target is mu + 1, the aim mu - 1.
rng, n, games = np.random.default_rng(0), 400, 200_000
out = (
    rng.normal(size=games) * np.sqrt(n) / np.sqrt(n)
)  # sum of the n coordinates of sqrt(n) times the mean, over sqrt(n)
inside = (
    rng.normal(size=games) * np.sqrt((n - 1) / n) + 1.0
)  # (n - 1) other records, and the target's 1 in each coordinate
rates = [float(np.mean(-x * 1.0 - 0.5 > 0)) for x in (inside, out)]
print(f"Played: TPR {rates[0]:.4f}, FPR {rates[1]:.4f}.")
error = np.sqrt(0.5 / games)
assert abs(rates[0] - tpr) < 5 * error + 0.002
assert tpr - fpr < claimed - 0.5
assert rates[0] - rates[1] < claimed - 0.5
