"""The trade-off function of a Gaussian shift: mu-GDP."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.special import erf, erfc, erfcx, log_ndtr, ndtr

from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, lowered, probit_of_log, raised
from mipsim.tradeoff.sure_mass import SureMass


class GaussianTradeOff(AbstractTradeOff):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): telling N(0, 1) from N(mu, 1).

    Args:
        mu: the shift, finite and >= 0; 0 is blind guessing.
        slack: relative error of mu, where it is itself a rounded number; all bounds hold with it.

    Source: Dong, Roth and Su, "Gaussian differential privacy", definition 2.6.

    Examples:
        >>> claim = GaussianTradeOff(1.0)
        >>> round(float(claim.beta(0.05)), 6)
        0.740489
        >>> round(float(claim.tpr_at(1e-9)), 12)
        2.8993e-07
        >>> GaussianTradeOff(-1.0)
        Traceback (most recent call last):
        ...
        ValueError: mu is -1.0; it must be a finite number in [0, inf)
    """

    mu: float = within("mu", 0.0)
    slack: float = within("slack", 0.0, 1.0, default=0.0, repr=False)

    @classmethod
    def of_squares(cls, parts: Sequence[tuple["GaussianTradeOff", int]]) -> "GaussianTradeOff":
        """The composition of curves, each so many times: mu^2 is the sum of theirs; `slack` is 0 where its root is no rounded number.

        Examples:
            >>> print(GaussianTradeOff.of_squares([(GaussianTradeOff(3.0), 1), (GaussianTradeOff(2.0), 4)]).slack)
            0.0
        """
        square = sum(count * Fraction(curve.mu) ** 2 for curve, count in parts)
        largest = Fraction(max(curve.mu for curve, _ in parts))
        root = float(largest) * math.sqrt(square / largest**2) if largest else 0.0
        rounded = 2.0 * EPS if Fraction(root) ** 2 != square else 0.0
        return cls(root, max(curve.slack for curve, _ in parts) + rounded)

    @classmethod
    def of_noise(cls, shift: float, scale: float) -> "GaussianTradeOff":
        """The curve of a shift under noise of a standard deviation.

        Examples:
            >>> GaussianTradeOff.of_noise(1.0, 0.25), GaussianTradeOff.of_noise(1.0, 3.0).slack > 0.0
            (GaussianTradeOff(mu=4.0), True)
        """
        mu = shift / scale
        return cls(mu, EPS if Fraction(mu) * Fraction(scale) != Fraction(shift) else 0.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        if self.mu == 0.0:
            return CurveBounds.of_log_tpr(log_fpr, log_fpr, 0.0)
        z = probit_of_log(log_fpr)
        moved = (16.0 * EPS + self.slack) * (np.where(np.isfinite(z), np.abs(z), 0.0) + self.mu)
        w = z + self.mu
        result = CurveBounds.of_probit(-(w + moved), -(w - moved))
        return result.where(log_fpr < 0.0, CurveBounds.of_log_tpr(log_fpr, log_fpr, 0.0))

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self

    def largest_loss_bounds(self) -> tuple[float, float]:
        return (math.inf, math.inf) if self.mu else (0.0, 0.0)

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        return 0.0, 0.0

    def mu_ceiling(self) -> float:
        return self.least_mu_bounds()[1]

    def least_mu_bounds(self) -> tuple[float, float]:
        return self.mu * (1.0 - self.slack), self.mu * (1.0 + self.slack)

    def auc_bounds(self) -> tuple[float, float]:
        area = float(ndtr(self.mu * math.sqrt(0.5)))
        rounding = 8.0 * EPS + self.slack
        return area * (1.0 - rounding), min(1.0, area * (1.0 + rounding))

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log(Phi(x) - e^epsilon Phi(y)), x and y = -epsilon / mu +- mu / 2, by Mills ratios where that is small.

        Source: Dong, Roth and Su (2022), corollary 2.13; Balle and Wang (2018), theorem 8.
        """
        if self.mu == 0.0:
            return np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
        with np.errstate(over="ignore"):
            ratio, half = np.minimum(epsilon / self.mu, 1e150), 0.5 * self.mu
        x, y = half - ratio, -half - ratio
        off = (4.0 * EPS + self.slack) * (ratio + half)
        rare = np.minimum(x, 1.0)
        second = erfcx(-y * math.sqrt(0.5))
        tail = 0.5 * rare**2 + 0.5 * math.log(2.0 * math.pi)
        fall = self._mills_fall(-rare)
        error = (np.abs(rare) + 1.0) * off + EPS * tail + self.slack
        retained = np.logaddexp(log_ndtr(-np.maximum(x, 0.0)), np.log(0.5 * second) - 0.5 * x**2)
        slack = 16.0 * EPS + (np.abs(x) + 2.0) * off + EPS * x**2  # of the logarithm of the other rate
        likely = [log_complement(np.minimum(retained + sign * slack, 0.0)) for sign in (1.0, -1.0)]
        low, high = (
            np.where(x <= 1.0, end - tail + sign * error, value)
            for sign, end, value in zip((-1.0, 1.0), fall, likely, strict=True)
        )
        low = np.where(ratio >= 1e150, -np.inf, low)  # it is below e^-1e299
        if half < 1.0:  # erf(h) is proportional to h where mu^2 / 24 is rounding
            least = self.mu < 1e-8
            centre = (
                math.log(self.mu) - 0.5 * math.log(2.0 * math.pi)
                if least
                else math.log(erf(half * math.sqrt(0.5)))
            )
        else:
            centre = math.log1p(-erfc(half * math.sqrt(0.5)))
        slack = (16.0 + self.mu**2) * (EPS + self.slack) * abs(centre)  # of erfc, whose argument is rounded
        low, high = (
            np.where(epsilon == 0.0, centre + sign * slack, end) for sign, end in ((-1.0, low), (1.0, high))
        )
        return lowered(low), raised(high)

    def _mills_fall(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Bounds of the logarithm of R(t) - R(t + mu), t >= -1, where R(t) = Phi(-t) / phi(t) is Mills' ratio.

        It is the integral of 1 - s R(s), which is convex and lies between 1 / (s^2 + 3) and 1 / (s^2 + 1) for s >= 0: so it is between
        mu times the value in the middle and mu times the mean of both ends. The difference itself is better unless mu is small.

        Source: Baricz (2008), "Mills' ratio: monotonicity patterns and functional inequalities".
        """
        mu, root = self.mu, math.sqrt(0.5)

        def ratio(s: np.ndarray) -> np.ndarray:
            return math.sqrt(0.5 * math.pi) * erfcx(s * root)

        def slope(s: np.ndarray, sign: float) -> np.ndarray:
            part = s * ratio(s)
            value = 1.0 - part + sign * 16.0 * EPS * (1.0 + np.abs(part))
            sure = 1.0 / (np.maximum(s, 0.0) ** 2 + (3.0 if sign < 0.0 else 1.0))
            return (
                np.maximum(value, sure) if sign < 0.0 else np.where(s >= 0.0, np.minimum(value, sure), value)
            )

        first, second = ratio(t), ratio(t + mu)
        rounding = 16.0 * EPS * (first + second)
        with np.errstate(divide="ignore"):
            low = np.maximum(
                np.log(np.maximum(first - second - rounding, 0.0)),
                math.log(mu) + np.log(slope(t + 0.5 * mu, -1.0)),
            )
            mean = 0.5 * (slope(t, 1.0) + slope(t + mu, 1.0))
            high = np.minimum(np.log(first - second + rounding), math.log(mu) + np.log(mean))
        size = np.where(np.isneginf(high), 0.0, np.abs(high))
        return lowered(low) - 4.0 * EPS, np.maximum(high + 8.0 * EPS * (1.0 + size), -1e300)
