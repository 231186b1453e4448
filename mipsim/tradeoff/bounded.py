"""A trade-off function that is known between two others."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from mipsim.tradeoff.base import LARGEST_EXPONENT, AbstractTradeOff, inner_curve, rates, within
from mipsim.tradeoff.inverse import inverse


class BoundedTradeOff(AbstractTradeOff):
    """The curve half-way between two bounds, lower <= f <= upper, which are at hand for a certified statement.

    Args:
        lower: a trade-off function that is nowhere above the true one: it overstates the leakage.
        upper: one that is nowhere below it, but for rounding.
        rounding: allowance for rounding of the FNR in both, in [0, 1].
        sideways: the same of the FPR; the inverse of a curve has the two exchanged. The truth lies within
            [lower(alpha + sideways) - rounding, upper(alpha - sideways) + rounding].

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> between = BoundedTradeOff(GaussianTradeOff(1.01), GaussianTradeOff(0.99))
        >>> [round(float(bound), 4) for bound in between.beta_bracket(0.05)], round(float(between.beta(0.05)), 4)
        ([0.7372, 0.7437], 0.7405)
    """

    lower: AbstractTradeOff = inner_curve("lower")
    upper: AbstractTradeOff = inner_curve("upper")
    rounding: float = within("rounding", 0.0, 1.0, default=0.0)
    sideways: float = within("sideways", 0.0, 1.0, default=0.0)

    def beta(self, alpha: object) -> np.ndarray:
        return np.asarray(0.5 * (self.lower.beta(alpha) + self.upper.beta(alpha)))

    def tpr_at(self, fpr: object) -> np.ndarray:
        return np.asarray(0.5 * (self.lower.tpr_at(fpr) + self.upper.tpr_at(fpr)))

    def beta_bracket(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bound of the FNR at the FPR `alpha`, rounding included."""
        a = rates("alpha", alpha)
        low = self.lower.beta(np.minimum(a + self.sideways, 1.0)) - self.rounding
        high = self.upper.beta(np.maximum(a - self.sideways, 0.0)) + self.rounding
        high = np.where(a >= self.sideways, high, 1.0)
        return np.maximum(low, 0.0), np.minimum(high, 1.0 - a)

    def delta_bounds(self, epsilon: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bound of delta(epsilon), rounding included.

        Examples:
            >>> from mipsim.tradeoff import ApproxDPTradeOff
            >>> between = BoundedTradeOff(ApproxDPTradeOff(1.0, 0.2), ApproxDPTradeOff(1.0, 0.1))
            >>> [round(float(bound), 9) for bound in between.delta_bounds(1.0)]
            [0.1, 0.2]
        """
        low, high = self.upper.delta(epsilon), self.lower.delta(epsilon)
        slack = self.rounding
        if self.sideways:  # delta is the largest 1 - f(alpha) - e^epsilon alpha
            slack = slack + self.sideways * np.exp(
                np.minimum(np.asarray(epsilon, np.float64), LARGEST_EXPONENT)
            )
        return np.maximum(low - slack, 0.0), np.minimum(high + slack, 1.0)

    def error(self) -> float:
        """About the largest distance of the curve from the truth: half of the gap between the bounds at 4001 FPRs, with rounding.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> BoundedTradeOff(GaussianTradeOff(1.0), GaussianTradeOff(1.0)).error()
            0.0
        """
        low, high = self.beta_bracket(alpha := ndtr(np.linspace(-8.0, 8.0, 4001)))
        middle = self.beta(alpha)
        return max(0.0, float(np.maximum(high - middle, middle - low).max()))


@inverse.register
def _(curve: BoundedTradeOff) -> AbstractTradeOff:
    return BoundedTradeOff(
        curve.lower.inverse(), curve.upper.inverse(), rounding=curve.sideways, sideways=curve.rounding
    )
