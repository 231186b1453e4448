"""Bu, Dong, Long and Su (2020), section 3, a limit used at finite T: T Gaussian steps on Poisson samples of rate
q have at most the epsilon of G_mu, mu = q sqrt(T (e^(1/sigma^2) - 1)).
Here sigma = 0.5, q = 0.001, T = 10,000 and delta = 1e-5.
"""

import numpy as np
from scipy.optimize import root_scalar
from scipy.special import log_ndtr, ndtr

sigma, q, steps, delta = 0.5, 0.001, 10_000, 1e-5

mu = q * np.sqrt(steps * np.expm1(1.0 / sigma**2))


def delta_of_gdp(epsilon):
    """Delta of mu-GDP at this epsilon."""
    return ndtr(mu / 2.0 - epsilon / mu) - np.exp(epsilon) * ndtr(-mu / 2.0 - epsilon / mu)


epsilon = root_scalar(lambda e: delta_of_gdp(e) - delta, bracket=(0.0, 8.0)).root

# The event "some step's output is above x". The record moves a step's output by 1 if it is sampled, with
# probability q.
x = np.linspace(-2.0, 6.0, 8001)
all_below = (1.0 - q) * ndtr(x / sigma) + q * ndtr((x - 1.0) / sigma)
with_record = 1.0 - all_below**steps
without = -np.expm1(steps * log_ndtr(x / sigma))
shown = (with_record - np.exp(epsilon) * without).max()  # any event is a lower bound of delta

print(f"mu = {mu:.4f}: epsilon is claimed to be at most {epsilon:.4f} at delta = {delta:g}.")
print(f"At this epsilon a single event shows delta >= {shown:.4g}, {shown / delta:.0f} times as much.")

assert shown > 10.0 * delta
