"""Azize and Basu, algorithm 3: the canary with the largest Mahalanobis score is the easiest to attack.

Here gradients of a single coordinate, in a batch of b: 0.01/b with probability 0.1/b, else 1 or -1 by the toss of a coin. The candidates
are 1 and 0.01/b; mu0 and C0, not centred, as printed, are those of infinitely many references.
"""

import numpy as np

for b in (10, 1_000, 100_000):
    tiny, rare = 0.01 / b, 0.1 / b
    common = (1 - rare) / 2
    mu0, C0 = rare * tiny, 1 - rare + rare * tiny**2
    scores = [(g - mu0) ** 2 / C0 for g in (1.0, tiny)]
    # A batch's sum is a whole number, and 0.01/b for each tiny gradient: it tells how many of each value there are.
    # Against the tiny canary say "member" if there is a tiny gradient: always so with it, and without it
    alpha = -np.expm1(b * np.log1p(-rare))
    # Against the canary 1 the likelihood ratio of the batch is k/(b common), k the number of 1s, of variance
    variance = (1 - common) / (b * common)
    # and mean 1, so that no test of level alpha has more power than this (Cauchy and Schwarz).
    most = alpha + np.sqrt(alpha * (1 - alpha) * variance)
    print(
        f"Batch of {b}: scores {scores[0]:.3g} (canary 1) and {scores[1]:.3g}: the first is picked. At FPR {alpha:.4f} the "
        f"first is detected with power {most:.4f} at most, the second with power 1."
    )
    assert scores[0] > 1e5 * scores[1]
    assert most < 0.25
