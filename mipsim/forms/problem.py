"""A membership game and an attack, read once for every sampler and exact law: what is averaged, what the target adds, what scores it."""

from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from mipsim.attacks.base import AbstractAttack
from mipsim.distributions.agreement import check_transformed
from mipsim.distributions.base import AbstractDistribution
from mipsim.games.base import AbstractGame
from mipsim.games.fixed_target import FixedTarget
from mipsim.games.random_target import RandomTarget
from mipsim.mechanisms.release import Release

Data = TypeVar("Data", bound=AbstractDistribution)
Attack = TypeVar("Attack", bound=AbstractAttack)


# A problem equals itself only: what is computed for it can be stored beside it.
@dataclass(frozen=True, eq=False)
class Problem(Generic[Data, Attack]):
    """A noisy mean of rows, the target perhaps among them, and the attack on it.

    A problem that is no `FixedProblem` has a random target: a row of the records, or in the other world a row that is not among them.
    """

    data: Data
    mean: Release
    attack: Attack


@dataclass(frozen=True, eq=False)
class FixedProblem(Problem[Data, Attack]):
    """The same with a fixed target."""

    target: np.ndarray  # the point that the attack is given, shape (d,)
    row: np.ndarray  # what the target adds to the sum of the rows, shape (d,)


def problem_of(game: AbstractGame, attack: AbstractAttack, transform: bool = True) -> Problem | None:
    """Read a game; None where it releases no mean of rows, or its target is neither fixed nor a random row.

    Where a mechanism transforms every record, such as by clipping, and the distribution of a transformed record is known, the rows are
    those, and their mean is plain.

    `game`: what is played; `attack`: what scores it; `transform`: whether to look for that distribution.
    """
    if not isinstance(game, (FixedTarget, RandomTarget)):
        return None
    mean = game.mechanism.mean_of_rows(game.n)
    if mean is None:
        return None
    rows = game.data.transformed(mean.transform) if mean.transform is not None and transform else None
    if rows is not None and mean.transform is not None:
        check_transformed(game.data, mean.transform, rows)
    if isinstance(game, RandomTarget):
        # The attack is given the target as it was before it was transformed.
        known = rows is game.data
        return Problem(game.data, replace(mean, transform=None) if known else mean, attack)
    target = np.asarray(game.target, np.float64)
    if rows is None or mean.transform is None:
        return FixedProblem(game.data, mean, attack, target, target)
    row = mean.transform.apply(target[None])[0]
    return FixedProblem(rows, replace(mean, transform=None), attack, target, row)
