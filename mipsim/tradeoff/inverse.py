"""The inverse of a trade-off function: the two worlds change places."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import log_ndtr

from mipsim._budget import spent
from mipsim._roots import crossing
from mipsim.tradeoff.base import AbstractTradeOff, inner_curve
from mipsim.tradeoff.bounds import CurveBounds, Vertices, log_complement, lowered, raised
from mipsim.tradeoff.partition import Corners
from mipsim.tradeoff.sure_mass import SureMass

_FARTHEST, _NEAREST = -100.0, 5.0  # x of the FPRs searched, of probit sinh(x): from e^-1e86 to 1 - 3e-316


class InverseTradeOff(AbstractTradeOff):
    """f^-1(x) = inf{t : f(t) <= x}, bracketed by bisection in t.

    f^-1(x) lies above every t with f(t) > x, and is at most every t with f(t) <= x. A member whose inverse has a closed
    form overrides `inverse`.

    Args:
        inner: f.

    Source: Dong, Roth and Su (2022), lemma A.2.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff
        >>> half = MixtureTradeOff(GaussianTradeOff(2.0), 0.5)
        >>> turned = InverseTradeOff(half)
        >>> round(turned.beta(half.beta(0.3)), 12)
        0.3
        >>> round(turned.tpr_at(1e-30) / 1e-30, 9)  # 1 / (1 - p) at rare rates
        2.0
    """

    inner: AbstractTradeOff = inner_curve("inner")

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        wanted = np.asarray(log_fpr, np.float64).reshape(-1, 1)
        others = log_complement(wanted)
        fewer, more = lowered(others), raised(others)
        read = self._alone().inner.enclosure  # what is refined serves all places

        def not_above(x: np.ndarray) -> np.ndarray:
            result = read(np.asarray(log_ndtr(np.sinh(x))))
            return ~((result.log_fnr_low > wanted) | (result.log_tpr_high < fewer))

        def at_most(x: np.ndarray) -> np.ndarray:
            result = read(np.asarray(log_ndtr(np.sinh(x))))
            return (result.log_fnr_high <= wanted) | (result.log_tpr_low >= more)

        size = wanted.shape[0]
        least, most = (
            crossing(not_above, size, _FARTHEST, _NEAREST, stop=spent)[0],
            crossing(at_most, size, _FARTHEST, _NEAREST, stop=spent)[1],
        )
        low = np.where(least <= _FARTHEST, -np.inf, log_ndtr(np.sinh(least)))
        high = np.where(most >= _NEAREST, 0.0, log_ndtr(np.sinh(most)))
        start = self.inner.enclosure(np.array([-np.inf]))
        at_once = (start.log_fnr_high <= wanted) | (start.log_tpr_low >= more)
        high = np.where(at_once[:, 0] | (wanted[:, 0] == 0.0), -np.inf, high)
        shape = np.shape(log_fpr)
        undefined = np.where(np.isnan(log_fpr) | start.undefined()[0], np.nan, 0.0)
        low, high = (end.reshape(shape) + undefined for end in (np.minimum(low, high), high))
        return CurveBounds(low, high, lowered(log_complement(high)), raised(log_complement(low)))

    def _alone(self) -> InverseTradeOff:
        return InverseTradeOff(self.inner._alone())

    def is_convex(self) -> bool:
        return self.inner.is_convex()

    def inverse(self) -> AbstractTradeOff:
        return self.inner

    def vertices(self) -> Vertices | None:
        result = self.inner.vertices()
        if result is None:
            return None
        low, high, bounds = result
        other = CurveBounds(low, high, lowered(log_complement(high)), raised(log_complement(low)))
        flipped = CurveBounds(*(end[::-1] for end in other))
        turned = Vertices(bounds.log_fnr_low[::-1], bounds.log_fnr_high[::-1], flipped)
        joined = CurveBounds(*map(np.append, turned.bounds, (-np.inf, -np.inf, 0.0, 0.0)))
        return Vertices(np.append(turned[0], 0.0), np.append(turned[1], 0.0), joined)

    def _supremum(self, objective: Any, queries: int, enough: Any) -> tuple[np.ndarray, np.ndarray]:
        """Over the points of f, with both rates exchanged."""
        return self.inner._supremum(lambda points, up: objective(exchanged(points), up), queries, enough)

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.inner._log_delta_of_inverse(epsilon) or super()._log_delta(epsilon)

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        return self.inner._sure_mass(inside=not inside)

    def largest_loss_bounds(self) -> tuple[float, float]:
        return self.inner.inverse_loss_bounds()

    def inverse_loss_bounds(self) -> tuple[float, float]:
        return self.inner.largest_loss_bounds()

    def mu_ceiling(self) -> float:
        return self.inner.mu_ceiling()

    def auc_bounds(self) -> tuple[float, float]:
        return self.inner.auc_bounds()

    def least_mu_bounds(self) -> tuple[float, float]:
        return self.inner.least_mu_bounds()  # G_mu is its own inverse


def exchanged(points: Corners) -> Corners:
    """Points of the inverse curve from points of a curve.
    >>> print(exchanged(Corners(np.log([0.2]), np.log([0.5]), np.log([0.5]))).log_tpr.round(6))
    [-0.223144]
    """
    return Corners(points.log_fnr, points.log_fpr, log_complement(points.log_fpr))
