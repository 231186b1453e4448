"""Ranges of parameters over which the functions of this package are checked. Curves import this file without JAX."""

MOST_FREEDOM, MOST_NONCENTRALITY = 1e6, 1e8
"""Of the non-central chi-square distribution, whose contour is checked against mpmath up to these values."""
