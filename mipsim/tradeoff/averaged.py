"""The mean of trade-off functions at a common FPR."""

from collections.abc import Sequence

import numpy as np

from mipsim._validation import finite_vector
from mipsim.tradeoff.base import AbstractTradeOff, rates


def distribution_over(curves: Sequence[AbstractTradeOff], weights: object) -> np.ndarray:
    """Return the weights as a float64 vector that sums to 1, one for each curve, or say what is wrong.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> distribution_over([GaussianTradeOff(1.0)], [0.5])
        Traceback (most recent call last):
        ...
        ValueError: weights sum to 0.5; they must sum to 1
    """
    if len(curves) == 0:
        raise ValueError("curves is empty; it must hold at least one trade-off function")
    for curve in curves:
        if not isinstance(curve, AbstractTradeOff):
            raise ValueError(f"curves holds {type(curve).__name__}; every entry must be a trade-off function")
    shares = finite_vector("weights", weights, len(curves))
    if (shares < 0).any():
        raise ValueError(f"weights holds {shares[shares < 0][0]:g}; every weight must be at least 0")
    if abs(float(shares.sum()) - 1.0) > 1e-9:
        raise ValueError(f"weights sum to {shares.sum():.12g}; they must sum to 1")
    return shares


class AveragedTradeOff(AbstractTradeOff):
    """sum over i of w_i f_i(alpha): the target is drawn at random and shown, and each is attacked at the same FPR.

    An attacker who may choose the FPR by the target does better: `stochastic_composition`.

    Args:
        curves: trade-off functions, at least one.
        weights: probability of each, shape (m,), >= 0, sum 1.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> both = AveragedTradeOff([GaussianTradeOff(0.0), GaussianTradeOff(2.0)], [0.5, 0.5])
        >>> round(float(both.beta(0.1)), 6)
        0.56812
    """

    curves: tuple[AbstractTradeOff, ...]
    weights: np.ndarray

    def __init__(self, curves: Sequence[AbstractTradeOff], weights: object) -> None:
        self.weights = distribution_over(curves, weights)
        self.curves = tuple(curves)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        return np.asarray(sum(w * curve.beta(a) for w, curve in zip(self.weights, self.curves, strict=True)))

    def tpr_at(self, fpr: object) -> np.ndarray:
        a = rates("fpr", fpr)
        return np.asarray(
            sum(w * curve.tpr_at(a) for w, curve in zip(self.weights, self.curves, strict=True))
        )


def mix(*curves: AbstractTradeOff, weights: object) -> AbstractTradeOff:
    """The mean of curves at a common FPR, as `AveragedTradeOff`; of one curve, that curve.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> mix(GaussianTradeOff(1.0), weights=[1.0])
        GaussianTradeOff(mu=1.0)
    """
    shares = distribution_over(curves, weights)
    return curves[0] if len(curves) == 1 else AveragedTradeOff(curves, shares)
