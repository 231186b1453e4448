"""What a stack of mechanisms releases: the one reading that samplers, exact laws and tilted games share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import singledispatch

import numpy as np

from mipsim.distributions.transformed import AbstractTransform, NormClip
from mipsim.mechanisms.base import AbstractMechanism
from mipsim.mechanisms.mean import EmpiricalMean
from mipsim.mechanisms.noise import AbstractIndependentNoise, GaussianNoise, NoiseLaw
from mipsim.mechanisms.sgd_step import SGDStep
from mipsim.mechanisms.subsample import PoissonSubsampled, Subsampled


@dataclass(frozen=True)
class Release:
    """The mean of rows, the target perhaps among them, plus independent noise on every coordinate.

    Attributes:
        rows: how many rows are averaged.
        inclusion: the inclusion probability of a record: that one given record is among them.
        variance: of all Gaussian noise in every output coordinate, a number or shape (d,).
        noises: laws of further noises, independent of one another and with independent coordinates.
        rate: the probability with which each row is kept by its own coin, the sum being divided by rate rows; 1 keeps all.
        transform: what is done to every row before the mean is taken; None for a plain mean.
    """

    rows: int
    inclusion: float = 1.0
    variance: np.ndarray = field(default_factory=lambda: np.zeros(()))
    noises: tuple[NoiseLaw, ...] = ()
    rate: float = 1.0
    transform: AbstractTransform | None = None

    @property
    def is_noisy(self) -> bool:
        """Whether anything is added to the mean."""
        return self.has_gaussian_noise or bool(self.noises)

    @property
    def has_gaussian_noise(self) -> bool:
        """Whether any of it is Gaussian."""
        return bool((self.variance > 0).any())

    @property
    def finest_noise(self) -> float:
        """The least positive standard deviation among all noises and coordinates; inf without noise."""
        scales = [np.sqrt(self.variance), *(noise.deviation for noise in self.noises)]
        return float(min((s[s > 0].min(initial=np.inf) for s in scales), default=np.inf))


@singledispatch
def release_of(mechanism: AbstractMechanism, n: int) -> Release | None:
    """Read a mechanism on n records; None where it is no mean of rows. A new mechanism registers here, one function.

    Examples:
        >>> import mipsim as mi
        >>> release_of(mi.Subsampled(mi.EmpiricalMean(), 0.1), 1000)
        Release(rows=100, inclusion=0.1, variance=array(0.), noises=(), rate=1.0, transform=None)
        >>> release_of(mi.Subsampled(mi.SGDStep(1.0, 10.0), 0.1), 1000).variance
        array(0.01)
    """
    return None


def mean_of(mechanism: AbstractMechanism, n: int) -> Release | None:
    """The release where it is a plain mean of whole rows with Gaussian noise or none; None for any other.

    Examples:
        >>> import mipsim as mi
        >>> mean_of(mi.LaplaceNoise(mi.EmpiricalMean(), 0.1), 10) is None
        True
    """
    found = plain_release_of(mechanism, n)
    return found if found is not None and found.rate == 1.0 and not found.noises else None


def plain_release_of(mechanism: AbstractMechanism, n: int) -> Release | None:
    """The release where no row is transformed, with any noise and rows kept by coins or not; None for any other."""
    found = release_of(mechanism, n)
    return found if found is not None and found.transform is None else None


release_of.register(EmpiricalMean, lambda mechanism, n: Release(n))


@release_of.register
def _(mechanism: SGDStep, n: int) -> Release | None:
    return Release(n, variance=np.asarray(mechanism.noise_std(n) ** 2), transform=NormClip(mechanism.clip))


@release_of.register
def _(mechanism: GaussianNoise, n: int) -> Release | None:
    inner = release_of(mechanism.base, n)
    gamma = np.asarray(mechanism.record_deviation, dtype=np.float64)
    return inner and replace(inner, variance=np.asarray(inner.variance + gamma**2 / n))


@release_of.register
def _(mechanism: AbstractIndependentNoise, n: int) -> Release | None:
    inner, noise = release_of(mechanism.base, n), mechanism.noise_law
    return inner and (replace(inner, noises=(*inner.noises, noise)) if noise.scale.any() else inner)


@release_of.register
def _(mechanism: Subsampled, n: int) -> Release | None:
    kept = mechanism.kept(n)
    inner = release_of(mechanism.base, kept)
    return inner and replace(inner, inclusion=inner.inclusion * (kept / n))


@release_of.register
def _(mechanism: PoissonSubsampled, n: int) -> Release | None:
    inner, rate = release_of(mechanism.base, n), mechanism.sampling_rate
    return inner and replace(inner, rate=rate * inner.rate, variance=np.asarray(inner.variance / rate**2))
