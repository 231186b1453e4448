"""Clipped gradient steps as the engine reads them: a stack of noise and sub-sampling over `SGDStep`."""

from dataclasses import dataclass
from typing import TypeGuard

import numpy as np

from mipsim.attacks.base import AbstractAdditiveAttack, AbstractAttack, AbstractLinearAttack
from mipsim.games.base import AbstractGame
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.noise import GaussianNoise
from mipsim.mechanisms.sgd_step import SGDStep
from mipsim.mechanisms.subsample import Subsampled


@dataclass(frozen=True)
class NoisyStep:
    """A mechanism seen as: with probability `drawn` the target is among `rows` rows; these are clipped and averaged.

    Attributes:
        rows: how many rows are averaged.
        drawn: the probability that one given record is among them.
        clip: the largest norm of a row, > 0, or inf.
        variance: of all Gaussian noise in every output coordinate, a number or shape (d,).
    """

    rows: int
    drawn: float
    clip: float
    variance: np.ndarray


def as_noisy_step(mechanism: AbstractMechanism, n: int) -> NoisyStep | None:
    """Read a stack of `GaussianNoise` and `Subsampled` over `SGDStep`; None for anything else.

    Examples:
        >>> as_noisy_step(Subsampled(SGDStep(1.0, 10.0), 0.1), 1000)
        NoisyStep(rows=100, drawn=0.1, clip=1.0, variance=array(0.01))
    """
    rows, drawn, variance = n, 1.0, np.zeros(())
    while True:
        if type(mechanism) is GaussianNoise:
            variance = variance + np.asarray(mechanism.gamma, dtype=np.float64) ** 2 / rows
        elif type(mechanism) is Subsampled:
            kept = round(mechanism.rho * rows)
            rows, drawn = kept, drawn * (kept / rows)
        elif type(mechanism) is SGDStep:
            own = mechanism.noise_std(rows) ** 2
            return NoisyStep(rows, drawn, float(mechanism.clip), np.asarray(variance + own))
        else:
            return None
        mechanism = mechanism.base


def read_step(game: AbstractGame) -> NoisyStep | None:
    """The clipped step that a game plays, or None where its mechanism is another.

    Examples:
        >>> import mipsim as mi
        >>> read_step(mi.RandomTarget(mi.EmpiricalMean(), mi.Gaussian(0.0, 1.0), n=4)) is None
        True
    """
    return as_noisy_step(game.mechanism, game.n)


def is_linear(attack: AbstractAttack) -> TypeGuard[AbstractLinearAttack]:
    """Whether the score really is link(weights . output): a subclass may have said otherwise.

    Examples:
        >>> import mipsim as mi
        >>> is_linear(mi.ScalarProduct([0.0])), is_linear(mi.FunctionAttack(lambda target, output: output[0]))
        (True, False)
    """
    return (
        isinstance(attack, AbstractLinearAttack)
        and type(attack).score is AbstractAdditiveAttack.score
        and type(attack).contributions is AbstractLinearAttack.contributions
    )
