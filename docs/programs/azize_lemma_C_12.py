"""Azize and Basu, lemma C.12: V_0[W] = rho t^2/n + o(1/n), t = (z* - mu)/sigma.

Here t = 0, rho = 1/2, and Student's t with 7 degrees of freedom, which has the (4 + delta)-th moment that is assumed. So n V_0[W]
should vanish; but W holds the fourth power of the mean of k = rho n records, and its variance their eighth, which is infinite.
"""

import numpy as np
from scipy.integrate import trapezoid
from scipy.stats import t as student

rho, df = 0.5, 7.0
sigma = np.sqrt(df / (df - 2))
for k in (10, 100, 1_000):
    n = k / rho

    def W(x, k=k):
        """As printed, of x = delta_out: delta_in = sqrt(k/(k - 1)) x at t = 0, and the skewness is 0."""
        difference = x**2 - x**2 * k / (k - 1)
        return rho / 2 * difference + rho / (2 * k) + rho * (1 - rho) / 8 * difference**2

    # E W by E x^4 = 3 + 6/((df - 4) k).
    mean = -rho / (2 * (k - 1)) + rho / (2 * k) + rho * (1 - rho) / 8 * (3 + 6 / (df - 4) / k) / (k - 1) ** 2
    # E W^2 is at least the part where a single record z is in (16 k, L), or its negative, while the others' sum is within 2 sqrt k
    # (probability 3/4 or more, by Chebyshev). There x >= z/(2 sqrt k) >= 8 sqrt k, beyond which W rises.
    least = []
    for exponent in (6, 9, 12):
        z = np.geomspace(16 * k, 10.0**exponent * k**8, 20_000)
        part = W(z / (2 * np.sqrt(k))) ** 2 * student.pdf(z * sigma, df) * sigma
        least.append(n * (0.75 * 2 * trapezoid(part, z) - mean**2))
    print(
        f"n = {n:g}: parts of n V_0[W] are {least[0]:.2g}, {least[1]:.2g}, {least[2]:.2g}, of ever larger records; the lemma says 0 in the limit."
    )
    # The density falls as z^-8 and W^2 rises as z^8: these bounds grow with L, without end.
    assert least[0] > 10
    assert least[1] > 900 * least[0]
    assert least[2] > 900 * least[1]
