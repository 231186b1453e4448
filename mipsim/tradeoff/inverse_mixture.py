"""The inverse of a mixture with blind guessing, to full accuracy at both ends."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from mipsim._roots import crossing
from mipsim.tradeoff.base import AbstractTradeOff, rates
from mipsim.tradeoff.inverse import InverseTradeOff, inverse
from mipsim.tradeoff.mixture import MixtureTradeOff

_Z_LEAST, _Z_MOST = -38.0, 8.25
"""Probits of the least and of the largest FPR that float64 tells from 0 and from 1."""


class InverseMixtureTradeOff(AbstractTradeOff):
    """The inverse of rho f + (1 - rho) Id: the null is the world in which the target may take part.

    Below x = 1/2 it is found by the FNR b of f, with rho b + (1 - rho)(1 - f^-1(b)) = x, so that small rates stay small
    numbers; above it by the FPR, as `InverseTradeOff` does.

    Args:
        mixture: the curve that is inverted.

    Raises:
        ValueError: if it is not a `MixtureTradeOff`.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> turned = InverseMixtureTradeOff(MixtureTradeOff(GaussianTradeOff(1.0), 0.5))
        >>> float(turned.tpr_at(1e-30)) / 1e-30  # 1 / (1 - rho) at rare rates
        2.0
    """

    mixture: MixtureTradeOff

    def __check_init__(self) -> None:
        if not isinstance(self.mixture, MixtureTradeOff):
            raise ValueError(f"mixture is {type(self.mixture).__name__}; it must be a MixtureTradeOff")

    def _inner_fnr(self, x: np.ndarray) -> np.ndarray:
        turned, rho = self.mixture.inner.inverse(), self.mixture.rho

        def too_far(z: np.ndarray) -> np.ndarray:
            b = ndtr(z)
            return rho * b + (1.0 - rho) * turned.tpr_at(b) > x[:, None]

        return np.where(x > 0.0, ndtr(crossing(too_far, x.size, _Z_LEAST, _Z_MOST)[0]), 0.0)

    def _at(self, x: np.ndarray, name: str) -> np.ndarray:
        rare = x <= 0.5
        value = np.empty(x.shape)
        if rare.any():
            value[rare] = getattr(self.mixture.inner.inverse(), name)(self._inner_fnr(x[rare]))
        if not rare.all():
            value[~rare] = getattr(InverseTradeOff(self.mixture), name)(x[~rare])
        return value

    def beta(self, alpha: object) -> np.ndarray:
        return self._at(rates("alpha", alpha), "beta")

    def tpr_at(self, fpr: object) -> np.ndarray:
        return self._at(rates("fpr", fpr), "tpr_at")


@inverse.register
def _(curve: MixtureTradeOff) -> AbstractTradeOff:
    return curve if curve.rho == 0.0 else InverseMixtureTradeOff(curve)


@inverse.register
def _(curve: InverseMixtureTradeOff) -> AbstractTradeOff:
    return curve.mixture
