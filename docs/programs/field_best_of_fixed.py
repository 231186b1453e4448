"""Papernot and Steinke (2022), theorem 6: the best of a Poisson number of runs, of mean m, has a Renyi divergence of at most
epsilon + m delta + log(m) / (order - 1). Used for a fixed number of m runs it fails.

Here a run is a coin of e : 1, 10 runs, and order 10.
"""

import numpy as np

runs, order = 10, 10.0
worse = 1 / (1 + np.exp(-1.0))  # probability of the worse outcome, and in the neighbour the rest
first, second = np.array([worse, 1 - worse]), np.array([1 - worse, worse])


def divergence(p, q):
    """The Renyi divergence at that order."""
    return float(np.log(np.sum(p**order * q ** (1 - order))) / (order - 1))


k = 1 + 1 / (order - 1)
epsilon = max(divergence(first, second), divergence(second, first))
delta = max(np.maximum(a - k * b, 0).sum() for a, b in ((first, second), (second, first)))
bound = epsilon + runs * delta + np.log(runs) / (order - 1)


def fixed(law):
    """The law of the best of a fixed number of runs."""
    return np.diff([0.0, law[0] ** runs, 1.0])


def poisson(law):
    """The same of a Poisson number, which may be 0."""
    none, worst = np.exp(-runs), np.exp(runs * (law[0] - 1))
    return np.array([none, worst - none, 1 - worst])


shown = {}
for name, best in (("fixed", fixed), ("Poisson", poisson)):
    p, q = best(first), best(second)
    shown[name] = max(divergence(p, q), divergence(q, p))
    print(f"{name}: the best has a divergence of {shown[name]:.3f}, where {bound:.3f} is allowed.")
assert shown["fixed"] > bound + 4
assert shown["Poisson"] < bound
