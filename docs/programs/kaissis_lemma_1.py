"""Kaissis et al., lemma 1: no uniformly most powerful test exists for the possible values of q(D').
Here the attacker chose a count for q, so that the record shifts the output up, by some 0 < s <= Delta = 1;
noise N(0, 1), level 0.05.
"""

import numpy as np
from scipy.special import ndtr, ndtri

alpha = 0.05
cut = -ndtri(alpha)  # the test z > cut, which does not know the shift

# The largest power of any test of this level against a known shift, by Neyman and Pearson: outputs in cells,
# those of the largest likelihood ratio first, until their probability under the null is alpha.
edges = np.concatenate([[-np.inf], cut + np.arange(-100_000, 80_001) * 1e-4, [np.inf]])
null = np.diff(ndtr(edges))
gaps = []
for s in (1.0, 0.5, 0.25, 0.05):
    shifted = np.diff(ndtr(edges - s))
    order = np.argsort(-shifted / np.maximum(null, 1e-300))
    used = np.cumsum(null[order])
    taken = np.clip((alpha - (used - null[order])) / np.maximum(null[order], 1e-300), 0.0, 1.0)
    best = taken @ shifted[order]
    power = ndtr(s - cut)
    print(
        f"Shift {s:g}: the best test of level {alpha:g} has power {best:.6f}; z > {cut:.4f} has {power:.6f}."
    )
    gaps.append(best - power)

print("A single test is the best against all these shifts, where lemma 1 says that none is.")
assert max(np.abs(gaps)) < 1e-7
