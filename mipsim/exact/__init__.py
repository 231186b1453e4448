"""Exact laws: trade-off curves without games, for scores that are sums over independent coordinates."""

from mipsim.exact.additive import AdditiveLaw, additive_law, covariance_score, likelihood_ratio
from mipsim.exact.terms import Terms, binomial_terms, density_terms

__all__ = [
    "AdditiveLaw",
    "Terms",
    "additive_law",
    "binomial_terms",
    "covariance_score",
    "density_terms",
    "likelihood_ratio",
]
