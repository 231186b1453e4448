"""The trade-off functions of the Laplace mechanism: of a shift, and of the magnitude."""

import abc

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.bounds import CurveBounds, at_nudged, log_complement

_LOG2 = float(np.log(2.0))


def _log_cosh(mu: float) -> float:
    return float(
        np.log1p(2.0 * np.sinh(0.5 * mu) ** 2) if mu < 1.0 else mu + np.log1p(np.exp(-2.0 * mu)) - _LOG2
    )


class AbstractNoiseShift(AbstractTradeOff):
    """Telling a noise of largest privacy loss `mu` from its shift by mu scales: convex and symmetric."""

    mu: float = within("mu", 0.0)

    @abc.abstractmethod
    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The natural logarithms of FNR and TPR, but for rounding."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return at_nudged(self._logs, log_fpr)

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self

    def largest_loss_bounds(self) -> tuple[float, float]:
        return self.mu, self.mu


class LaplaceTradeOff(AbstractNoiseShift):
    """Telling L(0, b) from L(Delta, b), mu = Delta / b.

    f(a) = 1 - e^mu a for a < e^-mu / 2, e^-mu / (4a) for e^-mu / 2 <= a <= 1/2, e^-mu (1 - a) above. Symmetric.

    Args:
        mu: the shift in scales of the noise, finite and >= 0.

    Source: Dong, Roth and Su, "Gaussian differential privacy", proposition A.6.

    Examples:
        >>> LaplaceTradeOff(1.0).beta([0.1, 0.3, 0.8]).round(6).tolist()
        [0.728172, 0.306566, 0.073576]
    """

    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        steep, last = log_fpr < -self.mu - _LOG2, log_fpr > -_LOG2
        tpr = np.minimum(self.mu + np.minimum(log_fpr, -self.mu), 0.0)
        fnr = -self.mu + np.where(
            last, log_complement(log_fpr), -2.0 * _LOG2 - np.maximum(log_fpr, -self.mu - _LOG2)
        )
        return np.where(steep, log_complement(tpr), fnr), np.where(steep, tpr, log_complement(fnr))


class FoldedLaplaceTradeOff(AbstractTradeOff):
    """Telling |L(0, b)| from |L(Delta, b)|: the attacker sees how far the output is, not to which side.

    j(a) = 1 - a cosh(mu) for a <= e^-mu, e^-mu sinh(-log a) above, mu = Delta / b. Not symmetric.

    Args:
        mu: the shift in scales of the noise, finite and >= 0, at most 700.

    Source: Kaissis et al., relaxed threat model, theorem 1.

    Examples:
        >>> FoldedLaplaceTradeOff(1.0).beta([0.1, 0.8]).round(6).tolist()
        [0.845692, 0.082773]
    """

    mu: float = within("mu", 0.0, 700.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return at_nudged(self._logs, log_fpr)

    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        straight = log_fpr <= -self.mu
        tpr = np.minimum(_log_cosh(self.mu) + np.minimum(log_fpr, -self.mu), 0.0)
        x = np.maximum(log_fpr, -self.mu)  # sinh(-x) = e^-x (1 - e^2x) / 2
        fnr = np.minimum(log_complement(2.0 * x) - (self.mu + x) - _LOG2, 0.0)
        return np.where(straight, log_complement(tpr), fnr), np.where(straight, tpr, log_complement(fnr))

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return InverseFoldedLaplaceTradeOff(self.mu)

    def largest_loss_bounds(self) -> tuple[float, float]:
        loss = _log_cosh(self.mu)
        return loss * (1.0 - 1e-15), loss * (1.0 + 1e-15)


class InverseFoldedLaplaceTradeOff(AbstractTradeOff):
    """The inverse of `FoldedLaplaceTradeOff`: the record is a member under the null.

    j^-1(a) = sqrt(u^2 + 1) - u with u = a e^mu for a < (1 - e^-2mu) / 2, (1 - a) / cosh(mu) above.

    Args:
        mu: as there.

    Source: Kaissis et al., relaxed threat model, theorem 1.

    Examples:
        >>> j, turned = FoldedLaplaceTradeOff(1.0), InverseFoldedLaplaceTradeOff(1.0)
        >>> turned.beta(j.beta([0.1, 0.8])).round(12).tolist()
        [0.1, 0.8]
    """

    mu: float = within("mu", 0.0, 700.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return at_nudged(self._logs, log_fpr)

    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        curved = log_fpr < log_complement(-2.0 * self.mu) - _LOG2
        u = log_fpr + self.mu
        fnr = np.where(
            curved, -np.arcsinh(np.exp(np.minimum(u, 700.0))), log_complement(log_fpr) - _log_cosh(self.mu)
        )
        return fnr, np.where(curved & (u < -40.0), u, log_complement(fnr))

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return FoldedLaplaceTradeOff(self.mu)

    def largest_loss_bounds(self) -> tuple[float, float]:
        return self.mu, self.mu
