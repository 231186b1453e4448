"""What a mechanism does to every record before it adds the records up, such as clipping."""

from abc import abstractmethod

import equinox as eqx
import numpy as np

from mipsim._validation import number


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
        >>> import mipsim as mi
        >>> mi.Bernoulli([0.25]).transformed(Threshold()).p
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

    Source: Abadi et al. (2016), algorithm 1.

    >>> print(NormClip(1.0).apply(np.array([[3.0, 4.0], [0.0, 0.5]])))
    [[0.6 0.8]
     [0.  0.5]]
    """

    bound: float  # the largest Euclidean norm, > 0; inf does not clip

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
