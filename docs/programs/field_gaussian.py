"""Dwork and Roth (2014), theorem A.1, used for every epsilon: sigma = sqrt(2 ln(1.25/delta)) Delta/epsilon
gives (epsilon, delta)-DP. Here Delta = 1, delta = 1e-5 and epsilon = 8.4, where it still does, 8.5 and 12.
"""

import numpy as np
from scipy.integrate import quad


def true_delta(epsilon, sigma):
    """Integral of what the density of N(1, sigma^2) has above e^epsilon times that of N(0, sigma^2)."""

    def excess(x):
        record, null = np.exp(-0.5 * ((x - 1.0) / sigma) ** 2), np.exp(epsilon - 0.5 * (x / sigma) ** 2)
        return (record - null) / (sigma * np.sqrt(2.0 * np.pi))

    start = epsilon * sigma**2 + 0.5  # from here on the ratio of the densities is above e^epsilon
    return quad(excess, start, start + 40.0 * sigma, epsabs=0.0)[0]


delta = 1e-5
for epsilon in (8.4, 8.5, 12.0):
    sigma = np.sqrt(2.0 * np.log(1.25 / delta)) / epsilon
    shown = true_delta(epsilon, sigma)
    print(
        f"epsilon = {epsilon:g}, sigma = {sigma:.4f}: delta is claimed to be {delta:g}, and it is {shown:.4g}."
    )
    assert (shown > delta) == (epsilon > 8.4)
