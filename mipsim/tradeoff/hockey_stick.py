"""The convex conjugate of a trade-off function: its hockey-stick divergence, for every slope."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

if TYPE_CHECKING:
    from mipsim.tradeoff.base import AbstractTradeOff

_Z_LEAST, _Z_MOST = -38.0, 8.25
# Probits of the least and of the largest FPR that float64 tells from 0 and from 1.
_LARGEST_EXPONENT = 700.0
_ROUNDS, _CELLS = 12, 64  # each round narrows the range 32 times: 12 reach 2^-60 of it


def hockey_stick(curve: AbstractTradeOff, log_slope: object) -> np.ndarray:
    """The largest TPR(a) - e^s a over all FPRs a, for any real s = `log_slope`; float64 of its shape.

    For s >= 0 it is the delta at epsilon = s; for s < 0 it is 1 - e^s + e^s times the delta of the inverse curve at
    epsilon = -s. The height is concave in a, hence unimodal in z = Phi^-1(a), where tiny FPRs are told apart: the two
    cells around the best point of a grid are zoomed into until they are as narrow as rounding. The error is the
    curve's own rounding, some 1e-16 of the largest TPR that takes part.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> hockey_stick(GaussianTradeOff(1.0), [1.0, 0.0, -1.0]).round(6).tolist()
        [0.126937, 0.382925, 0.678818]
    """
    s = np.asarray(log_slope, dtype=np.float64)
    slope = np.exp(np.minimum(s.ravel(), _LARGEST_EXPONENT))[:, None]
    low, high = np.full_like(slope, _Z_LEAST), np.full_like(slope, _Z_MOST)
    at_zero = curve.tpr_at(np.zeros_like(slope))
    best = np.maximum(np.maximum(0.0, 1.0 - slope), at_zero)  # the ends: alpha = 1 and alpha = 0
    steps = np.linspace(0.0, 1.0, _CELLS + 1)
    for _ in range(_ROUNDS):
        grid = low + (high - low) * steps
        alpha = ndtr(grid)
        heights = curve.tpr_at(alpha) - slope * alpha
        at = heights.argmax(axis=1)[:, None]
        best = np.maximum(best, np.take_along_axis(heights, at, axis=1))
        low = np.take_along_axis(grid, np.maximum(at - 1, 0), axis=1)
        high = np.take_along_axis(grid, np.minimum(at + 1, _CELLS), axis=1)
    return best.reshape(s.shape)
