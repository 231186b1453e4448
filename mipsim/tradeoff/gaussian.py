"""The trade-off function of a Gaussian shift: mu-GDP."""

import math

import numpy as np
from scipy.special import erf, erfcx, log_ndtr, ndtr

from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.bounds import EPS, CurveBounds, log_complement, lowered, probit_of_log, raised


class GaussianTradeOff(AbstractTradeOff):
    """G_mu(alpha) = Phi(Phi^-1(1 - alpha) - mu): telling N(0, 1) from N(mu, 1).

    Args:
        mu: the shift, finite and >= 0; 0 is blind guessing.

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

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        if self.mu == 0.0:
            return CurveBounds.of_log_tpr(log_fpr, log_fpr, 0.0)
        z = probit_of_log(log_fpr)
        moved = 16.0 * EPS * (np.where(np.isfinite(z), np.abs(z), 0.0) + self.mu)
        w = z + self.mu
        return (
            CurveBounds(
                lowered(log_ndtr(-(w + moved))),
                raised(log_ndtr(-(w - moved))),
                lowered(log_ndtr(w - moved)),
                raised(log_ndtr(w + moved)),
            )
            .tightened()
            .where(log_fpr < 0.0, CurveBounds.of_log_tpr(log_fpr, log_fpr, 0.0))
        )

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self

    def largest_loss_bounds(self) -> tuple[float, float]:
        return (math.inf, math.inf) if self.mu else (0.0, 0.0)

    def mu_ceiling(self) -> float:
        return self.mu

    def least_mu_bounds(self) -> tuple[float, float]:
        return self.mu, self.mu

    def auc_bounds(self) -> tuple[float, float]:
        area = float(ndtr(self.mu * math.sqrt(0.5)))
        return area * (1.0 - 8.0 * EPS), min(1.0, area * (1.0 + 8.0 * EPS))

    def mu_and_regret_bounds(self) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.mu, self.mu), (0.0, 0.0)

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """log(Phi(x) - e^epsilon Phi(y)), x and y = -epsilon / mu +- mu / 2, by Mills ratios where that is small.

        Source: Dong, Roth and Su (2022), corollary 2.13; Balle and Wang (2018), theorem 8.
        """
        if self.mu == 0.0:
            return np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
        ratio, half = epsilon / self.mu, 0.5 * self.mu
        x, y = half - ratio, -half - ratio
        off = 4.0 * EPS * (ratio + half)
        rare = np.minimum(x, 1.0)
        with np.errstate(divide="ignore"):
            first, second = erfcx(-rare * math.sqrt(0.5)), erfcx(-y * math.sqrt(0.5))
            mills = np.log(0.5 * (first - second)) - 0.5 * rare**2
            lost = (
                (16.0 * EPS + 3.0 * off / np.maximum(1.0, np.abs(rare))) * (first + second) / (first - second)
            )
        error = lost + (np.abs(rare) + 1.0) * off + EPS * rare**2
        kept = np.logaddexp(log_ndtr(-np.maximum(x, 0.0)), np.log(0.5 * second) - 0.5 * x**2)
        slack = 16.0 * EPS + (np.abs(x) + 2.0) * off + EPS * x**2  # of the logarithm of the other rate
        likely = [log_complement(np.minimum(kept + sign * slack, 0.0)) for sign in (1.0, -1.0)]
        low, high = (
            np.where(x <= 1.0, mills + sign * error, value)
            for sign, value in zip((-1.0, 1.0), likely, strict=True)
        )
        centre = np.log(erf(half * math.sqrt(0.5)))
        low, high = np.where(epsilon == 0.0, centre, low), np.where(epsilon == 0.0, centre, high)
        return lowered(low), raised(high)
