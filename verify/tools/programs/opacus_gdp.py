"""Opacus 1.6.0: the Gaussian accountant's central limit, for noise 0.5, rate 0.001, 2,000 steps and delta = 1e-5.

It warns that it "can underestimate privacy expenditure". A single event shows by how much: some noisy sum is above c.
"""

import importlib.metadata
import runpy

import numpy as np
from scipy.stats import norm

# The file by itself: its package imports PyTorch, it does not.
path = importlib.metadata.distribution("opacus").locate_file("opacus/accountants/analysis/gdp.py")
reported = runpy.run_path(str(path))["compute_eps_poisson"](
    steps=2000, noise_multiplier=0.5, sample_rate=0.001, delta=1e-5
)

c = np.linspace(2.0, 4.0, 201)
out, each = norm.sf(c / 0.5), norm.sf((c - 1.0) / 0.5)
without = -np.expm1(2000 * np.log1p(-out))
with_it = -np.expm1(2000 * np.log1p(-(0.999 * out + 0.001 * each)))
shown = np.log(np.maximum(with_it - 1e-5, 1e-300) / without)
print(
    f"GDP says epsilon {reported:.2f}; the event that some sum is above {c[shown.argmax()]:.2f} shows {shown.max():.2f}."
)

assert shown.max() > reported + 1.0
