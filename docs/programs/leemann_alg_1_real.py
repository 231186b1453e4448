"""Leemann et al., algorithm 1 (GLiR) on gradients of a network: F_{chi2_d(nK)}(S), S = (n-1) (m - theta)' Sigma^-1 (m - theta), is the
p-value under H0.
Here the gradients are those of the last layer (d = 51) of 50 tanh units, with half the squared error as the loss, at 20,000 made records
of 10 numbers, from which batches of n = 300 are sampled; mean and Sigma are theirs. The report has the same of real records, which
NumPy and SciPy do not ship.
"""

import numpy as np
from scipy.stats import ncx2

rng = np.random.default_rng(0)
n, records, games, a = 300, 20_000, 20_000, 0.1
hidden, last = rng.normal(size=(10, 50)) / 10**0.5, rng.normal(size=50) / 50**0.5

x = rng.normal(size=(records, 10))
units = np.tanh(x @ hidden)
off = units @ last - (x[:, 0] + rng.normal(size=records))
gradients = off[:, None] * np.column_stack([np.ones(records), units])

centred = gradients - gradients.mean(axis=0)
white = centred @ np.linalg.inv(np.linalg.cholesky(np.cov(centred.T, bias=True))).T  # of covariance I
squares = np.sum(white**2, axis=1)
target = white[np.argsort(squares)[records // 2]]  # a record of the middling K
K, d = target @ target, target.size
means = np.array([white[rng.integers(records, size=n)].mean(axis=0) for _ in range(games)])
distance = np.sum((means - target) ** 2, axis=1)  # under H0
shares = {rows: np.mean(ncx2.cdf(rows * distance, d, n * K) <= a) for rows in (n - 1, n)}
for rows, share in shares.items():
    print(
        f"With the factor {rows} p is at most {a:g} in {share:.4f} of {games:,} batches, K = {K:.3g}; of a p-value it is {a:g}."
    )

error = (a * (1 - a) / games) ** 0.5
assert shares[n - 1] - a > 5 * error
assert abs(shares[n] - a) < (shares[n - 1] - a) / 3
