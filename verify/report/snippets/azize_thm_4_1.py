"""Azize and Basu, theorem 4.1: with noise N(0, C_gamma)/sqrt(n) the power tends to Phi(z_alpha + sqrt(m)).

Here m = lim (1/n) ||z* - mu||^2_{(C + C_gamma)^-1} = 0: coordinate j is a fair coin with noise of standard deviation 1/j (on
sums: 1/sqrt(n) at j = n), the target 1/2 at coordinate n and the mean elsewhere.
"""

import numpy as np
from scipy.special import ndtr

alpha = 0.01
for n in (1_000, 100_000, 10_000_000):
    noise = np.sqrt(n) / n
    # Sums of n coins are whole numbers; with the target they are half a number off. Say "member" when the released
    # sum is nearer to a half than to a whole number, that is when noise moves it by less than a quarter, and
    # the wrong way round only if it moves it by more.
    wrong = 2 * ndtr(-0.25 / noise)
    print(
        f"n = {n}: this test has FPR <= {wrong:.1e} and power >= {1 - wrong:.6f}; claimed: {alpha:g} at FPR {alpha:g}."
    )
    assert wrong < 1e-6 < alpha
    assert 1 - wrong > alpha + 0.9
