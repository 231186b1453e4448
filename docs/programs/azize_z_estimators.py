"""Azize and Basu, section 3: the covariance attack is (I - theta0)' V^-1 (thetahat - theta0) - (1/2n) ||I - theta0||^2, I = V^-1 psi.

Here the mean, psi(x) = x - theta, of d = n coordinates N(3, 1); the target is 4 in half of them and 2 in the others, so
that m = 1 and the best attack on a Gaussian mean has the power Phi(z_alpha + 1) in the limit.
"""

import numpy as np
from scipy.special import ndtr, ndtri

alpha, theta0 = 0.1, 3.0
targets = np.array([4.0, 2.0])
psi = targets - theta0
for v in (-1.0, 1.0):  # the derivative of E psi, and its negative, as some texts have it
    weights = (psi / v - theta0) / v
    for n in (100, 10_000, 1_000_000):
        share = n / 2
        # The score is normal: of variance sum w^2 / n out, (n - 1)/n of that in, and its mean rises by sum w psi / n.
        sd = np.sqrt(share * (weights**2).sum() / n)
        rise = share * (weights * psi).sum() / n
        power = ndtr((rise / sd + ndtri(alpha)) / np.sqrt((n - 1) / n))
        best = ndtr((1.0 + ndtri(alpha)) / np.sqrt((n - 1) / n))  # of weights psi
        print(
            f"V = {v:g}, n = {n}: power {power:.4f} at FPR {alpha:g}; claimed {ndtr(ndtri(alpha) + 1):.4f}, weights psi {best:.4f}."
        )
        assert power < best - 0.2
