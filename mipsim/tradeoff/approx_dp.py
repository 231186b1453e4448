"""The trade-off function of an (epsilon, delta) guarantee."""

from typing import Any

import numpy as np

from mipsim._validation import number
from mipsim.tradeoff.base import AbstractTradeOff, answered, rates, scalar
from mipsim.tradeoff.bounds import (
    CurveBounds,
    Vertices,
    at_nudged,
    log_complement,
    log_difference,
    lowered,
    raised,
)
from mipsim.tradeoff.sure_mass import SureMass

_LARGEST = 700.0
_LOG_HALF = -float(np.log(2.0))


def _line(log_fpr: np.ndarray, epsilon: float, delta: float) -> tuple[np.ndarray, np.ndarray]:
    """Logarithms of FNR and TPR of the curve of a guarantee."""
    with np.errstate(divide="ignore"):
        rest, slope = np.log1p(-delta), np.log(delta)
    paid = epsilon + log_fpr
    first = (
        rest + log_complement(np.minimum(paid - rest, 0.0)) if delta < 1.0 else np.full_like(log_fpr, -np.inf)
    )
    second = -epsilon + log_difference(np.full_like(log_fpr, rest), np.minimum(log_fpr, rest))
    fnr = np.maximum(first, second)
    tpr = np.minimum(np.logaddexp(slope, paid), 0.0)
    return fnr, np.where((tpr <= _LOG_HALF) & (first >= second), tpr, log_complement(fnr))


class ApproxDPTradeOff(AbstractTradeOff):
    """f(a) = max(0, 1 - delta - e^epsilon a, e^-epsilon (1 - delta - a)). Symmetric.

    Args:
        epsilon: in [0, 700]; stored as the field `at_epsilon`, since `epsilon` is the conversion.
        delta: in [0, 1]; stored as the field `at_delta`.

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
        number("epsilon", self.at_epsilon, 0.0, _LARGEST)
        number("delta", self.at_delta, 0.0, 1.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return at_nudged(lambda x: _line(x, self.at_epsilon, self.at_delta), log_fpr)

    def is_convex(self) -> bool:
        return True

    def inverse(self) -> AbstractTradeOff:
        return self

    def vertices(self) -> Vertices:
        with np.errstate(divide="ignore"):
            rest, slack = np.log1p(-self.at_delta), np.log(self.at_delta)
        both = np.logaddexp(0.0, self.at_epsilon)  # of 1 + e^epsilon
        low, high = np.logaddexp(slack - self.at_epsilon, 0.0) + self.at_epsilon - both, rest - both
        fpr = np.array([-np.inf, high, rest])
        bounds = CurveBounds.of_logs_within(
            [rest, high, -np.inf], [slack, low, 0.0], 4e-16 * self.at_epsilon + 1e-15
        )
        exact = fpr == -np.inf
        low = np.where(exact | (fpr == 0.0), fpr, lowered(fpr) - 1e-15)
        return Vertices(low, np.where(exact, fpr, raised(fpr + 1e-15)), bounds)

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        return self.at_delta, self.at_delta

    def largest_loss_bounds(self) -> tuple[float, float]:
        return (np.inf, np.inf) if self.at_delta else (self.at_epsilon, self.at_epsilon)

    def epsilon_bounds(self, delta: object = None, *, log_delta: object = None) -> tuple[Any, Any]:
        """(lower, upper) bound of `epsilon(delta)`; at the curve's own delta, exactly its own epsilon.

        Examples:
            >>> ApproxDPTradeOff(1.0, 1e-5).epsilon_bounds(1e-5)
            (1.0, 1.0)
        """
        low, high = super().epsilon_bounds(delta, log_delta=log_delta)
        if delta is None:
            return low, high
        own = rates("delta", delta) == self.at_delta
        low, high = (
            np.where(own, self.at_epsilon if self.at_delta < 1.0 else 0.0, end) for end in (low, high)
        )
        return answered(delta, (low, high))
