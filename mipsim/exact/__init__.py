"""Exact laws: trade-off curves without games.

`exact_law(game, attack)` is the law of a score; `game.exact(attack)` its curve.
"""

from mipsim.exact.dispatch import exact_law
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.score_law import AbstractScoreLaw

__all__ = ["AbstractScoreLaw", "ExactTradeOff", "exact_law"]
