"""What every trade-off function provides."""

from abc import abstractmethod
from typing import Any

import equinox as eqx
import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import number, real_array

Curve = np.ndarray

_Z_LEAST, _Z_MOST = (
    -38.0,
    8.25,
)  # probits of the least and the largest FPR that float64 tells from 0 and from 1


def rates(name: str, value: object) -> np.ndarray:
    """Return `value` as a float64 array of error rates, or say which entry is outside [0, 1].

    Examples:
        >>> rates("alpha", [0, 0.5]).tolist()
        [0.0, 0.5]
    """
    array = real_array(name, value)
    bad = (array < 0.0) | (array > 1.0)
    if bad.any():
        raise ValueError(f"{name} is {array[bad].flat[0]:g}; it must lie in [0, 1]")
    return array


def scalar(value: Any) -> Any:
    """Turn a real zero-dimensional array of any library into a float; leave everything else as it is."""
    array = np.asarray(value)
    return float(array) if array.ndim == 0 and array.dtype.kind in "iuf" else value


class AbstractTradeOff(eqx.Module):
    """A trade-off function f(alpha) = smallest beta: convex, non-increasing, f(a) <= 1 - a.

    The larger it is, the more private.

    A member gives the curve twice, as f and as 1 - f: at an FPR of 1e-12 the number 1 - f(alpha) is far
    below the rounding of f(alpha), and the probit of the curve needs whichever of the two is small.

    Source: Dong, Roth and Su (2022), "Gaussian differential privacy", definition 2.1.

    Examples:
        >>> class Blind(AbstractTradeOff):
        ...     def beta(self, alpha):
        ...         return 1.0 - rates("alpha", alpha)
        ...
        ...     def tpr_at(self, fpr):
        ...         return rates("fpr", fpr)
        >>> print(Blind().beta([0.0, 0.25]), Blind().advantage())
        [1.   0.75] 0.0
    """

    @abstractmethod
    def beta(self, alpha: object) -> np.ndarray:
        """FNR at the FPR `alpha` (any shape, in [0, 1]); float64, same shape."""

    @abstractmethod
    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR 1 - f(fpr) at the FPR `fpr` (any shape, in [0, 1]), accurate where it is small; same shape."""

    def probit_beta(self, alpha: object) -> np.ndarray:
        """Phi^-1(f(alpha)), taken from the smaller of f and 1 - f; -inf where f is 0 and inf where f is 1.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(float(GaussianTradeOff(1.0).probit_beta(1e-12)), 6)
            6.034484
        """
        fnr, tpr = self.beta(alpha), self.tpr_at(alpha)
        return np.where(fnr <= 0.5, ndtri(fnr), -ndtri(tpr))

    def advantage(self) -> float:
        """The largest TPR - FPR, max over a of 1 - a - f(a): the total variation between the two worlds.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> round(GaussianTradeOff(1.0).advantage(), 6)  # 2 Phi(1/2) - 1
            0.382925
        """
        return float(self.delta(0.0))

    def delta(self, epsilon: object) -> np.ndarray:
        """The least delta for which the curve is (epsilon, delta)-DP in the direction out -> in.

        delta(epsilon) = max(0, sup_a 1 - e^epsilon a - f(a)), the convex conjugate of the curve.

        Args:
            epsilon: any shape, each finite and >= 0.

        Raises:
            ValueError: if an epsilon is negative or not finite.

        Source: Dong, Roth and Su, proposition 2.12.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> GaussianTradeOff(1.0).delta([1.0, 4.0]).round(8).tolist()
            [0.12693674, 4.712e-05]
        """
        eps = real_array("epsilon", scalar(epsilon))
        for value in eps.ravel():
            number("epsilon", float(value), 0.0)
        slope = np.exp(np.minimum(eps.ravel(), 700.0))[:, None]

        def height(z: np.ndarray) -> np.ndarray:
            alpha = ndtr(z)
            return self.tpr_at(alpha) - slope * alpha

        # The height is concave in alpha, hence unimodal in z = Phi^-1(alpha), where tiny alphas are told
        # apart: zoom into the two cells around the best grid point until they are as narrow as rounding.
        low, high = np.full_like(slope, _Z_LEAST), np.full_like(slope, _Z_MOST)
        best = np.maximum(0.0, self.tpr_at(np.zeros_like(slope)))  # at alpha = 0
        steps = np.linspace(0.0, 1.0, 65)
        for _ in range(12):
            grid = low + (high - low) * steps
            heights = height(grid)
            at = heights.argmax(axis=1)[:, None]
            best = np.maximum(best, np.take_along_axis(heights, at, axis=1))
            low = np.take_along_axis(grid, np.maximum(at - 1, 0), axis=1)
            high = np.take_along_axis(grid, np.minimum(at + 1, 64), axis=1)
        return best.reshape(eps.shape)
