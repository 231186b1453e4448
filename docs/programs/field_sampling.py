"""Usual practice: a Gaussian mechanism that is (epsilon, delta)-DP for a record added or removed is
(log(1 + q (e^epsilon - 1)), q delta)-DP on a Poisson sample of rate q, for a record replaced as well.
Here sigma = epsilon = 1, q = 0.5, and a record of gradient 1 is replaced by a record of gradient -1.
"""

import numpy as np
from scipy.special import ndtr

sigma, epsilon, q = 1.0, 1.0, 0.5


def above(x, mean):
    """P(N(mean, sigma^2) > x)."""
    return ndtr((mean - x) / sigma)


# Without sampling: N(1, sigma^2) against N(0, sigma^2), beyond the x at which the ratio of the densities is
# e^epsilon.
end = epsilon * sigma**2 + 0.5
printed = q * (above(end, 1.0) - np.exp(epsilon) * above(end, 0.0))

# The event "output > x", where the record is sampled with probability q and adds 1, or -1 once it is replaced.
x = np.linspace(-4.0, 6.0, 2001)
before = (1.0 - q) * above(x, 0.0) + q * above(x, 1.0)
after = (1.0 - q) * above(x, 0.0) + q * above(x, -1.0)
shown = before - (1.0 + q * np.expm1(epsilon)) * after  # any event is a lower bound of delta
largest = shown.max()

print(f"The printed epsilon is {np.log1p(q * np.expm1(epsilon)):.4f}, with delta = {printed:.5f}.")
print(f"At this epsilon the event output > {x[shown.argmax()]:.2f} shows delta >= {largest:.4f}.")

assert largest > 2.0 * printed
