"""Azize and Basu, section 3: the covariance attack is (I - theta0)' V^-1 (thetahat - theta0) - (1/2n) ||I - theta0||^2, I = V^-1 psi.

Here d = n logistic regressions y on x = +-1 through 0, of slope 0 where the target's y agrees with the sign of x, and of slope
-3 where it does not, half of each. A record "agrees" with probability p = 1/(1 + e^-theta): thetahat = logit(share that agree).
"""

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri
from scipy.stats import binom

alpha, theta, agrees = 0.1, np.array([0.0, -3.0]), np.array([1, 0])
p = expit(theta)
psi, v = agrees - p, -p * (1 - p)  # psi = x (y - p(x)); V is the derivative of its mean
claimed = ndtr(ndtri(alpha) + np.sqrt((psi**2 / -v).mean()))
scores = {"printed": (psi / v - theta) / v, "corrected": psi}  # Sigma^-1 (I - E I) of I = -psi / v
for n in (10_000, 100_000, 1_000_000):
    ones = np.arange(n + 1)
    estimate = logit(np.clip(ones, 0.5, n - 0.5) / n)
    ends = {}
    for name, weights in scores.items():
        # The score is a sum over regressions: normal, but for an error that Berry and Esseen bound.
        laws = []
        for inside in (0, 1):
            moments = np.zeros(3)
            for j in (0, 1):
                mass = binom.pmf(ones - inside * agrees[j], n - inside, p[j])
                part = weights[j] * (estimate - theta[j])
                mean = mass @ part
                moments += (
                    n / 2 * np.array([mean, mass @ (part - mean) ** 2, mass @ np.abs(part - mean) ** 3])
                )
            laws.append((moments[0], np.sqrt(moments[1]), 0.56 * moments[2] / moments[1] ** 1.5))
        (m0, s0, e0), (m1, s1, e1) = laws
        ends[name] = [
            ndtr((m1 - m0 - s0 * ndtri(1 - alpha + sign * e0)) / s1) - sign * e1 for sign in (1, -1)
        ]  # the least and the most that the power may be
    low, high = ends["printed"]
    print(
        f"n = {n}: power in [{low:.3f}, {high:.3f}] at FPR {alpha:g}; claimed {claimed:.3f}. "
        f"Weights psi: [{ends['corrected'][0]:.3f}, {ends['corrected'][1]:.3f}]."
    )
    assert high < claimed - 0.08
assert high < ends["corrected"][0] - 0.1
