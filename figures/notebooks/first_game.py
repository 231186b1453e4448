# %% [markdown]
# # The first game, in five minutes
#
# An attacker sees the mean of 100 records and asks whether one of them is a certain target. We play that game in both worlds, draw
# the attacker's trade-off curve, and hold it against the formula that a theorem gives.

# %%
import numpy as np

import mipsim as mi

data = mi.Bernoulli(np.random.default_rng(0).uniform(0.25, 0.75, 200))
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
attack = mi.CovarianceScore(data, n=100, target=game.target)

# %%
curve = mi.play(game, attack, games=100_000, seed=0).tradeoff(confidence=0.999)
curve

# %% [markdown]
# The band holds at all thresholds at once, with the stated confidence. The theorem says that the curve is about that of a shift by
# the root of the leakage score. The verdict is INCONCLUSIVE where the games are too few to tell; its last line says how many would be enough.

# %%
claim = mi.GaussianTradeOff(mi.theory.azize.leakage_score(data, game.target, n=100) ** 0.5)
print(curve.compare(claim))

# %% [markdown]
# This game has an exact law as well: no games, and proven bounds at every rate.

# %%
exact = game.exact(attack)
low, high = exact.tpr_bounds([1e-6, 0.01])
print(high, high - low)
mi.plot({"games": curve, "exact law": exact, "claim": claim}, log=True)

# %% [markdown]
# To try next: the hardest target, `data.hardest_target()`; another attack, `mi.ScalarProduct(data.mean)`; a noisy mean,
# `mi.GaussianNoise(mi.EmpiricalMean(), 0.5)`.
