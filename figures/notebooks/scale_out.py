# %% [markdown]
# # Many games, in parts
#
# Every game draws from a stream of its own, and results are whole-number counts. So a run may be cut into parts that are played
# anywhere, in any order, and added up: the sum is the run, bit for bit.

# %%
from pathlib import Path
from tempfile import mkdtemp

import numpy as np

import mipsim as mi

data = mi.Bernoulli(np.full(50, 0.5))
game = mi.FixedTarget(mi.EmpiricalMean(), data, n=50, target=np.ones(50))
attack = mi.CovarianceScore(data, n=50, target=game.target)

# %%
parts = [mi.play(game, attack, games=20_000, seed=0, shard=(i, 4)) for i in (2, 0, 3, 1)]
total = parts[0] + parts[1] + parts[2] + parts[3]
whole = mi.play(game, attack, games=20_000, seed=0)
print(total.games, np.array_equal(total.out, whole.out), np.array_equal(total.inside, whole.inside))

# %% [markdown]
# A run with a checkpoint resumes after any interruption and ends with the same counts.

# %%
place = Path(mkdtemp()) / "run.npz"
mi.play(game, attack, games=10_000, seed=0, checkpoint=place)
more = mi.play(game, attack, games=20_000, seed=0, checkpoint=place)
print(more.games, np.array_equal(more.out, whole.out))

# %% [markdown]
# To try next: the same from the command line, `python -m sims run azize_fig2_easy --games 1e7 --shard 0/4`, and `python -m sims merge`.
