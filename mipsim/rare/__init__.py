"""Small false-positive rates from few games: exponential tilting with thinning."""

from mipsim.rare.play_rare import FALSE_POSITIVE_RATES, play_rare, score_law

__all__ = ["FALSE_POSITIVE_RATES", "play_rare", "score_law"]
