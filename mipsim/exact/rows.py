"""The interface of the law of a single record's term of a linear score, weights . record."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property, singledispatch

import numpy as np

from mipsim.distributions.base import AbstractDistribution
from mipsim.exact.atoms import TermTable
from mipsim.exact.phases import Phases
from mipsim.exact.rounding import Bounded, ComplexArray


class AbstractRow(ABC):
    """Y = weights . record - its mean, for a single record of the data."""

    @abstractmethod
    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Log E exp(s Y) at complex s with real part inside `strip`, shape (T,); branches need not be continuous."""

    @abstractmethod
    def rounding(self, s: ComplexArray) -> np.ndarray:
        """A bound e on the rounding error of `cumulant` at s, shape (T,), as of `log_1_plus`: the exact transform has
        at most exp(e) times the computed modulus; where e < 0.1 the logarithms differ by 2 e at most, up to 2 pi i.
        """

    @abstractmethod
    def envelope(self, c: float, t: float) -> float:
        """A bound on log |E exp((c + i u) Y) / E exp(c Y)| for every real u with t <= |u| <= `reach`; 0 says nothing."""

    @property
    def strip(self) -> tuple[float, float]:
        """The open interval of real s where E exp(s Y) is finite."""
        return -np.inf, np.inf

    @cached_property
    def step(self) -> float | None:
        """The spacing of the lattice on which weights . record lies, if it lies on a lattice; else None."""
        return None

    @property
    def base(self) -> float:
        """A point of that lattice."""
        return 0.0

    def on_lattice(self) -> "Multiples | None":
        """The same law with values that are whole multiples of a single float64, without rounding; None without lattice."""
        return None

    @property
    def size(self) -> float:
        """The rounding error of the mean that `cumulant` takes away, in units of 2^-52."""
        return 0.0

    @property
    def atoms(self) -> tuple[np.ndarray, np.ndarray] | None:
        """Values of independent terms, not centred, and their probabilities, both of shape (g, K), if there are finitely many."""
        return None

    def on_axis(self, t: np.ndarray) -> Bounded:
        """`cumulant` and `rounding` at i t for real t."""
        return self.cumulant(1j * t), self.rounding(1j * t)

    @property
    def vanishes(self) -> bool:
        """Whether the envelope tends to 0 as t grows: the noise or the data have a density. See `RowsTransform.tail`."""
        return np.isinf(self.reach)

    def phases(self, low: float, high: float) -> Phases | None:
        """What is known of the modulus at large frequencies for all real parts in [low, high]; see `Phases`."""
        return None

    def tables(self, rows: int, target_terms: np.ndarray) -> list[TermTable] | None:
        """The law of a sum of rows, coordinate by coordinate, where it has few atoms; target_terms: what the target adds in each."""
        return None

    @property
    def reach(self) -> float:
        """The frequency up to which `envelope` holds; beyond it `phases` must help."""
        return np.inf


@dataclass(frozen=True)
class Multiples:
    """A row on a lattice, in a unit of its own that is the step to 1e-9 and makes every multiple exact."""

    row: AbstractRow  # the law of unit * (whole number), less its mean
    unit: float  # about the step
    mean: tuple[float, float]  # the mean of the whole number, and what rounding took from it
    misfit: float  # how far, in steps, a value of the row given may be from its multiple of the step
    most: float  # the largest whole number that a single row can reach, in size


def short(step: float) -> float:
    """The step to 31 binary digits: its multiples up to 2^22 are exact.
    >>> short(0.1) * 3 == 3 * short(0.1), abs(short(0.1) / 0.1 - 1) < 1e-9
    (True, True)
    """
    mantissa, exponent = np.frexp(step)
    return float(np.ldexp(np.rint(mantissa * 2.0**31), exponent - 31))


@singledispatch
def row_of(data: AbstractDistribution, weights: np.ndarray) -> AbstractRow | None:
    """The law of weights . record, or None where none is known. New data laws register here, a function each.

    A law of a single coordinate stands for as many independent copies as there are weights.
    """
    return None
