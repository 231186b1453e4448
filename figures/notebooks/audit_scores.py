# %% [markdown]
# # Auditing scores that you have
#
# Scores of any attack, from any tool, are held against a promised guarantee. They refute a promise, or do not; they never confirm one.
# How they came about must be said, since the numbers do not tell: here each score is of a training run of its own.

# %%
import numpy as np

import mipsim as mi

rng = np.random.default_rng(0)
member = rng.random(20_000) < 0.5
scores = rng.normal(size=20_000) + 1.0 * member

# %%
mi.audit(scores, member, design="independent", runs=20_000, confidence=0.95, claim="mu=0.8")

# %% [markdown]
# One run with many canaries is another design, with bounds of its own; a promise of epsilon and delta is given in words too.

# %%
print(mi.audit(scores, member, design="one-run", confidence=0.95, claim="epsilon=0.5,delta=1e-5"))

# %% [markdown]
# To try next: fewer scores, and see the bounds fall; scores of a file, `mipsim audit SCORES.csv --design independent --runs 20000`.
