"""Azize and Basu, theorem 4.3 as the appendix restates it: |m_scal| / (2 sqrt(m)) with m = m*, that of the true target.

Here the attack is aimed at z_targ = mu + (1, 1, ...) and the true target is mu + (1 in half the coordinates, 0 in
the others), d = n Gaussian coordinates: m_targ = 1, m* = 1/2, m_scal = 1/2.
"""

import numpy as np
from scipy.special import ndtr

m_targ, m_star, m_scal = 1.0, 0.5, 0.5


def advantage(m):
    """The formula at this m."""
    return ndtr(m_scal / (2 * np.sqrt(m))) - ndtr(-m_scal / (2 * np.sqrt(m)))


# The score is N(-m_targ/2, m_targ) without the target and N(m_scal - m_targ/2, m_targ) with it, in the limit:
# two normal laws of the same variance, whose largest TPR - FPR is that of the main text.
x = np.linspace(-6, 6, 100_001)
best = np.max(ndtr((x + m_targ / 2) / np.sqrt(m_targ)) - ndtr((x - m_scal + m_targ / 2) / np.sqrt(m_targ)))
print(
    f"Appendix {advantage(m_star):.4f}, main text {advantage(m_targ):.4f}; no threshold has more than {best:.4f}."
)
assert abs(best - advantage(m_targ)) < 1e-6
assert advantage(m_star) > best + 0.05
