"""Which class plays a game: samplers of the same name differ in where they draw from."""

from collections.abc import Callable
from typing import Any

import mipsim as mi
from mipsim._precision import exact_scope
from mipsim.attacks.function import as_attack
from mipsim.engine.route import build_sampler
from mipsim.forms.problem import problem_of


def kind_of(
    game: mi.AbstractGame, attack: mi.AbstractAttack | Callable[..., Any], fidelity: str = "auto"
) -> str:
    """The class of the sampler; of a sampler of columns, the class that draws their sums."""
    with exact_scope():
        sampler = build_sampler(game, as_attack(attack), fidelity)
    return type(getattr(sampler, "columns", sampler)).__name__


def problem(game: mi.AbstractGame, attack: mi.AbstractAttack, transform: bool = True) -> Any:
    """What builders of samplers are given."""
    result = problem_of(game, attack, transform)
    assert result is not None
    return result
