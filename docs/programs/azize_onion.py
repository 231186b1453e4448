"""Azize and Basu, the "privacy onion": removing the outliers raises m* of the points that remain, each of them.

Here data Exponential(1); the 20% farthest from the mean, those above a cut, are removed.
"""

import numpy as np

cut = -np.log(0.2)  # the farthest fifth: all of them lie above, since no point is more than 1 below the mean
below = 1 - np.exp(-cut)
mean = (1 - np.exp(-cut) * (1 + cut)) / below
square = (2 - np.exp(-cut) * (cut**2 + 2 * cut + 2)) / below
variance = square - mean**2

z = 0.627
before, after = (z - 1.0) ** 2 / 1.0, (z - mean) ** 2 / variance
print(f"The point {z:g}: (z - mean)^2 / variance is {before:.4f} before and {after:.4f} after the removal.")
assert after < 0.5 * before
