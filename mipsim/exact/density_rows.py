"""Rows of independent coordinates with a density: normal, Laplace, exponential, uniform."""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import ClassVar

import numpy as np
from scipy.special import zeta

from mipsim.distributions.exponential import Exponential
from mipsim.distributions.gaussian import Gaussian
from mipsim.distributions.laplace import Laplace
from mipsim.distributions.uniform import Uniform
from mipsim.exact.rounding import EPS, Bounded, ComplexArray, PowerSums, in_blocks, log_1_plus, summed
from mipsim.exact.rows import AbstractRow, row_of

_RADIUS = 0.4  # of the series of log(1 - z): 0.4^46 < 1e-18 bounds what is left out
_POWERS = np.arange(2, 46)
_EVEN = np.arange(2.0, 62.0, 2.0)  # the powers of the other series
_NEAR = 1.5  # of the series of log(sinh z / z), whose radius is pi


@dataclass(frozen=True)
class NormalRow(AbstractRow):
    """N(0, variance)."""

    variance: float  # of the sum of the coordinates
    doubt: float = 0.0  # a bound on its relative error, beyond 8 EPS

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        return 0.5 * self.variance * s**2

    def rounding(self, s: ComplexArray) -> np.ndarray:
        return (8.0 * EPS + self.doubt) * np.abs(self.cumulant(s))

    def envelope(self, c: float, t: float) -> float:
        return -0.5 * self.variance * (1.0 - self.doubt) * t**2


@row_of.register
def _row_of_gaussian(data: Gaussian, weights: np.ndarray) -> AbstractRow:
    step = weights * data.factor if data.is_product else weights @ data.factor
    variance = fsum(np.square(step))
    if data.is_product:
        return NormalRow(variance)
    lost = (weights.size + 2.0) * EPS * np.linalg.norm(np.abs(weights) @ np.abs(data.factor))
    return NormalRow(variance, min(1.0, 3.0 * float(lost) / max(variance, 1e-300) ** 0.5))


@dataclass(frozen=True)
class AbstractSeriesRow(AbstractRow):
    """A sum over j of independent scale_j X_j whose cumulants are power sums where scales are small, and logarithms elsewhere.

    Attributes:
        scales: shape (d,), not 0.
    """

    scales: np.ndarray
    coefficients: ClassVar[np.ndarray]
    """Of the cumulant of X: the powers from 2 on."""
    radius: ClassVar[float]
    """The largest |scale s| for which they serve."""

    @abstractmethod
    def direct(self, u: ComplexArray) -> Bounded:
        """The sum over the last axis of the cumulant of X at u, and a bound on its error."""

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        count = self._series.small(s)
        return self._series.value(count, s) + self._rest(count, s)[0]

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """That of the series and of the others, whose sum is by pairs."""
        count = self._series.small(s)
        return self._series.rounding(count, s) + self._rest(count, s)[1]

    @cached_property
    def _series(self) -> PowerSums:
        return PowerSums(self.scales, self.coefficients, self.radius)

    def _rest(self, count: int, s: ComplexArray) -> Bounded:
        scales = self._series.scales[count:]
        return in_blocks(lambda at: self.direct(at[:, None] * scales), s, scales.size)


@dataclass(frozen=True)
class LaplaceRow(AbstractSeriesRow):
    """A sum of independent Laplace(b_j): the same law as a random sign times b_j times an exponential."""

    coefficients = np.where(_POWERS % 2 == 0, 2.0 / _POWERS, 0.0)
    radius = _RADIUS

    def direct(self, u: ComplexArray) -> Bounded:
        square = np.square(u)
        value, error = summed(*log_1_plus(-square, 8.0 * EPS * np.abs(square)))
        return -value, error

    def on_axis(self, t: np.ndarray) -> Bounded:
        """-sum_j log(1 + (b_j t)^2), real: each logarithm is right to some EPS of itself, and the sum is by pairs."""
        value = -np.log1p(np.square(np.outer(t, self.scales))).sum(axis=1)
        return value.astype(complex), 32.0 * EPS * np.abs(value)

    def envelope(self, c: float, t: float) -> float:
        """|1 - b^2 (c + i t)^2| = |1 - b (c + i t)| |1 + b (c + i t)|, and both grow with t."""
        b = self.scales
        both = np.log1p(np.square(b * t / (1 - b * c))) + np.log1p(np.square(b * t / (1 + b * c)))
        return -0.5 * float(both.sum())

    @property
    def strip(self) -> tuple[float, float]:
        edge = float(1.0 / self.scales.max())
        return -edge, edge


@dataclass(frozen=True)
class ExponentialRow(AbstractSeriesRow):
    """A sum of a_j (E_j - 1), E_j standard exponential; a_j may be negative."""

    coefficients = 1.0 / _POWERS
    radius = _RADIUS

    def direct(self, u: ComplexArray) -> Bounded:
        value, error = log_1_plus(-u, 4.0 * EPS * np.abs(u))
        total, error = summed(value + u, error + 4.0 * EPS * np.abs(u))
        return -total, error

    def envelope(self, c: float, t: float) -> float:
        return -0.5 * float(np.log1p(np.square(self.scales * t / (1.0 - self.scales * c))).sum())

    @property
    def strip(self) -> tuple[float, float]:
        low, high = self.scales.min(), self.scales.max()
        return (1.0 / low if low < 0 else -np.inf), (1.0 / high if high > 0 else np.inf)


def _uniform_coefficients() -> np.ndarray:
    # B_2k 2^(2k) / (2k (2k)!) = (-1)^(k + 1) zeta(2k) / (k pi^(2k)): 60 powers leave (1.5 / pi)^60 < 1e-19.
    k = _EVEN // 2
    result = np.zeros(int(_EVEN[-1]) - 1)
    result[_EVEN.astype(int) - 2] = np.where(k % 2 == 1, 1.0, -1.0) * zeta(_EVEN) / (k * np.pi**_EVEN)
    return result


@dataclass(frozen=True)
class UniformRow(AbstractSeriesRow):
    """A sum of uniforms on [-h_j, h_j]."""

    coefficients = _uniform_coefficients()
    radius = _NEAR

    def direct(self, u: ComplexArray) -> Bounded:
        """Log(sinh(u) / u) as u + log((1 - exp(-2 u)) / (2 u))."""
        small = np.abs(u) < 0.01
        # Even, and the right half-plane cannot overflow; where u is small, its series serves.
        right: ComplexArray = np.where(small, 1.0, np.where(u.real < 0, -u, u))
        w: ComplexArray = -np.expm1(-2.0 * right)
        size = np.maximum(np.abs(w), 1e-300)
        log_w = np.log(size) + 1j * np.arctan2(w.imag, w.real)
        log_u = np.log(2.0 * right)
        square = u * u
        series = square / 6 * (1 - square / 30 * (1 - square * (4 / 63) * (1 - square / 20)))
        lost = 8.0 * EPS * (size + 2.0 * np.abs(right) * np.exp(-2.0 * right.real))
        error = np.log1p(lost / size) + 8.0 * EPS * (np.abs(log_w) + np.abs(log_u) + np.abs(right) + 1.0)
        return summed(
            np.where(small, series, right + log_w - log_u),
            np.where(small, 16.0 * EPS * np.abs(series) + 1e-24 * np.abs(square), error),
        )

    def envelope(self, c: float, t: float) -> float:
        """|sinh(h s)| <= cosh(h c) and |s| >= t: sum_j min(0, log(c / (tanh(h c) |c + i t|)))."""
        h = self.scales
        growth = np.where(np.abs(h * c) < 1e-6, 1.0 / h, c / np.tanh(np.where(c == 0, 1.0, h * c)))
        return float(np.minimum(0.0, np.log(growth) - 0.5 * np.log(c * c + t * t)).sum()) if t > 0 else 0.0


row_of.register(Laplace, lambda data, w: LaplaceRow(np.abs(w * data.scale)[w != 0.0]))
row_of.register(Exponential, lambda data, w: ExponentialRow((w * data.scale)[w != 0.0]))
row_of.register(Uniform, lambda data, w: UniformRow(np.abs(w * (data.high - data.low) / 2)[w != 0.0]))
