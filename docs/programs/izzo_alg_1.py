"""Izzo et al., algorithm 1: sigma from B random halves of D_train (as listed), noise X = r U of scale sigma
(6.16/eta)^(1+2/M); its output is claimed to be eta-MIP as B grows.
Here n = 4 records, A(D) = 1 if x* is in D, else 0, M = 2 and eta = 0.001; all halves stand for B random ones.
"""

from itertools import combinations

import numpy as np

records, target, M, eta = range(4), 3, 2, 0.001
scale = (6.16 / eta) ** (1.0 + 2.0 / M)


def A(rows):
    """Whether the target is among the rows."""
    return float(target in rows)


rng, right, games = np.random.default_rng(0), 0, 0
for D_train in combinations(records, 2):
    outputs = np.array([A(half) for half in combinations(D_train, 1)])
    sigma = (np.abs(outputs - outputs.mean()) ** M).mean() ** (1.0 / M)
    print(f"D_train = {D_train}: sigma = {sigma:g}")
    # In dimension 1 U is +-sigma. Without the target sigma is 0: no noise, and the output is 0. With it the
    # output is 1 plus Laplace noise, which is 0 with probability 0. The attacker says "in" where the output
    # is not 0.
    released = A(D_train) + sigma * rng.laplace(0.0, scale, 1000)
    right += np.sum((released != 0.0) == (target in D_train))
    games += 1000

print(
    f"Promised: no attack has an accuracy above 1/2 + {eta:g}. This attack was right in {right} of {games} games."
)

assert right == games
