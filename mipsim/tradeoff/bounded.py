"""A trade-off function that is known between two others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff, inner_curve, within
from mipsim.tradeoff.bounds import CurveBounds, log_difference
from mipsim.tradeoff.sure_mass import SureMass

Ends = tuple[np.ndarray, np.ndarray]


class BoundedTradeOff(AbstractTradeOff):
    """A curve between two bounds, lower <= f <= upper, which are at hand for a certified statement.

    Args:
        lower: a trade-off function that is nowhere above the true curve: it overstates the leakage.
        upper: a trade-off function that is nowhere below it, but for rounding.
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

    def _log_delta(self, epsilon: np.ndarray) -> Ends:
        return self._between(lambda end: end._log_delta(epsilon)) or super()._log_delta(epsilon)

    def _epsilon(self, log_delta: np.ndarray) -> Ends:
        return self._between(lambda end: end._epsilon(log_delta)) or super()._epsilon(log_delta)

    def _supremum(self, objective: Any, queries: int, enough: Any) -> Ends:
        rises = self._between(lambda end: end._supremum(objective, queries, enough))
        return rises or super()._supremum(objective, queries, enough)

    def largest_loss_bounds(self) -> tuple[float, float]:
        return self._between(lambda end: end.largest_loss_bounds()) or super().largest_loss_bounds()

    def _between(self, rises: Callable[[AbstractTradeOff], tuple[Any, Any]]) -> tuple[Any, Any] | None:
        """Bounds of what rises with leakage, from those of both curves; None where these are moved by rounding."""
        if self.rounding or self.sideways:
            return None
        return np.minimum(rises(self.upper)[0], high := rises(self.lower)[1]), high

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        return self._between(lambda end: end._sure_mass(inside=inside)) or super()._sure_mass(inside=inside)

    def is_convex(self) -> bool:
        return self.lower.is_convex() and self.upper.is_convex()

    def inverse(self) -> AbstractTradeOff:
        return BoundedTradeOff(
            self.lower.inverse(), self.upper.inverse(), rounding=self.sideways, sideways=self.rounding
        )

    def symmetrized(self) -> AbstractTradeOff:
        """The hull of the curve and its inverse: between those of both bounds.

        Examples:
            >>> from mipsim.tradeoff import LaplaceTradeOff, MixtureTradeOff
            >>> half = BoundedTradeOff(*(MixtureTradeOff(LaplaceTradeOff(mu), 0.5) for mu in (1.1, 1.0)))
            >>> half.symmetrized().inverse() == half.symmetrized()
            True
        """
        if self.rounding or self.sideways:
            return super().symmetrized()
        return BoundedTradeOff(self.lower.symmetrized(), self.upper.symmetrized())

    def _one_way(self) -> AbstractTradeOff | None:
        lower, upper = self.lower._one_way(), self.upper._one_way()
        return None if lower is None or upper is None else BoundedTradeOff(lower, upper)
