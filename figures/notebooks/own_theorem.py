# %% [markdown]
# # Your own theorem, and the hunt for where it breaks
#
# A statement says its parameters and what each may be, what is claimed at a point, and what is true there. This one is a well-known
# approximation, stated as if it were a bound: T Gaussian steps on samples of rate q leak no more than mu = q sqrt(T) / sigma.

# %%
import mipsim as mi
from mipsim import referee as rf

statement = rf.Statement(
    name="sampled-steps",
    says=r"$T$ Gaussian steps, each on a Poisson sample of rate $q$, are $(q \sqrt{T} / \sigma)$-GDP.",
    source="this notebook",
    kind=rf.Bound(),
    domain={
        "q": rf.Real(0.01, 1.0, log=True),
        "T": rf.Whole(1, 20, log=True),
        "sigma": rf.Real(0.5, 10.0, log=True),
    },
    claimed=lambda q, T, sigma: mi.GaussianTradeOff(q * T**0.5 / sigma),
    truth=lambda q, T, sigma: mi.dpsgd(sigma, q, T),
    formula=r"\mu = \frac{q \sqrt{T}}{\sigma}",
)

# %% [markdown]
# Judged at one point, by exact law:

# %%
rf.judge(statement, at=[{"q": 1.0, "T": 5, "sigma": 1.0}])

# %% [markdown]
# Without sampling (q = 1) it holds. The hunt looks for the point where it breaks most, and shrinks it to round numbers:

# %%
found = rf.hunt(statement, budget="40 probes", seed=0)
found

# %%
print(found.verdict, found.point)
print(found.replay.shell)

# %% [markdown]
# To try next: keep sigma above 3 and see how small the gap becomes; write the statement to a file and give it to `mipsim hunt`.
