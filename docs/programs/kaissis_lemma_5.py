"""Kaissis et al., lemma 5: the generalised likelihood ratio (GLR) test has the power of the one-sided tests
r and r' together. Here Laplace noise of scale 1, Delta = shift = 1, level 0.2, and no coin: a tie is rejected
whole or accepted whole.
"""

import numpy as np
from scipy.stats import laplace

delta, shift, alpha = 1.0, 1.0, 0.2

# The GLR statistic at an output z: log f(z - nu) - log f(z), nu the best of [-delta, delta].
z = np.linspace(-20.0, 20.0, 40_001)
statistic = laplace.logpdf(z - np.clip(z, -delta, delta)) - laplace.logpdf(z)
largest = statistic.max()
first = np.abs(z[statistic > largest - 1e-9]).min()
print(f"The GLR statistic is at most {largest:g}, which it is for all |z| >= {first:g}: they tie.")
tie = 2.0 * laplace.sf(delta)
print(f"Without the record that has probability {tie:.4f}.")
glr = 0.0  # every cut below the largest value has an FPR of at least `tie`; above it the test never rejects
print(f"So the GLR test of level {alpha:g} < {tie:.4f} rejects nothing: its power is {glr:g}.")

cut = laplace.isf(alpha / 2.0)  # r and r', of level alpha/2 each
pair = laplace.sf(cut - shift) + laplace.cdf(-cut - shift)
print(f"r and r' together (|z| > {cut:.4f}) have level {alpha:g} and power {pair:.4f}.")

assert tie > alpha + 0.1
assert np.all(statistic[np.abs(z) >= delta + 1e-9] > largest - 1e-9)
assert pair > glr + 0.3
