"""A row that its own coin keeps."""

from dataclasses import dataclass
from functools import cached_property
from math import fsum, log1p

import numpy as np

from mipsim.exact.phases import Phases
from mipsim.exact.rounding import EPS, Bounded, ComplexArray, exact_dot, log_1_plus
from mipsim.exact.rows import AbstractRow, Multiples


@dataclass(frozen=True)
class PoissonRow(AbstractRow):
    """B (Y + mean) - rate mean, with Y a centred row and B an independent coin of probability `rate`."""

    row: AbstractRow  # the law of Y
    mean: float  # of the uncentred row
    rate: float  # in (0, 1)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return self._parts(s)[0]

    def rounding(self, s: ComplexArray) -> np.ndarray:
        return self._parts(s)[1]

    def _parts(self, s: ComplexArray) -> Bounded:
        u = self.row.cumulant(s) + self.mean * s
        large = u.real > 0.0
        # log(1 - r + r e^u) = u + log(r + (1 - r) e^-u), whichever cannot overflow.
        z = np.where(large, 1.0 - self.rate, self.rate) * np.expm1(np.where(large, -u, u))
        lost = self.row.rounding(s) + 4.0 * EPS * (np.abs(u) + np.abs(self.mean * s))
        grown = np.minimum(np.expm1(np.minimum(2.0 * lost, 700.0)), 2.0 * np.exp(np.minimum(lost, 700.0)))
        value, error = log_1_plus(z, 8.0 * EPS * np.abs(z) + grown * np.exp(-np.abs(u.real)))
        size = np.abs(value) + np.abs(u) + np.abs(self.rate * self.mean * s)
        result = np.where(large, u + value, value) - self.rate * self.mean * s
        return result, error + np.where(large, lost, 0.0) + 4.0 * EPS * size

    @property
    def size(self) -> float:
        return self.row.size + 2.0 * abs(self.mean)

    def on_lattice(self) -> Multiples | None:
        inner = self.row.on_lattice()
        if inner is None or self.step is None:
            return None
        base = float(np.rint(self.row.base / self.step))
        parts = [*inner.mean, base]
        mean = fsum(parts)
        low = fsum([*parts, -mean])
        row = PoissonRow(inner.row, mean * inner.unit, self.rate)
        retained = exact_dot(np.array([mean, low]), np.full(2, self.rate))
        misfit = inner.misfit + abs(self.row.base / self.step - base)
        return Multiples(row, inner.unit, retained, misfit, inner.most + abs(base))

    @property
    def vanishes(self) -> bool:
        """No: the row may be dropped."""
        return False

    def envelope(self, c: float, t: float) -> float:
        """|1 - r + r phi| <= 1 - r + r |phi| with the tilted rate r."""
        height = np.exp(self.row.envelope(c, t))
        return log1p(max(-self._tilted(c) * (1.0 - height), EPS - 1.0))  # a tilted rate may round to 1

    @property
    def strip(self) -> tuple[float, float]:
        return self.row.strip

    @property
    def reach(self) -> float:
        return self.row.reach

    @cached_property
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
        retained = min(
            self.rate / (self.rate + (1.0 - self.rate) * np.exp(-c * self.mean)) for c in (low, high)
        )
        return Phases(inner.frequencies, inner.strengths, inner.inclusion * float(retained))

    def _tilted(self, c: float) -> float:
        log_mgf = float(self.row.cumulant(np.array([complex(c)])).real[0]) + self.mean * c
        return float(self.rate / (self.rate + (1.0 - self.rate) * np.exp(-log_mgf)))
