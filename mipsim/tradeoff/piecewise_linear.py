"""A trade-off function given by its corners: discrete laws, tables, and exact laws on a grid."""

import numpy as np

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff, rates

_ROUNDING = 1e-12  # of vertices that a user has computed: they may miss convexity by so much


class PiecewiseLinearTradeOff(AbstractTradeOff):
    """The convex polygon through the points (alpha[i], beta[i]); randomising between two tests walks an edge.

    Args:
        alpha: FPR at the corners, shape (m,), m >= 2, strictly increasing from 0 to 1.
        beta: FNR at the corners, shape (m,): non-increasing, convex, at most 1 - alpha (each to 1e-12).

    Source: Dong, Roth, Su (2022), section 2.1; Neyman & Pearson (1933) for the convex polygon of a discrete law.

    Examples:
        >>> response = PiecewiseLinearTradeOff([0, 0.25, 1], [1, 0.25, 0])  # randomised response, eps = log 3
        >>> float(response.beta(0.1)), response.advantage()
        (0.7, 0.5)
        >>> PiecewiseLinearTradeOff([0, 0.5, 1], [1, 0.6, 0])
        Traceback (most recent call last):
        ...
        ValueError: beta holds 0.6 at alpha 0.5; it must be at most 1 - alpha
    """

    alpha: np.ndarray
    corners: np.ndarray

    def __init__(self, alpha: object, beta: object) -> None:
        self.alpha = finite_vector("alpha", alpha)
        self.corners = finite_vector("beta", beta, self.alpha.size)

    def __check_init__(self) -> None:
        a, b = self.alpha, self.corners
        if a.size < 2 or a[0] != 0.0 or a[-1] != 1.0:
            raise ValueError(f"alpha runs from {a[0]:g} to {a[-1]:g}; it must run from 0 to 1")
        if (still := np.diff(a) <= 0).any():
            raise ValueError(
                f"alpha holds {a[1:][still][0]:g} after {a[:-1][still][0]:g}; it must increase strictly"
            )
        rates("beta", b)
        if (above := b > 1.0 - a + _ROUNDING).any():
            raise ValueError(
                f"beta holds {b[above][0]:g} at alpha {a[above][0]:g}; it must be at most 1 - alpha"
            )
        if (rising := np.diff(b) > _ROUNDING).any():
            raise ValueError(f"beta rises after alpha {a[:-1][rising][0]:g}; it must not increase")
        share = (a[1:-1] - a[:-2]) / (a[2:] - a[:-2])
        chord = (1.0 - share) * b[:-2] + share * b[2:]
        if (bent := b[1:-1] > chord + _ROUNDING).any():
            raise ValueError(f"beta lies above the chord at alpha {a[1:-1][bent][0]:g}; it must be convex")

    def beta(self, alpha: object) -> np.ndarray:
        return np.asarray(np.interp(rates("alpha", alpha), self.alpha, self.corners))

    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR at the FPR `fpr`, 1 - beta; as accurate as 1 - beta is at the corners."""
        return np.asarray(np.interp(rates("fpr", fpr), self.alpha, 1.0 - self.corners))
