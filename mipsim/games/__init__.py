"""Games: who is sampled, who is replaced, and what the attacker sees."""

from mipsim.games.base import AbstractGame, AbstractMembershipGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.games.relaxed_threat import RelaxedThreat
from mipsim.games.subset import Subset
from mipsim.games.two_inputs import TwoInputs

__all__ = [
    "AbstractGame",
    "AbstractMembershipGame",
    "FixedTarget",
    "RandomTarget",
    "RelaxedThreat",
    "Subset",
    "TwoInputs",
]
