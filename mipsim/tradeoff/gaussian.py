"""The trade-off function of a Gaussian shift: mu-GDP."""

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim.tradeoff.base import AbstractTradeOff, rates, within


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

    def beta(self, alpha: object) -> np.ndarray:
        return np.asarray(ndtr(-ndtri(rates("alpha", alpha)) - self.mu))

    def tpr_at(self, fpr: object) -> np.ndarray:
        return np.asarray(ndtr(ndtri(rates("fpr", fpr)) + self.mu))
