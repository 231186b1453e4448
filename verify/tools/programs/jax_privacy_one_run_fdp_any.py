"""jax_privacy 2.0.0: "lower bound on epsilon" from one run by f-DP. It is epsilon of a Gaussian curve, whatever the mechanism is.

Randomised response tells each of 1,000 coins truly with probability e / (1 + e): epsilon is 1, for every delta >= 0.
"""

import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor, Explicit

rng, bounds = np.random.default_rng(0), []
for _ in range(30):
    coins = rng.random(1000) < 0.5
    guessed = coins == (rng.random(1000) < np.e / (1.0 + np.e))
    auditor = CanaryScoreAuditor(1.0 * guessed[coins], 1.0 * guessed[~coins])
    bounds.append(auditor.epsilon_one_run_fdp(0.05, 1e-5, threshold_strategy=Explicit(0.5)))
wrong = sum(epsilon > 1.0 for epsilon in bounds)
print(
    f"Epsilon is 1. Of 30 audits at 95% confidence, {wrong} give more; the median is {np.median(bounds):.2f}."
)

assert wrong > 15
