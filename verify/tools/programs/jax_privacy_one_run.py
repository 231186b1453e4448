"""jax_privacy 2.0.0: a lower bound on epsilon from one run, corrected "across all possible thresholds" (Bonferroni).

The correction counts the vertices of the convex hull of the ROC curve, some 10 of 10,000 thresholds, and these are the best ones on
the same scores. Here scores say nothing, and each canary is in by a fair coin.
"""

import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor

rng, wrong, audits = np.random.default_rng(0), 0, 1000
for _ in range(audits):
    coins, scores = rng.random(10_000) < 0.5, rng.normal(size=10_000)
    wrong += (
        CanaryScoreAuditor(scores[coins], scores[~coins]).epsilon_one_run(significance=0.05, delta=1e-9) > 0.0
    )
print(f"Nothing leaks. Of {audits} audits at 95% confidence, {wrong} give epsilon above 0; 50 are allowed.")

assert wrong > 78  # a binomial number of 1,000 at 5% is above 78 with probability 5e-5
