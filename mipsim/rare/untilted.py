"""The engine's own sampler of a game, with the leaves where the kernel needs them."""

from mipsim.attacks.base import AbstractAttack
from mipsim.engine.counting import on_device
from mipsim.engine.fidelity import build_sampler
from mipsim.engine.samplers.base import AbstractSampler
from mipsim.games.base import AbstractMembershipGame


def untilted(game: AbstractMembershipGame, attack: AbstractAttack) -> AbstractSampler:
    """The cheapest faithful sampler of the game. Must be called inside `exact_scope`."""
    return on_device(build_sampler(game, attack, "auto"))
