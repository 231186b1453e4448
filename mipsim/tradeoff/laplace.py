"""The trade-off functions of the Laplace mechanism: of a shift, and of the magnitude."""

import numpy as np

from mipsim.tradeoff.base import LARGEST_EXPONENT, AbstractTradeOff, rates, within
from mipsim.tradeoff.inverse import inverse


class LaplaceTradeOff(AbstractTradeOff):
    """Telling L(0, b) from L(Delta, b), mu = Delta / b.

    f(a) = 1 - e^mu a for a < e^-mu / 2, e^-mu / (4a) for e^-mu / 2 <= a <= 1/2, e^-mu (1 - a) above. Symmetric.

    Args:
        mu: the shift in scales of the noise, finite and >= 0.

    Source: Dong, Roth and Su, "Gaussian differential privacy", proposition A.6.

    Examples:
        >>> LaplaceTradeOff(1.0).beta([0.1, 0.3, 0.8]).round(6).tolist()
        [0.728172, 0.306566, 0.073576]
    """

    mu: float = within("mu", 0.0)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        least = np.exp(-self.mu)
        middle = 0.25 * least / np.maximum(a, max(0.25 * least, 1e-300))
        return np.where(a < 0.5 * least, 1.0 - self._steep(a), np.where(a <= 0.5, middle, least * (1.0 - a)))

    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR at the FPR `fpr`: e^mu fpr where that is below 1/2."""
        a = rates("fpr", fpr)
        return np.where(a < 0.5 * np.exp(-self.mu), self._steep(a), 1.0 - self.beta(a))

    def _steep(self, a: np.ndarray) -> np.ndarray:
        # Only a below e^-mu / 2 is asked for: two steps keep e^mu from overflowing, and every digit.
        half = np.exp(0.5 * min(self.mu, 1400.0))
        return np.minimum(a * half, 1.0 / half) * half


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

    mu: float = within("mu", 0.0, LARGEST_EXPONENT)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        least = np.exp(-self.mu)
        safe = np.maximum(a, least)
        # sinh(-log a) = (1 - a)(1 + a) / 2a keeps its digits near a = 1.
        return np.where(
            a <= least, 1.0 - a * np.cosh(self.mu), least * (1.0 - safe) * (1.0 + safe) / (2 * safe)
        )

    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR at the FPR `fpr`: fpr cosh(mu) up to fpr = e^-mu."""
        a = rates("fpr", fpr)
        return np.where(a <= np.exp(-self.mu), a * np.cosh(self.mu), 1.0 - self.beta(a))


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

    mu: float = within("mu", 0.0, LARGEST_EXPONENT)

    def _parts(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        u = a * np.exp(self.mu)
        return a < -0.5 * np.expm1(-2.0 * self.mu), u, np.hypot(u, 1.0)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        low, u, root = self._parts(a)
        return np.where(low, 1.0 / (root + u), (1.0 - a) / np.cosh(self.mu))

    def tpr_at(self, fpr: object) -> np.ndarray:
        a = rates("fpr", fpr)
        low, u, root = self._parts(a)
        curved = np.where(u < 1.0, u - u * (u / (root + 1.0)), 1.0 - 1.0 / (root + u))
        # 1 - (1 - a) / cosh = (2 sinh(mu/2)^2 + a) / cosh, which keeps its digits at small mu.
        straight = (2.0 * np.sinh(0.5 * self.mu) ** 2 + a) / np.cosh(self.mu)
        return np.where(low, curved, straight)


inverse.register(LaplaceTradeOff, lambda curve: curve)
inverse.register(FoldedLaplaceTradeOff, lambda curve: InverseFoldedLaplaceTradeOff(curve.mu))
inverse.register(InverseFoldedLaplaceTradeOff, lambda curve: FoldedLaplaceTradeOff(curve.mu))
