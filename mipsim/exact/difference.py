"""The difference of two independent scores, each from its own world: the area under the ROC curve is a tail of its law."""

from dataclasses import dataclass

import numpy as np

from mipsim.exact.rounding import ComplexArray
from mipsim.exact.transform import AbstractTransform, Tail


@dataclass(frozen=True)
class DifferenceTransform(AbstractTransform):
    """S_in - S_out for independent scores; the same law in both worlds.
    >>> from mipsim.exact.density_rows import NormalRow
    >>> from mipsim.exact.transform import RowsTransform
    >>> transform = DifferenceTransform(RowsTransform(NormalRow(1.0), 4, 0.0, 2.0, 0.0))  # N(2, 3) - N(0, 4)
    >>> print(transform.cumulant(np.array([1.0 + 0j])).real[0], transform.mean)
    [3.5] [2. 2.]
    """

    base: AbstractTransform  # the cumulants of S in the two worlds, of a score that is finite and has no lattice

    @property
    def lost(self) -> float:  # pyright: ignore[reportIncompatibleVariableOverride] - a property
        """Of both scores."""
        return 2.0 * self.base.lost

    @property
    def most_nodes(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride] - a property
        """As of a single score."""
        return self.base.most_nodes

    @property
    def mean(self) -> np.ndarray:
        out, inside = self.base.mean
        return np.full(2, inside - out)

    @property
    def strip(self) -> tuple[float, float]:
        low, high = self.base.strip
        return max(low, -high), min(high, -low)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        both = self.base.cumulant(s)[1] + self.base.cumulant(-s)[0]
        return np.stack([both, both])

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        return self.base.quiet_from(c, start, stop, span)

    def rounding(self, s: ComplexArray) -> np.ndarray:
        return (self.base.rounding(s) + self.base.rounding(-s)) * (1.0 + 1e-9)

    @property
    def shift(self) -> float:
        """Of both scores, and of the difference of their means."""
        return 2.0 * self.base.shift + 2.0**-52 * float(np.abs(self.base.mean).sum())

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The modulus is the product of both, and that of S_out is at most 1."""
        return self.base.tail(c, spacing, first, span)
