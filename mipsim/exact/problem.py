"""A game and an attack, read once for all rules of the exact laws."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.base import AbstractDistribution
from mipsim.exact.law import AbstractScoreLaw
from mipsim.forms.release import Release


@dataclass(frozen=True)
class Problem:
    """The release of a noisy mean with a fixed target, and the attack on it.

    Attributes:
        data: the law of one record.
        mean: the mechanism.
        target: the game's target, shape (d,).
        attack: the attack.
    """

    data: AbstractDistribution
    mean: Release
    target: np.ndarray
    attack: AbstractAttack


Rule = Callable[[Problem], AbstractScoreLaw | None]
"""Returns the exact law of the score, or None where it does not apply. Is called inside `exact_scope`."""
