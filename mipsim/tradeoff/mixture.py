"""The trade-off function when the target takes part only with some probability."""

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff, inner_curve, rates, within


class MixtureTradeOff(AbstractTradeOff):
    """p f(alpha) + (1 - p)(1 - alpha): the "in" world is the "out" world with probability 1 - p.

    Args:
        inner: the trade-off function f of a target that surely takes part.
        sampling_rate: p, the probability that it does, in [0, 1].

    Source: Dong, Roth and Su, "Gaussian differential privacy", section 4 (sub-sampling, before symmetrising).

    Examples:
        >>> from mipsim.tradeoff.gaussian import GaussianTradeOff
        >>> half = MixtureTradeOff(GaussianTradeOff(2.0), sampling_rate=0.5)
        >>> round(float(half.beta(0.1)), 6)
        0.56812
        >>> half.advantage() == 0.5 * GaussianTradeOff(2.0).advantage()
        True
    """

    inner: AbstractTradeOff = inner_curve("inner")
    sampling_rate: float = within("sampling_rate", 0.0, 1.0)

    def beta(self, alpha: object) -> np.ndarray:
        a = rates("alpha", alpha)
        p = self.sampling_rate
        return np.asarray(p * self.inner.beta(a) + (1.0 - p) * (1.0 - a))

    def tpr_at(self, fpr: object) -> np.ndarray:
        a = rates("fpr", fpr)
        p = self.sampling_rate
        return np.asarray(p * self.inner.tpr_at(a) + (1.0 - p) * a)
