"""The ranges of parameters over which the functions of this package are checked; of no weight, since curves need them without JAX."""

MOST_FREEDOM, MOST_NONCENTRALITY = 1e6, 1e8
"""Of the non-central chi-square: its contour is checked against mpmath up to these."""
