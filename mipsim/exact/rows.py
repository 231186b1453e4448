"""What is asked of the law of one record's share of a linear score, weights . record."""

from abc import ABC, abstractmethod
from functools import singledispatch

import numpy as np

from mipsim.distributions.base import AbstractDistribution
from mipsim.exact.atoms import Table
from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.phases import Phases


class AbstractRow(ABC):
    """Y = weights . record - its mean, for one record of the data."""

    @abstractmethod
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Log E exp(s Y) at complex s with real part inside `strip`, shape (T,); continuous branches are not kept."""

    @abstractmethod
    def envelope(self, c: float, t: float) -> float:
        """A bound on log |E exp((c + i u) Y) / E exp(c Y)| for every real u with |u| >= t >= 0; 0 says nothing."""

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real s where E exp(s Y) is finite."""
        return -np.inf, np.inf

    @property
    def step(self) -> float | None:
        """The spacing of the lattice on which weights . record lies, if it lies on one; else None."""
        return None

    @property
    def base(self) -> float:
        """One point of that lattice."""
        return 0.0

    def phases(self, low: float, high: float) -> Phases | None:
        """What is known of the modulus at large frequencies for all real parts in [low, high]; see `Phases`."""
        return None

    def tables(self, rows: int, shares: np.ndarray) -> list[Table] | None:
        """The law of a sum of rows, coordinate by coordinate, where it has few atoms; shares: the target's terms."""
        return None

    @property
    def reach(self) -> float:
        """The frequency up to which `envelope` holds; beyond it `phases` must help."""
        return np.inf


@singledispatch
def row_of(data: AbstractDistribution, weights: np.ndarray) -> AbstractRow | None:
    """The law of weights . record, or None where none is known. New data laws register here, one function each.

    Examples:
        >>> import mipsim as mi, numpy as np
    >>> import mipsim.exact.discrete_rows
        >>> row = row_of(mi.Bernoulli([0.5]), np.ones(1))
        >>> print(row.cumulant(np.array([2.0 + 0j])).real, np.log(np.cosh(1.0)))
        [0.43378083] 0.4337808304830271
    """
    return None
