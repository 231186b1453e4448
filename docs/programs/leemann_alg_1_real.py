"""Leemann et al., algorithm 1 (GLiR) on gradients of a network: F_{chi2_d(nK)}(S), S = (n-1) (m - theta)' Sigma^-1 (m - theta), is the
p-value under H0.
Here the gradients are those of the last layer (d = 51) of 50 tanh units, with half the squared error as the loss, at made records
of 10 numbers. n = 64; mean and C are of 150 reference gradients, C shrunk as Ledoit and Wolf do. The report has the same of real
records, which NumPy and SciPy do not ship.
"""

import numpy as np
from scipy.stats import ncx2

rng = np.random.default_rng(0)
n, references, games, a = 64, 150, 4_000, 0.1
hidden, last = rng.normal(size=(10, 50)) / 10**0.5, rng.normal(size=50) / 50**0.5


def gradients(count):
    """Of that many records."""
    x = rng.normal(size=(count, 10))
    seen = np.tanh(x @ hidden)
    off = seen @ last - (x[:, 0] + rng.normal(size=count))
    return off[:, None] * np.column_stack([np.ones(count), seen])


def shrunk(rows):
    """Ledoit and Wolf (2004)."""
    centred = rows - rows.mean(axis=0)
    plain = centred.T @ centred / len(rows)
    d = plain.shape[0]
    even = np.trace(plain) / d
    spread = ((plain - even * np.eye(d)) ** 2).sum()
    noise = ((centred**2).sum(axis=1) ** 2).mean() - (plain**2).sum()
    weight = min(1.0, noise / len(rows) / spread)
    return (1 - weight) * plain + weight * even * np.eye(d)


known, pool = gradients(references), gradients(20_000)
inverse = np.linalg.inv(shrunk(known))
target = pool[0]
K = (target - known.mean(axis=0)) @ inverse @ (target - known.mean(axis=0))
batches = np.array([pool[rng.integers(len(pool), size=n)].mean(axis=0) for _ in range(games)])
S = (n - 1) * np.einsum("gi,ij,gj->g", batches - target, inverse, batches - target)
share = np.mean(ncx2.cdf(S, len(target), n * K) <= a)
print(
    f"p is at most {a:g} in {share:.3f} of {games:,} batches without the target, K = {K:.3g}; of a p-value it is {a:g}."
)

assert abs(share - a) > 10 * (a * (1 - a) / games) ** 0.5
