"""The sampler of the mean of a Poisson sample of independent coordinates: a number of kept rows, and column sums from tables."""
