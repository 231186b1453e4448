"""The distribution of a transformed record, such as a clipped record, where it is that of a known family."""

from abc import abstractmethod
from functools import singledispatch

import equinox as eqx
import numpy as np

from mipsim._validation import number
from mipsim.distributions.base import AbstractDistribution
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.distributions.discrete import Discrete
from mipsim.distributions.empirical import Empirical
from mipsim.distributions.uniform import Uniform


class AbstractTransform(eqx.Module):
    """What a mechanism does to every record before it adds the records up.

    Examples:
        >>> class Threshold(AbstractTransform):
        ...     def apply(self, rows):
        ...         return np.where(rows > 0.5, 1.0, 0.0)
        ...
        ...     def is_coordinatewise(self, dimension):
        ...         return True
        ...
        ...     def fixes(self, low, high):
        ...         return False
        >>> transformed(Bernoulli([0.25]), Threshold()).p
        array([0.25])
    """

    @abstractmethod
    def apply(self, rows: np.ndarray) -> np.ndarray:
        """Transform every row; float64 arrays of shape (N, d)."""

    @abstractmethod
    def is_coordinatewise(self, dimension: int) -> bool:
        """Whether coordinate j of a transformed record of that dimension depends on coordinate j alone, by the same function
        for all j.
        """

    @abstractmethod
    def fixes(self, low: np.ndarray, high: np.ndarray) -> bool:
        """Whether every record in the box [low, high], two arrays of shape (d,), stays as it is."""


class NormClip(AbstractTransform):
    """z min(1, bound / ||z||): the clipping of gradients in DP-SGD.

    Attributes:
        bound: the largest Euclidean norm, > 0; inf does not clip.

    Source: Abadi et al. (2016), algorithm 1.

    Examples:
        >>> print(NormClip(1.0).apply(np.array([[3.0, 4.0], [0.0, 0.5]])))
        [[0.6 0.8]
         [0.  0.5]]
    """

    bound: float

    def apply(self, rows: np.ndarray) -> np.ndarray:
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        large = norms > self.bound
        return np.where(large, self.bound / np.where(large, norms, 1.0), 1.0) * rows

    def is_coordinatewise(self, dimension: int) -> bool:
        return dimension == 1

    def fixes(self, low: np.ndarray, high: np.ndarray) -> bool:
        return bool(np.linalg.norm(np.maximum(np.abs(low), np.abs(high))) <= self.bound)


class CoordinateClip(AbstractTransform):
    """Every coordinate is moved into [low, high].

    Args:
        low: the least value of a coordinate.
        high: the greatest, above `low`.

    Source: standard; for example Dwork & Roth (2014), section 3.3.

    Examples:
        >>> print(CoordinateClip(0.0, 1.0).apply(np.array([[-1.0, 0.5]])))
        [[0.  0.5]]
    """

    low: float
    high: float

    def __init__(self, low: float, high: float) -> None:
        self.low = number("low", low)
        self.high = number("high", high, self.low, low_open=True)

    def apply(self, rows: np.ndarray) -> np.ndarray:
        return np.clip(rows, self.low, self.high)

    def is_coordinatewise(self, dimension: int) -> bool:
        return True

    def fixes(self, low: np.ndarray, high: np.ndarray) -> bool:
        return bool((low >= self.low).all() and (high <= self.high).all())


@singledispatch
def transformed(data: AbstractDistribution, transform: AbstractTransform) -> AbstractDistribution | None:
    """The distribution of a transformed record; None where it belongs to no family that is known.

    Where it exists, games of a mean of transformed records have the samplers and exact laws of a plain mean. A distribution that is
    not registered here is transformed only by what fixes every record.

    Args:
        data: the distribution of a record.
        transform: what is done to it.

    Examples:
        >>> transformed(Bernoulli([0.3, 0.6]), CoordinateClip(0.0, 1.0)).p
        array([0.3, 0.6])
        >>> law = transformed(Discrete([-2.0, 0.0, 3.0], [0.25, 0.5, 0.25]), NormClip(2.5))
        >>> print(law.values, law.probabilities)
        [-2.   0.   2.5] [[0.25 0.5  0.25]]
        >>> transformed(Uniform(0.0, 1.0), NormClip(0.5)) is None
        True
    """
    edge = np.full(data.dimension, np.inf)
    return data if transform.fixes(-edge, edge) else None


@transformed.register
def _transformed_uniform(data: Uniform, transform: AbstractTransform) -> AbstractDistribution | None:
    return data if transform.fixes(data.low, data.high) else None


@transformed.register
def _transformed_bernoulli(data: Bernoulli, transform: AbstractTransform) -> AbstractDistribution | None:
    if transform.fixes(np.zeros(data.dimension), np.ones(data.dimension)):
        return data
    moved = _transformed_values(np.array([0.0, 1.0]), np.stack([1.0 - data.p, data.p], axis=1), transform)
    if moved is not None and np.array_equal(moved.values, [0.0, 1.0]):
        return Bernoulli(moved.probabilities[:, 1])
    return moved


@transformed.register
def _transformed_discrete(data: Discrete, transform: AbstractTransform) -> AbstractDistribution | None:
    low, high = (
        end(np.where(data.probabilities > 0, data.values, np.nan), axis=1) for end in (np.nanmin, np.nanmax)
    )
    return (
        data
        if transform.fixes(low, high)
        else _transformed_values(data.values, data.probabilities, transform)
    )


@transformed.register
def _transformed_records(data: Empirical, transform: AbstractTransform) -> AbstractDistribution | None:
    moved = transform.apply(data.records)
    if np.array_equal(moved, data.records):
        return data
    return Empirical(moved) if (np.ptp(moved, axis=0) > 0).all() else None


def _transformed_values(
    values: np.ndarray, probabilities: np.ndarray, transform: AbstractTransform
) -> Discrete | None:
    """Independent coordinates on transformed values, of which equal values are merged; None where a coordinate is then constant."""
    d = probabilities.shape[0]
    if not transform.is_coordinatewise(d):
        return None
    moved = transform.apply(np.repeat(values[:, None], d, axis=1))[:, 0]
    support, place = np.unique(moved, return_inverse=True)
    law = probabilities @ (place.ravel()[:, None] == np.arange(support.size))
    used = (law > 0).any(axis=0)
    support, law = support[used], law[:, used]
    return Discrete(support, law) if (np.count_nonzero(law, axis=1) >= 2).all() else None
