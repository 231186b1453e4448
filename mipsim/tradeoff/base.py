"""What every trade-off function provides."""

from abc import abstractmethod

import equinox as eqx
import numpy as np

Curve = np.ndarray


class AbstractTradeOff(eqx.Module):
    """A trade-off function f(alpha) = smallest beta: convex, non-increasing, f(a) <= 1 - a. Larger = more private."""

    @abstractmethod
    def beta(self, alpha: object) -> np.ndarray:
        """FNR at the FPR `alpha` (any shape, in [0, 1]); float64, same shape."""
