"""Leemann et al., remark 5.1: independent components of Sigma^-1/2 theta' "follow" K = |Sigma^-1/2 theta'|^2 ~ chi2_d.
Here d = 5 independent components, each uniform on [-sqrt 3, sqrt 3], which has mean 0 and variance 1.
"""

import numpy as np
from scipy.integrate import quad
from scipy.stats import chi2

d, edge = 5, np.sqrt(3.0)


def moment(power):
    """E t^power for t uniform on [-edge, edge]."""
    return quad(lambda t: t**power / (2.0 * edge), -edge, edge)[0]


printed = 2.0 * d  # the variance of chi2_d
mean = d * moment(2)
variance = d * (moment(4) - moment(2) ** 2)  # of the sum of d independent squares

print(f"Mean of K: the remark says {d}, and it is {mean:.6g}.")
print(f"Variance of K: the remark says {printed:g}, and it is {variance:.6g}.")
print(f"sd(K) / sd(chi2_d) is {np.sqrt(variance / printed):.4f}, where the remark says 1.")
print(f"K is never above 3d = {3 * d}; chi2_{d} is above it with probability {chi2.sf(3 * d, d):.4f}.")

assert abs(mean - d) < 1e-9  # the components are scaled as the remark asks
assert variance < 0.5 * printed
