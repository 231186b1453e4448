"""A trade-off function given by its corners: discrete distributions, tables, and exact distributions on a grid."""

import numpy as np

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import rates
from mipsim.tradeoff.points import ROUNDING, checked_corners
from mipsim.tradeoff.sampled import AbstractPolygon
from mipsim.tradeoff.sure_mass import outward


class PiecewiseLinearTradeOff(AbstractPolygon):
    """The convex polygon through the points (alpha[i], beta[i]); randomising between two tests walks an edge.

    Args:
        alpha: FPR at the corners, shape (m,), m >= 2, strictly increasing from 0 to 1; a last value within 1e-12 of 1, as a sum of
            probabilities rounds to, is taken for 1.
        beta: FNR at the corners, shape (m,): non-increasing, convex, at most 1 - alpha (each to 1e-12). Corners that rounding
            has put above the lower convex hull are left out; a last value within 1e-12 of 0 is taken for 0.

    Source: Dong, Roth, Su (2022), section 2.1; Neyman & Pearson (1933) for the convex polygon of a discrete distribution.

    Examples:
        >>> response = PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0])  # randomised response, eps = log 3
        >>> float(response.beta(0.1)), response.advantage()
        (0.7, 0.5)
        >>> PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0.6, 0])
        Traceback (most recent call last):
        ...
        ValueError: beta holds 0.6 at alpha 0.5; it must be at most 1 - alpha
    """

    def __init__(self, alpha: object, beta: object) -> None:
        a = finite_vector("alpha", alpha)
        b = rates("beta", finite_vector("beta", beta, a.size))
        if a.size and abs(a[-1] - 1.0) <= ROUNDING:
            a = np.append(a[:-1], 1.0)
        if b.size and b[-1] <= ROUNDING:
            b = np.append(b[:-1], 0.0)
        retained = checked_corners(a, b)
        a, b = a[retained], b[retained]
        end = int(np.argmax(b <= 0.0)) + 1  # beyond the first zero the curve stays there
        self.alpha, self.corners = a[:end], b[:end]
        self.complement, self.tpr = 1.0 - self.alpha, 1.0 - self.corners
        self.sure = outward(*[float(self.tpr[0])] * 2), outward(*[float(self.complement[-1])] * 2)
