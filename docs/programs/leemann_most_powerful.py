"""Leemann et al., section 4.1: "a straightforward construction of the MPT to MI problems does not work", so that tests are
composed over the samples. The most powerful test of the pair (sample, output) has exactly the composition's trade-off.

Here records have three values, and the mechanism gives one of four answers, by a random law for each pair of records.
"""

import numpy as np
from scipy.optimize import linprog

rng = np.random.default_rng(0)
prior = np.array([0.5, 0.3, 0.2])
laws = rng.dirichlet(np.ones(4), (3, 3))  # of the output for each pair of records
inside = np.einsum("abo,b->ao", laws, prior)  # given the target's value, the other record sampled
out = prior @ inside

worst = 0.0
for alpha in (0.05, 0.2, 0.5, 0.8):
    # The composition: the least FNR over all ways to split the FPR over the samples, each with its own test.
    split = linprog(
        -(prior[:, None] * inside).ravel(), A_eq=[np.outer(prior, out).ravel()], b_eq=[alpha], bounds=(0, 1)
    )
    composed = 1.0 + split.fun
    # Neyman and Pearson: take pairs by their likelihood ratio, the last of them with a coin.
    null, member = np.outer(prior, out).ravel(), (prior[:, None] * inside).ravel()
    order = np.argsort(-member / null)
    fpr, tpr = np.r_[0.0, null[order].cumsum()], np.r_[0.0, member[order].cumsum()]
    straightforward = 1.0 - np.interp(alpha, fpr, tpr)
    print(
        f"FPR {alpha}: FNR {composed:.12f} by composition, {straightforward:.12f} by the likelihood ratio of the pair."
    )
    worst = max(worst, abs(composed - straightforward))
assert worst < 1e-9
