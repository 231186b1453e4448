"""What a stack of mechanisms releases, where that is a mean of rows: the only reading that samplers and exact laws share."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray

from mipsim._validation import noise_scale
from mipsim._words import kind_of
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.transforms import AbstractTransform


def traced_scale(name: str, value: object) -> np.ndarray:
    """The same of a mechanism that is being traced, and was checked when it was made."""
    return value if isinstance(value, jax.Array) else noise_scale(name, value)  # pyright: ignore[reportReturnType]


class NoiseLaw(eqx.Module):
    """Noise with independent coordinates: scale_j X_j, every X_j a copy of the same law.

    This is all that samplers and exact laws ask of a noise.

    >>> import mipsim as mi
    >>> noise = NoiseLaw(mi.Laplace(0.0, 1.0), 0.5)
    >>> print(noise.draw(jax.random.key(0), (3,), np.float32).shape, noise.deviation.round(3))
    (3,) 0.707
    """

    law: AbstractDistribution  # of X, a single coordinate
    scale: np.ndarray = eqx.field(converter=partial(traced_scale, "scale"))  # >= 0, a number or shape (d,)
    # a proven bound on the distance in total variation of `law` from the true law of X, where `law` is a table
    error: float = eqx.field(static=True, default=0.0)

    def __check_init__(self) -> None:
        if self.law.dimension != 1 or not self.law.is_product:
            raise ValueError(
                f"law is a {kind_of(self.law)} of dimension {self.law.dimension}; the law of a noise has dimension 1"
            )

    @property
    def deviation(self) -> np.ndarray:
        """The standard deviation in every coordinate, shape of `scale`."""
        return self.scale * np.sqrt(self.law.variance[0])

    def draw(self, key: PRNGKeyArray, shape: tuple[int, ...], dtype: Any) -> Array:
        """Draw the noise for an output of this shape."""
        return self.law.sample(key, prod(shape)).reshape(shape).astype(dtype) * self.scale


@dataclass(frozen=True)
class Release:
    """The mean of rows, the target perhaps among them, plus independent noise on every coordinate.

    Attributes:
        rows: how many rows are averaged.
        inclusion: the inclusion probability of a record: that a given record is among them.
        variance: of all Gaussian noise in every output coordinate, a number or shape (d,).
        noises: laws of further noises, mutually independent and with independent coordinates.
        rate: the probability with which each row is included by its own coin, the sum being divided by rate rows; 1 includes all.
        transform: what is done to every row before the mean is taken; None for a plain mean.
    """

    rows: int
    inclusion: float = 1.0
    variance: np.ndarray = field(default_factory=lambda: np.zeros(()))
    noises: tuple[NoiseLaw, ...] = ()
    rate: float = 1.0
    transform: AbstractTransform | None = None

    @property
    def is_plain(self) -> bool:
        """Whether all rows are averaged as they are, with Gaussian noise or none."""
        return self.transform is None and self.rate == 1.0 and not self.noises

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
