"""A row that its own coin keeps."""

from dataclasses import dataclass
from math import log1p

import numpy as np

from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.phases import Phases
from mipsim.exact.rows import AbstractRow


@dataclass(frozen=True)
class PoissonRow(AbstractRow):
    """B (Y + mean) - rate mean, with Y a centred row and B an independent coin of probability `rate`.

    Attributes:
        row: the law of Y.
        mean: of the uncentred row.
        rate: in (0, 1).

    Examples:
        >>> from mipsim.exact.density_rows import NormalRow
        >>> row = PoissonRow(NormalRow(1.0), 0.0, 0.5)
        >>> print(row.cumulant(np.array([1.0 + 0j])).real.round(6), np.log(0.5 + 0.5 * np.exp(0.5)).round(6))
        [0.28093] 0.28093
    """

    row: AbstractRow
    mean: float
    rate: float

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Log(1 + rate (exp(K(s) + mean s) - 1)) - rate mean s."""
        u = self.row.cumulant(s) + self.mean * s
        large = u.real > 0.0
        grown = np.expm1(np.where(large, 0.0, u))
        near = np.log1p(self.rate * grown)
        far = u + np.log(self.rate + (1.0 - self.rate) * np.exp(np.where(large, -u, 0.0)))
        return np.where(large, far, near) - self.rate * self.mean * s

    def envelope(self, c: float, t: float) -> float:
        """|1 - r + r phi| <= 1 - r + r |phi| with the tilted rate r."""
        height = np.exp(self.row.envelope(c, t))
        return float(log1p(-self._tilted(c) * (1.0 - height)))

    @property
    def strip(self) -> tuple[float, float]:
        """The row's."""
        return self.row.strip

    @property
    def reach(self) -> float:
        """The row's."""
        return self.row.reach

    @property
    def step(self) -> float | None:
        """The row's, if 0 is on its lattice."""
        step = self.row.step
        if step is None or abs(self.row.base / step - np.rint(self.row.base / step)) > 1e-9:
            return None
        return step

    def phases(self, low: float, high: float) -> Phases | None:
        """-log |1 - r + r phi| >= r (1 - |phi|), with the least tilted rate: M(c) >= exp(c mean) by Jensen."""
        inner = self.row.phases(low, high)
        if inner is None:
            return None
        kept = min(self.rate / (self.rate + (1.0 - self.rate) * np.exp(-c * self.mean)) for c in (low, high))
        return Phases(inner.frequencies, inner.strengths, inner.kept * float(kept))

    def _tilted(self, c: float) -> float:
        log_mgf = float(self.row.cumulant(np.array([complex(c)])).real[0]) + self.mean * c
        return float(self.rate / (self.rate + (1.0 - self.rate) * np.exp(-log_mgf)))
