"""Random allocation (a record in a single random step of t) is claimed to be at least as private as Poisson samples of rate 1/t.

It fails where delta is large. Here t = 2 and the noise has deviation 0.7. delta at epsilon = 0.1 and 3 by quadrature; of the
other direction nothing is needed, as delta is the larger of both.
"""

import numpy as np

sigma = 0.7
x = np.linspace(-8 * sigma, 1 + 8 * sigma, 4001)
width = x[1] - x[0]
null, record = (np.exp(-0.5 * ((x - at) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi)) for at in (0.0, 1.0))
half = 0.5 * (null + record)
without = np.outer(null, null)
allocated = 0.5 * (np.outer(record, null) + np.outer(null, record))
sampled = np.outer(half, half)
assert abs(without.sum() * width**2 - 1) < 1e-6

for epsilon in (0.1, 3.0):
    k = np.exp(epsilon)
    deltas = []
    for inside in (allocated, sampled):
        both = np.maximum(inside - k * without, 0).sum(), np.maximum(without - k * inside, 0).sum()
        deltas.append(float(max(both)) * width**2)
    print(
        f"epsilon = {epsilon:g}: delta is {deltas[0]:.4g} by random allocation and {deltas[1]:.4g} by Poisson samples."
    )
    assert (deltas[0] > 1.1 * deltas[1]) == (epsilon < 1)
