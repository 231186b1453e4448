"""Azize and Basu, section 3: the covariance attack is (I - theta0)' V^-1 (thetahat - theta0) - (1/2n) ||I - theta0||^2, I = V^-1 psi.

Here d = n logistic regressions y on x = +-1 through 0, of slope 0 where the target's y agrees with the sign of x, and of
slope -3 where it does not, half of each. A record "agrees" with probability p = 1/(1 + e^-theta): thetahat = logit(share).
"""

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

n, games, alpha = 400, 20_000, 0.1
theta, agrees = np.repeat([0.0, -3.0], n // 2), np.repeat([1.0, 0.0], n // 2)
p = expit(theta)
psi, v = agrees - p, p * (1 - p)  # psi = x (y - p(x)); the derivative of its mean is -v
claimed = ndtr(ndtri(alpha) + np.sqrt((psi**2 / v).sum() / n))

rng = np.random.default_rng(0)
found = {}
for world in (0, 1):
    ones = rng.binomial(n - world, p, (games, n)) + world * agrees
    estimate = logit(np.clip(ones, 0.5, n - 0.5) / n) - theta
    for name, weights in (("printed", (-psi / v - theta) / -v), ("corrected", psi)):
        found[name, world] = estimate @ weights
for name in ("printed", "corrected"):
    cut = np.quantile(found[name, 0], 1 - alpha)
    power = (found[name, 1] > cut).mean()
    print(f"The score {name}: power {power:.3f} (+- 0.01) at FPR {alpha:g}; claimed {claimed:.3f}.")
    assert (power < claimed - 0.1) == (name == "printed")
