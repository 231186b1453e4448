"""What a mechanism releases, as far as the exact laws know it: a mean of rows plus independent noise."""

from dataclasses import dataclass, replace
from functools import singledispatch

import numpy as np

from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import GaussianNoise, LaplaceNoise
from mipsim.mechanisms.subsample import PoissonSubsampled, Subsampled


@dataclass(frozen=True)
class ReleasedMean:
    """The mean of `rows` rows, the target among them with probability `drawn`, plus noise on every coordinate.

    Attributes:
        rows: how many rows are averaged.
        drawn: the probability that a given record is among them.
        variance: of the Gaussian noise of the output, a number or shape (d,).
        laplace: scales of independent Laplace noises of the output, each a number or shape (d,).
        rate: the probability with which each row is kept by its own coin, the sum being divided by rate rows; 1 keeps all.
    """

    rows: int
    drawn: float
    variance: np.ndarray
    laplace: tuple[np.ndarray, ...] = ()
    rate: float = 1.0

    @property
    def is_noisy(self) -> bool:
        """Whether anything is added to the mean."""
        return bool((self.variance > 0).any()) or bool(self.laplace)


@singledispatch
def released(mechanism: AbstractMechanism, n: int) -> ReleasedMean | None:
    """Read a mechanism on n records; None if it is not a noisy mean. New mechanisms register here, one function each.

    Examples:
        >>> import mipsim as mi
        >>> released(mi.Subsampled(mi.EmpiricalMean(), 0.1), 1000)
        ReleasedMean(rows=100, drawn=0.1, variance=array(0.), laplace=(), rate=1.0)
    """
    return None


@released.register
def _(mechanism: EmpiricalMean, n: int) -> ReleasedMean | None:
    return ReleasedMean(n, 1.0, np.zeros(()))


@released.register
def _(mechanism: GaussianNoise, n: int) -> ReleasedMean | None:
    inner = released(mechanism.base, n)
    gamma = np.asarray(mechanism.gamma, dtype=np.float64)
    return inner and replace(inner, variance=inner.variance + gamma**2 / n)


@released.register
def _(mechanism: LaplaceNoise, n: int) -> ReleasedMean | None:
    inner = released(mechanism.base, n)
    scale = np.asarray(mechanism.scale, dtype=np.float64)
    return inner and (replace(inner, laplace=(*inner.laplace, scale)) if (scale > 0).any() else inner)


@released.register
def _(mechanism: Subsampled, n: int) -> ReleasedMean | None:
    kept = round(mechanism.rho * n)
    inner = released(mechanism.base, kept)
    return inner and replace(inner, drawn=inner.drawn * kept / n)


@released.register
def _(mechanism: PoissonSubsampled, n: int) -> ReleasedMean | None:
    inner = released(mechanism.base, n)
    return inner and replace(inner, rate=mechanism.rate * inner.rate)
