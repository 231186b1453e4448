"""An accountant by Renyi divergences (dp_accounting, main of 6 August 2026) adds the exponential mechanism once, however often it runs.

For 1,000 runs of epsilon = 0.1 it says 0.1035 at delta = 1e-5. With two candidates whose scores move by 1 in opposite ways, a
run is a coin of e^0.05 : 1 in either world.
"""

import numpy as np
from scipy.stats import binom

epsilon, runs, delta, claimed = 0.1, 1000, 1e-5, 0.1035
orders = np.concatenate([1 + np.arange(1, 100) / 10, np.arange(11, 64), [128, 256, 512, 1024]])
x = epsilon / np.expm1(epsilon)
once = np.minimum(x - 1 - np.log(x) - epsilon**2 / 8 + epsilon**2 / 8 * orders, epsilon)
converted = once + np.log1p(-1 / orders) - (np.log(delta) + np.log(orders)) / (orders - 1)
assert abs(converted.min() - claimed) < 1e-4

heads, chance = np.arange(runs + 1), 1 / (1 + np.exp(-epsilon / 2))
inside, out = binom.pmf(heads, runs, chance), binom.pmf(heads, runs, 1 - chance)


def delta_at(e):
    """Delta at an epsilon, over the number of heads."""
    return float(np.maximum(inside - np.exp(e) * out, 0).sum())


print(
    f"delta at epsilon {claimed}: {delta_at(claimed):.4f}; at 7.49: {delta_at(7.49):.3g}; promised: {delta:g} at {claimed}."
)
assert delta_at(claimed) > 0.5
assert delta_at(7.49) > delta
