"""A trade-off function that is known between two others."""

from __future__ import annotations

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff, inner_curve, within
from mipsim.tradeoff.bounds import CurveBounds, log_difference


class BoundedTradeOff(AbstractTradeOff):
    """A curve between two bounds, lower <= f <= upper, which are at hand for a certified statement.

    Args:
        lower: a trade-off function that is nowhere above the true one: it overstates the leakage.
        upper: one that is nowhere below it, but for rounding.
        rounding: allowance for rounding of the FNR in both, in [0, 1].
        sideways: the same of the FPR; the inverse of a curve has the two exchanged. The truth lies within
            [lower(alpha + sideways) - rounding, upper(alpha - sideways) + rounding].

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> between = BoundedTradeOff(GaussianTradeOff(1.01), GaussianTradeOff(0.99))
        >>> [round(float(bound), 4) for bound in between.beta_bounds(0.05)], round(between.beta(0.05), 4)
        ([0.7372, 0.7437], 0.7372)
    """

    lower: AbstractTradeOff = inner_curve("lower")
    upper: AbstractTradeOff = inner_curve("upper")
    rounding: float = within("rounding", 0.0, 1.0, default=0.0)
    sideways: float = within("sideways", 0.0, 1.0, default=0.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        more = np.minimum(np.logaddexp(log_fpr, np.log(self.sideways)), 0.0) if self.sideways else log_fpr
        fewer = (
            log_difference(log_fpr, np.minimum(np.log(self.sideways), log_fpr)) if self.sideways else log_fpr
        )
        low, high = self.lower.enclosure(more), self.upper.enclosure(fewer)
        if not self.rounding:
            return CurveBounds(low.log_fnr_low, high.log_fnr_high, high.log_tpr_low, low.log_tpr_high)
        off = np.log(self.rounding)
        return CurveBounds(
            log_difference(low.log_fnr_low, np.minimum(off, low.log_fnr_low)),
            np.minimum(np.logaddexp(high.log_fnr_high, off), 0.0),
            log_difference(high.log_tpr_low, np.minimum(off, high.log_tpr_low)),
            np.minimum(np.logaddexp(low.log_tpr_high, off), 0.0),
        )

    def is_convex(self) -> bool:
        return self.lower.is_convex() and self.upper.is_convex()

    def inverse(self) -> AbstractTradeOff:
        return BoundedTradeOff(
            self.lower.inverse(), self.upper.inverse(), rounding=self.sideways, sideways=self.rounding
        )
