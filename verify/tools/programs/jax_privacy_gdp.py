"""jax_privacy 2.0.0: epsilon from a fitted curve of Gaussian DP, for scores that say nothing about 100 members and 100 others.

The largest |mu| of all thresholds is taken, also where both upper limits add up to more than 1 and mu is negative.
"""

import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor

rng = np.random.default_rng(0)
bounds = [
    CanaryScoreAuditor(rng.normal(size=100), rng.normal(size=100)).epsilon_from_gdp(
        significance=0.05, delta=1e-5
    )
    for _ in range(100)
]
above = sum(epsilon > 0.0 for epsilon in bounds)
print(
    f"Nothing leaks. Of 100 audits at 95%, {above} give epsilon above 0; the median is {np.median(bounds):.2f}."
)

assert above > 90
