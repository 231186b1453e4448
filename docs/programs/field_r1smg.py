"""Ji and Li (2024), R1SMG: noise along a random line, with an amplitude of variance 2 Delta^2 / (epsilon psi),
psi = (delta Gamma((M-1)/2) / (sqrt(pi) Gamma(M/2)))^(2/(M-2)), is stated to give (epsilon, delta)-DP.

Here M = 100, epsilon = 1, delta = 1e-5 and Delta = 1. The test asks on which side of the middle of the two answers the output lies.
"""

import numpy as np
from scipy.integrate import quad
from scipy.special import gammaln, ndtr
from scipy.stats import beta

M, epsilon, delta = 100, 1.0, 1e-5
psi = np.exp(2 / (M - 2) * (np.log(delta) + gammaln((M - 1) / 2) - gammaln(M / 2) - 0.5 * np.log(np.pi)))
sigma = np.sqrt(2 / (epsilon * psi))

# The noise moves the answer along the line of both answers by r h, h^2 ~ Beta(1/2, (M-1)/2); p = P(r h > 1/2).
law = beta(0.5, (M - 1) / 2)
p = quad(lambda u: ndtr(-0.5 / (sigma * np.sqrt(law.ppf(u)))), 0.0, 1.0, limit=500)[0]
print(
    f"sigma = {sigma:.3f}: FPR {p:.4f}, TPR {1 - p:.4f}; the guarantee allows a TPR of {np.exp(epsilon) * p + delta:.4f}."
)

rng, games = np.random.default_rng(0), 50_000
noise = rng.standard_normal((games, M))
noise *= sigma * rng.standard_normal((games, 1)) / np.linalg.norm(noise, axis=1, keepdims=True)
played = np.mean(noise[:, 0] > 0.5), np.mean(noise[:, 0] + 1.0 > 0.5)
print(f"Played: FPR {played[0]:.4f}, TPR {played[1]:.4f}.")
assert 1 - p > 40 * (np.exp(epsilon) * p + delta)
assert abs(played[0] - p) < 0.003
