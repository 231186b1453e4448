"""Kaissis et al., lemma 3: the Poisson-sub-sampled Gaussian mechanism has the monotone likelihood ratio
property: for shifts s < t the ratio of the densities rises with the output z.
Here sigma = 1, sampling rate p = 0.3 and the shifts s = 5 and t = Delta = 10.
"""

import numpy as np
from scipy.special import ndtr

p, s, t = 0.3, 5.0, 10.0


def density(z, shift):
    """Density of (1 - p) N(0, 1) + p N(shift, 1), times sqrt(2 pi)."""
    return (1.0 - p) * np.exp(-0.5 * z**2) + p * np.exp(-0.5 * (z - shift) ** 2)


for z in (0.0, 2.0, 5.0, 10.0):
    print(
        f"z = {z:4g}: the density at shift {t:g} is {density(z, t) / density(z, s):.3g} times that at shift {s:g}."
    )


def between(low, high, shift):
    """Probability of low < z < high."""
    return (1.0 - p) * (ndtr(high) - ndtr(low)) + p * (ndtr(high - shift) - ndtr(low - shift))


# The same without densities: a monotone ratio would be no smaller on the interval that lies higher.
lower, higher = (between(low, low + 1.0, t) / between(low, low + 1.0, s) for low in (-0.5, 4.5))
print(f"P(shift {t:g}) / P(shift {s:g}) is {lower:.4f} on -0.5 < z < 0.5, and {higher:.2g} on 4.5 < z < 5.5.")

assert density(5.0, t) / density(5.0, s) < 1e-3 < 0.9 < density(0.0, t) / density(0.0, s)
assert higher < 1e-2 < 0.9 < lower
