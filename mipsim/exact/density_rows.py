"""Rows of independent coordinates with a density: normal, Laplace, exponential, uniform."""

from dataclasses import dataclass
from math import fsum

import numpy as np

from mipsim.distributions.exponential import Exponential
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.laplace import Laplace
from mipsim.distributions.uniform import Uniform
from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.rows import AbstractRow, row_of


@dataclass(frozen=True)
class NormalRow(AbstractRow):
    """N(0, variance)."""

    variance: float

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Variance s^2 / 2."""
        return 0.5 * self.variance * s**2

    def envelope(self, c: float, t: float) -> float:
        """-variance t^2 / 2."""
        return -0.5 * self.variance * t**2


@row_of.register
def _(data: Gaussian, weights: np.ndarray) -> AbstractRow:
    step = weights * data.factor if data.is_product else weights @ data.factor
    return NormalRow(fsum(np.square(step)))


@dataclass(frozen=True)
class LaplaceRow(AbstractRow):
    """A sum of independent Laplace(b_j): the same law as a random sign times b_j times an exponential."""

    scales: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """-sum_j log(1 - b_j^2 s^2)."""
        return -np.log1p(-np.square(self.scales[:, None] * s)).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """|1 - b^2 (c + i t)^2| = |1 - b (c + i t)| |1 + b (c + i t)|, and both grow with t."""
        b = self.scales
        both = np.log1p(np.square(b * t / (1 - b * c))) + np.log1p(np.square(b * t / (1 + b * c)))
        return -0.5 * float(both.sum())

    @property
    def strip(self) -> tuple[float, float]:
        """|s| < 1 / max b."""
        edge = float(1.0 / self.scales.max())
        return -edge, edge


@row_of.register
def _(data: Laplace, weights: np.ndarray) -> AbstractRow:
    return LaplaceRow(np.abs(weights * data.scale)[weights != 0.0])


@dataclass(frozen=True)
class ExponentialRow(AbstractRow):
    """A sum of a_j (E_j - 1), E_j standard exponential; a_j may be negative."""

    scales: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """-sum_j log(1 - a_j s) + a_j s."""
        u = self.scales[:, None] * s
        return -(np.log1p(-u) + u).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """-sum_j log(1 + (a_j t / (1 - a_j c))^2) / 2."""
        return -0.5 * float(np.log1p(np.square(self.scales * t / (1.0 - self.scales * c))).sum())

    @property
    def strip(self) -> tuple[float, float]:
        """A_j s < 1 for every j."""
        low, high = self.scales.min(), self.scales.max()
        return (1.0 / low if low < 0 else -np.inf), (1.0 / high if high > 0 else np.inf)


@row_of.register
def _(data: Exponential, weights: np.ndarray) -> AbstractRow:
    return ExponentialRow((weights * data.scale)[weights != 0.0])


@dataclass(frozen=True)
class UniformRow(AbstractRow):
    """A sum of uniforms on [-h_j, h_j]."""

    halves: np.ndarray

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """Sum_j log(sinh(h_j s) / (h_j s)), with its series near 0."""
        u = self.halves[:, None] * s
        square = u * u
        series = square / 6 * (1 - square / 30 * (1 - square * (4 / 63) * (1 - square / 20)))
        near = np.abs(u) < 1e-2
        safe = np.where(near, 1.0, np.where(u.real < 0, -u, u))  # even; the right half-plane cannot overflow
        far = safe + np.log1p(-np.exp(-2 * safe)) - np.log(2 * safe)
        return np.where(near, series, far).sum(axis=0)

    def envelope(self, c: float, t: float) -> float:
        """|sinh(h s)| <= cosh(h c) and |s| >= t: sum_j min(0, log(c / (tanh(h c) |c + i t|)))."""
        h = self.halves
        growth = np.where(np.abs(h * c) < 1e-6, 1.0 / h, c / np.tanh(np.where(c == 0, 1.0, h * c)))
        return float(np.minimum(0.0, np.log(growth) - 0.5 * np.log(c * c + t * t)).sum()) if t > 0 else 0.0


@row_of.register
def _(data: Uniform, weights: np.ndarray) -> AbstractRow:
    return UniformRow(np.abs(weights * (data.high - data.low) / 2)[weights != 0.0])
