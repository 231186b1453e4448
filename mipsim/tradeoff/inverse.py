"""The inverse of a trade-off function: the two worlds change places."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from scipy.special import ndtr

from mipsim._roots import crossing
from mipsim.tradeoff.base import AbstractTradeOff, inner_curve, rates
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff

_LEAST = 1e-300  # a rate that float64 holds with all digits
_Z_LEAST, _Z_MOST = -38.5, 8.3  # probits of the FPRs that float64 tells from 0 and from 1, with a margin


class InverseTradeOff(AbstractTradeOff):
    """f^-1(x) = inf{t : f(t) <= x}, found by bisection in the probit of t.

    As exact as f is, but where f^-1 nears 1: an FPR t of f is a float64, so that 1 - f^-1(x) is known to 1e-16
    absolutely. A member whose inverse has a closed form registers it with `inverse` and loses nothing there.

    Args:
        inner: f.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff
        >>> half = MixtureTradeOff(GaussianTradeOff(2.0), 0.5)
        >>> turned = InverseTradeOff(half)
        >>> round(float(turned.beta(half.beta(0.3))), 12)
        0.3
    """

    inner: AbstractTradeOff = inner_curve("inner")

    def _probit(self, x: np.ndarray) -> np.ndarray:
        flat = x.reshape(-1, 1)
        small = flat <= 0.5
        # Looked up once: every look at a method of a module makes an object.
        beta, tpr_at = self.inner.beta, self.inner.tpr_at

        def reached(z: np.ndarray) -> np.ndarray:
            alpha = ndtr(z)
            # Whichever of f and 1 - f is small decides; often one of them alone, for all of x.
            if small.all():
                return beta(alpha) <= flat
            if not small.any():
                return tpr_at(alpha) >= 1.0 - flat
            return np.where(small, beta(alpha) <= flat, tpr_at(alpha) >= 1.0 - flat)

        z = crossing(reached, flat.size, _Z_LEAST, _Z_MOST)[1].reshape(x.shape)
        z = np.where(z >= _Z_MOST, np.inf, z)
        return np.where(float(self.inner.tpr_at(0.0)) >= 1.0 - x, -np.inf, z)

    def beta(self, alpha: object) -> np.ndarray:
        return np.asarray(ndtr(self._probit(rates("alpha", alpha))))

    def tpr_at(self, fpr: object) -> np.ndarray:
        return np.asarray(ndtr(-self._probit(rates("fpr", fpr))))


@singledispatch
def inverse(curve: AbstractTradeOff) -> AbstractTradeOff:
    """The trade-off function with the worlds exchanged, f^-1(x) = inf{t : f(t) <= x}.

    A symmetric curve returns itself. Register a closed form for a new member beside its class.

    Source: Dong, Roth and Su (2022), lemma A.2.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, PiecewiseLinearTradeOff
        >>> inverse(GaussianTradeOff(1.0))
        GaussianTradeOff(mu=1.0)
        >>> float(inverse(PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0.1, 0])).beta(0.1))
        0.5
    """
    return InverseTradeOff(curve)


class InverseMixtureTradeOff(AbstractTradeOff):
    """The inverse of rho f + (1 - rho) Id: the null is the world in which the target may take part.

    Below x = 1/2 it is found by the FNR b of f, with rho b + (1 - rho)(1 - f^-1(b)) = x, so that small rates stay small
    numbers; above it by the FPR, as `InverseTradeOff` does.

    Args:
        mixture: the curve that is inverted.

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
        tpr_at, rho = self.mixture.inner.inverse().tpr_at, self.mixture.sampling_rate

        def too_far(z: np.ndarray) -> np.ndarray:
            b = ndtr(z)
            return rho * b + (1.0 - rho) * tpr_at(b) > x[:, None]

        return np.where(x > 0.0, ndtr(crossing(too_far, x.size, _Z_LEAST, _Z_MOST)[0]), 0.0)

    def _at(self, x: np.ndarray, name: str) -> np.ndarray:
        turned, left = self.mixture.inner.inverse(), 1.0 - self.mixture.sampling_rate
        # Where f is 0 before the FPR 1, the mixture is a straight line there; and so nearly where it is below 1e-300.
        flat = x < self.mixture.sampling_rate * _LEAST + left * float(turned.tpr_at(_LEAST))
        rare = (x <= 0.5) & ~flat
        value = np.empty(x.shape)
        if flat.any():
            value[flat] = x[flat] / left if name == "tpr_at" else 1.0 - x[flat] / left
        if rare.any():
            value[rare] = getattr(turned, name)(self._inner_fnr(x[rare]))
        if not (flat | rare).all():
            value[~(flat | rare)] = getattr(InverseTradeOff(self.mixture), name)(x[~(flat | rare)])
        return value

    def beta(self, alpha: object) -> np.ndarray:
        return self._at(rates("alpha", alpha), "beta")

    def tpr_at(self, fpr: object) -> np.ndarray:
        return self._at(rates("fpr", fpr), "tpr_at")


inverse.register(GaussianTradeOff, lambda curve: curve)
inverse.register(InverseTradeOff, lambda curve: curve.inner)
inverse.register(
    MixtureTradeOff, lambda curve: InverseMixtureTradeOff(curve) if curve.sampling_rate else curve
)
inverse.register(InverseMixtureTradeOff, lambda curve: curve.mixture)
