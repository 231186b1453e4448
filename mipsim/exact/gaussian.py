"""Scores that are polynomials of degree two in a Gaussian output."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr, ndtri, ndtri_exp

from mipsim.exact.complex_arrays import ComplexArray
from mipsim.exact.inversion import InvertedLaw
from mipsim.exact.law import AbstractScoreLaw, Thresholds
from mipsim.exact.rounding import EPS, log_one_plus
from mipsim.exact.transform import AbstractTransform, Tail, largest_log_modulus
from mipsim.special import noncentral_chi_square

_SAME = 1e-12


@dataclass(frozen=True)
class NormalLaw(AbstractScoreLaw):
    """N(mean_w, sd_w^2) in world w = out, in; exact to rounding.

    Attributes:
        mean, sd: shape (2,).

    Examples:
        >>> law = NormalLaw(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
        >>> print(law.sf(0.0, inside=True).round(6), law.threshold_at(0.5))
        0.841345 0.0
    """

    mean: np.ndarray
    sd: np.ndarray

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score > threshold)."""
        return log_ndtr((self.mean[int(inside)] - np.asarray(threshold, float)) / self.sd[int(inside)])

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score <= threshold)."""
        return log_ndtr((np.asarray(threshold, float) - self.mean[int(inside)]) / self.sd[int(inside)])

    def threshold_at(self, alpha: object) -> np.ndarray:
        """mean_out - sd_out Phi^-1(alpha)."""
        a = np.asarray(alpha, float)
        with np.errstate(divide="ignore"):
            probit = np.where(a < 0.1, ndtri_exp(np.log(a)), ndtri(a))
        return self.mean[0] - self.sd[0] * probit

    def previous(self, threshold: Thresholds) -> np.ndarray:
        """The threshold: there are no atoms."""
        return np.asarray(threshold, float)

    @property
    def error_bound(self) -> float:
        """Rounding."""
        return 4e-15

    @property
    def error_estimate(self) -> float:
        """Rounding."""
        return 4e-15


@dataclass(frozen=True)
class ChiSquareLaw(AbstractScoreLaw):
    """shift_w + scale_w chi2_d(noncentrality_w), all scales of one sign.

    Attributes:
        d: degrees of freedom.
        shift, scale, noncentrality: shape (2,).

    Examples:
        >>> law = ChiSquareLaw(2, np.zeros(2), np.array([-1.0, -1.0]), np.array([0.0, 1.0]))
        >>> print(law.cdf(-2.0, inside=False).round(6))  # P(chi2_2 >= 2) = exp(-1)
        0.367879
    """

    d: int
    shift: np.ndarray
    scale: np.ndarray
    noncentrality: np.ndarray

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score > threshold)."""
        w = int(inside)
        x = (np.asarray(threshold, float) - self.shift[w]) / self.scale[w]
        tail = noncentral_chi_square.logsf if self.scale[w] > 0 else noncentral_chi_square.logcdf
        return tail(x, self.d, self.noncentrality[w])

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score <= threshold)."""
        w = int(inside)
        x = (np.asarray(threshold, float) - self.shift[w]) / self.scale[w]
        tail = noncentral_chi_square.logcdf if self.scale[w] > 0 else noncentral_chi_square.logsf
        return tail(x, self.d, self.noncentrality[w])

    def threshold_at(self, alpha: object) -> np.ndarray:
        """From the quantile of the chi-square."""
        a = np.asarray(alpha, float)
        inner = (a > 0.0) & (a < 1.0)
        quantile = noncentral_chi_square.isf if self.scale[0] > 0 else noncentral_chi_square.ppf
        x = self.shift[0] + self.scale[0] * quantile(np.where(inner, a, 0.5), self.d, self.noncentrality[0])
        return np.where(inner, x, np.where(a <= 0.0, np.inf, -np.inf))

    def previous(self, threshold: Thresholds) -> np.ndarray:
        """The threshold: there are no atoms."""
        return np.asarray(threshold, float)

    @property
    def error_bound(self) -> float:
        """That of `mipsim.special.noncentral_chi_square`."""
        return 1e-10

    @property
    def error_estimate(self) -> float:
        """That of `mipsim.special.noncentral_chi_square`."""
        return 1e-10


@dataclass(frozen=True)
class QuadraticTransform(AbstractTransform):
    """constant_w + sum_j (slope_wj Z_j + curve_wj Z_j^2), Z_j standard normal.

    K(s) = sum_j s^2 slope^2 / (2 (1 - 2 s curve)) - log(1 - 2 s curve) / 2, less the mean.

    Attributes:
        constant: shape (2,).
        slope, curve: shape (2, d).
    """

    constant: np.ndarray
    slope: np.ndarray
    curve: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Constant + sum of the curves."""
        return self.constant + self.curve.sum(axis=1)

    @property
    def log_mass(self) -> np.ndarray:
        """Zero."""
        return np.zeros(2)

    @property
    def step(self) -> float | None:
        """None: the score has a density."""
        return None

    @property
    def anchor(self) -> np.ndarray:
        """Unused."""
        return self.mean

    @property
    def strip(self) -> tuple[float, float]:
        """2 s curve < 1 everywhere."""
        low, high = float(self.curve.min()), float(self.curve.max())
        return (0.5 / low if low < 0 else -np.inf), (0.5 / high if high > 0 else np.inf)

    def cumulant(self, s: ComplexArray) -> ComplexArray:
        """K_w(s), shape (2, T)."""
        u = 2.0 * self.curve[:, :, None] * s
        gauss = 0.5 * np.square(self.slope[:, :, None] * s) / (1.0 - u)
        return (gauss - 0.5 * (log_one_plus(-u, np.zeros(u.shape))[0] + u)).sum(axis=1)

    def log_modulus(self, c: float, t: np.ndarray) -> np.ndarray:
        """The real part of the cumulants, less that at c."""
        return largest_log_modulus(self, c, t)

    def rounding(self, s: ComplexArray) -> np.ndarray:
        """Of the logarithms, and of the quotients with 1 - 2 s curve."""
        u = 2.0 * self.curve[:, :, None] * s
        gauss = 0.5 * np.square(self.slope[:, :, None] * s) / (1.0 - u)
        value, error = log_one_plus(-u, 4.0 * EPS * np.abs(u))
        lost = 8.0 * EPS * np.abs(gauss) * (1.0 + np.abs(u) / np.abs(1.0 - u))
        terms = error + lost + 4.0 * EPS * np.abs(u) + 40.0 * EPS * (np.abs(gauss) + np.abs(value + u))
        return terms.sum(axis=1).max(axis=0)

    @property
    def shift(self) -> float:
        """Of the constant and the sum of the curves."""
        return 8.0 * EPS * float((np.abs(self.constant) + np.abs(self.curve).sum(axis=1)).max())

    def quiet_from(self, c: float, start: float, stop: float, span: tuple[float, float]) -> float:
        """Start: the nodes themselves tell, since the modulus never rises."""
        return start

    def tail(self, c: float, spacing: float, first: int, span: tuple[float, float]) -> Tail:
        """The modulus itself falls with the frequency, in each factor."""
        total, height, k = 0.0, 1.0, first + 1
        at = self.cumulant(np.array([complex(c)])).real
        for _ in range(200):
            height = float(np.exp(self.cumulant(np.array([c + 1j * k * spacing])).real - at).max())
            total += height * (1.0 / k + np.log(2.0))
            if height < 1e-30:
                break
            k *= 2
        # Beyond, each factor falls by 2^(-1/2) at least with every doubling.
        return Tail(total + 4.0 * height, np.inf)


def quadratic_law(constant: np.ndarray, slope: np.ndarray, curve: np.ndarray) -> AbstractScoreLaw:
    """The law of constant_w + sum_j (slope_wj Z_j + curve_wj Z_j^2): normal, chi-square, or by inversion.

    Args:
        constant: shape (2,), worlds out and in.
        slope: shape (2, d).
        curve: shape (2, d).

    Examples:
        >>> quadratic_law(np.zeros(2), np.ones((2, 3)), np.zeros((2, 3))).sd.round(6)
        array([1.732051, 1.732051])
        >>> quadratic_law(np.zeros(2), np.ones((2, 3)), np.full((2, 3), 0.5)).noncentrality
        array([3., 3.])
    """
    sd = np.sqrt(np.sum(slope**2, axis=1))
    size = np.abs(curve).max(axis=1)
    if (size <= 1e-15 * sd).all():
        return NormalLaw(constant + curve.sum(axis=1), sd)
    if (np.abs(curve - curve[:, :1]) <= _SAME * size[:, None]).all() and (curve[0, 0] > 0) == (
        curve[1, 0] > 0
    ):
        scale = curve.mean(axis=1)
        centre = slope / (2.0 * curve)  # curve (Z + centre)^2
        noncentrality = np.sum(centre**2, axis=1)
        return ChiSquareLaw(slope.shape[1], constant - scale * noncentrality, scale, noncentrality)
    return InvertedLaw(QuadraticTransform(constant, slope, curve))
