"""Izzo et al., corollary 10: theta + r U is eta-MIP with U = Y/||Y||_{sigma,M}, Y_i ~ GenNormal(0, sigma_i, M),
r ~ Laplace((6.16/eta)^(1+2/M)). Here M = 32, eta = 0.1, d = 1000; theta = (1, ..., 1) if x* is in and
-(1, ..., 1) if not, so that sigma_i = 1.
"""

import numpy as np

M, eta, d, draws = 32, 0.1, 1000, 2000
c = (6.16 / eta) ** (1.0 + 2.0 / M)

# GenNormal(0, 1, M) has the density exp(-|y|^M) up to a constant: |y|^M is a Gamma variable of shape 1/M.
rng = np.random.default_rng(0)
size = (draws, d)
Y = rng.gamma(1.0 / M, size=size) ** (1.0 / M) * rng.choice([-1.0, 1.0], size)
U = Y / (np.abs(Y) ** M).mean(axis=1, keepdims=True) ** (1.0 / M)

# The attack: "in" where the mean of the released coordinates, +-1 + r mean(U), is above 0. Given U it is
# right with probability P(r |mean(U)| < 1) + P(r |mean(U)| >= 1)/2 = 1 - exp(-1 / (c |mean(U)|))/2.
right = 1.0 - 0.5 * np.exp(-1.0 / (c * np.abs(U.mean(axis=1))))
shown, error = right.mean() - 0.5, right.std() / np.sqrt(draws)

print(f"Corollary 10: no attack has an accuracy above 1/2 + {eta:g} (noise of scale c = {c:.4g}).")
print(f"The sign of the mean of the output has 1/2 + {shown:.4f} (standard error {error:.4f}).")

assert shown - 5.0 * error > 2.0 * eta
