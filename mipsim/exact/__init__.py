"""Exact laws: trade-off curves without games.

`exact_law(game, attack)` is the law of a score; `game.exact(attack)` its curve. `additive_law` convolves tables of terms
on a grid, for scores of laws that are no game here.
"""

from mipsim.exact.additive import AdditiveLaw, additive_law, covariance_score, likelihood_ratio
from mipsim.exact.dispatch import exact_law
from mipsim.exact.exact_tradeoff import ExactTradeOff
from mipsim.exact.law import AbstractScoreLaw
from mipsim.exact.terms import Terms, binomial_terms, density_terms, exponential_terms, normal_terms

__all__ = [
    "AbstractScoreLaw",
    "AdditiveLaw",
    "ExactTradeOff",
    "Terms",
    "additive_law",
    "binomial_terms",
    "covariance_score",
    "density_terms",
    "exact_law",
    "exponential_terms",
    "likelihood_ratio",
    "normal_terms",
]
