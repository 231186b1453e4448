"""Games: who is drawn, who is replaced, and what the attacker sees."""

from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.games.relaxed_threat import RelaxedThreat
from mipsim.games.subset import Subset

__all__ = ["AbstractGame", "FixedTarget", "RandomTarget", "RelaxedThreat", "Subset"]
