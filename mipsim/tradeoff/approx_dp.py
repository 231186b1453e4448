"""The trade-off functions of (epsilon, delta) guarantees: of one, and of a whole privacy profile."""

import numpy as np

from mipsim._validation import finite_vector, number
from mipsim.tradeoff.base import LARGEST_EXPONENT, AbstractTradeOff, rates, scalar
from mipsim.tradeoff.inverse import inverse


class ApproxDPTradeOff(AbstractTradeOff):
    """f(a) = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)). Symmetric.

    Args:
        epsilon: in [0, 700]; kept as the field `at_epsilon`, since `epsilon` is the conversion.
        delta: in [0, 1]; kept as the field `at_delta`.

    Source: Wasserman and Zhou (2010); Dong, Roth and Su (2022), proposition 2.5.

    Examples:
        >>> pure = ApproxDPTradeOff(1.0)
        >>> round(pure.advantage(), 6)  # tanh(1/2)
        0.462117
        >>> ApproxDPTradeOff(1.0, delta=2.0)
        Traceback (most recent call last):
        ...
        ValueError: delta is 2.0; it must be a finite number in [0, 1]
    """

    at_epsilon: float
    at_delta: float

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        self.at_epsilon, self.at_delta = scalar(epsilon), scalar(delta)

    def __check_init__(self) -> None:
        number("epsilon", self.at_epsilon, 0.0, LARGEST_EXPONENT)
        number("delta", self.at_delta, 0.0, 1.0)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        left = 1.0 - self.at_delta - np.exp(self.at_epsilon) * a
        right = np.exp(-self.at_epsilon) * (1.0 - a - self.at_delta)
        return np.asarray(np.maximum(np.maximum(left, right), 0.0))

    def tpr_at(self, fpr: object) -> np.ndarray:
        a = rates("fpr", fpr)
        left = self.at_delta + np.exp(self.at_epsilon) * a
        right = 1.0 - np.exp(-self.at_epsilon) * (1.0 - a - self.at_delta)
        return np.asarray(np.minimum(np.minimum(left, right), 1.0))


class DeltaProfileTradeOff(AbstractTradeOff):
    """The curve that follows from (epsilon[k], delta[k])-DP for every k, in both directions. Symmetric.

    f(a) = max over k of max(0, 1 - delta[k] - e^epsilon[k] a, e^-epsilon[k] (1 - delta[k] - a)): from the privacy
    profile of a mechanism at all epsilons it is the mechanism's own (symmetrised) curve; from a grid it is the
    largest curve below which the mechanism cannot be, hence safe.

    Args:
        epsilon: shape (m,), each in [0, 700].
        delta: shape (m,), each in [0, 1].

    Source: Dong, Roth and Su (2022), proposition 2.12.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> grid = np.linspace(0, 6, 2001)
        >>> again = DeltaProfileTradeOff(grid, GaussianTradeOff(1.0).delta(grid))
        >>> round(float(again.beta(0.05)), 6)  # of the Gaussian curve itself: 0.740489
        0.740489
    """

    at_epsilon: np.ndarray
    at_delta: np.ndarray

    def __init__(self, epsilon: object, delta: object) -> None:
        self.at_epsilon = finite_vector("epsilon", epsilon)
        self.at_delta = finite_vector("delta", delta, self.at_epsilon.size)

    def __check_init__(self) -> None:
        for name, values, most in (
            ("epsilon", self.at_epsilon, LARGEST_EXPONENT),
            ("delta", self.at_delta, 1.0),
        ):
            if (bad := (values < 0.0) | (values > most)).any():
                raise ValueError(f"{name} holds {values[bad][0]:g}; every entry must lie in [0, {most:g}]")

    def _lines(self, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Least TPR by a line of the left family, and largest FNR by one of the right family."""
        tpr, fnr = np.ones_like(a), np.zeros_like(a)
        for eps, delta in zip(self.at_epsilon, self.at_delta, strict=True):
            tpr = np.minimum(tpr, delta + np.exp(eps) * a)
            fnr = np.maximum(fnr, np.exp(-eps) * (1.0 - a - delta))
        return tpr, fnr

    def beta(self, alpha: object) -> np.ndarray:
        tpr, fnr = self._lines(rates("alpha", alpha))
        return np.asarray(np.maximum(1.0 - tpr, fnr))

    def tpr_at(self, fpr: object) -> np.ndarray:
        tpr, fnr = self._lines(rates("fpr", fpr))
        return np.asarray(np.minimum(tpr, 1.0 - fnr))


inverse.register(ApproxDPTradeOff, lambda curve: curve)
inverse.register(DeltaProfileTradeOff, lambda curve: curve)
