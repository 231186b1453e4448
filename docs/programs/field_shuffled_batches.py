"""Usual practice: an epoch of shuffled batches is accounted for as Poisson samples (Chua et al. 2024).
Here T = 1000, noise of deviation 0.5 on sums of gradients in [-1, 1], delta = 1e-5; the record's gradient is 1,
or zeroed out in the other world, and all others are -1.
"""

import math

import numpy as np
from scipy.special import comb, log_ndtr

sigma, steps, delta = 0.5, 1000, 1e-5

# Poisson samples of rate q = 1/T have at most this epsilon (Renyi divergence of order a, Mironov et al.
# 2019); it is 3.24 in truth.
q, poisson = 1.0 / steps, math.inf
for a in (2, 3, 4, 5):
    k = np.arange(a + 1)
    moment = comb(a, k) @ ((1.0 - q) ** (a - k) * q**k * np.exp(k * (k - 1) / (2.0 * sigma**2)))
    poisson = min(poisson, (steps * math.log(moment) - math.log(delta)) / (a - 1))

# Shuffled: the record is in a single batch, whose sum it lifts by 2 over that of the others; by 1 where it
# is zeroed out. The event "the largest of the T noisy sums is above c" for any c shows an epsilon.
c = np.linspace(0.0, 8.0, 4001)
others = (steps - 1) * log_ndtr(c / sigma)
seen = -np.expm1(others + log_ndtr((c - 2.0) / sigma))
unseen = -np.expm1(others + log_ndtr((c - 1.0) / sigma))
shown = np.where(seen > 2.0 * delta, np.log(np.maximum(seen - delta, delta) / unseen), 0.0)
shuffled = shown.max()

print(
    f"Poisson accounting at sigma = {sigma:g}, T = {steps}, delta = {delta:g}: epsilon is at most {poisson:.2f}."
)
print(
    f"With shuffled batches the event 'some sum > {c[shown.argmax()]:.2f}' shows epsilon >= {shuffled:.2f}."
)

assert shuffled > poisson + 3.0
