"""Kaissis et al., figure 2: "the loss of power is amplified through subsampling", alpha = 1e-3 and a sampling rate of 0.3.

Here Delta/sigma = 4. Lemma 9: at the rate p a power P becomes p P + (1 - p) alpha, in both threat models.
"""

from scipy.stats import norm

alpha, p, ratio = 1e-3, 0.3, 4.0

# The DPTM attacker tests a single side; without the record both sides are tested, each at alpha / 2.
known = norm.sf(norm.isf(alpha) - ratio)
unknown = norm.sf(norm.isf(alpha / 2) - ratio) + norm.sf(norm.isf(alpha / 2) + ratio)
loss = known - unknown
sampled = (p * known + (1 - p) * alpha) - (p * unknown + (1 - p) * alpha)

print(f"Without sub-sampling the powers are {known:.4f} and {unknown:.4f}: a loss of {loss:.4f}.")
print(f"With it, in both threat models, the loss is {sampled:.4f}: less, by the factor p.")

assert sampled < 0.31 * loss
