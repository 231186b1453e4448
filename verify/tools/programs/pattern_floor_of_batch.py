"""DP-SGD whose noisy sum is divided by floor(q n): n = 1000 or 999 records, q = 0.01, noise multiplier 1, 1,000 coordinates, a single step.

All gradients are 0. The output is noise of deviation 1/10 with the record and 1/9 without it: its squared norm tells which.
"""

import math

from scipy.stats import chi2

d, q, delta = 1000, 0.01, 1e-5
threshold = chi2.isf(1e-5, d) / math.floor(q * 1000) ** 2  # false positive rate 1e-5 for 1000 records
tpr = chi2.sf(threshold * math.floor(q * 999) ** 2, d)
shown = math.log((tpr - delta) / 1e-5)

# The accountant's epsilon for a single Poisson sample is at most that of the Gaussian mechanism by amplification:
# log(1 + q (e^4.8 - 1)), as noise 1 has delta below 1e-3 = delta / q at epsilon 4.8.
accounted = math.log1p(q * math.expm1(4.8))
print(
    f"TPR is {tpr:.3f} at FPR 1e-5: epsilon is at least {shown:.1f}, where {accounted:.2f} is accounted for."
)

assert shown > accounted + 5.0
