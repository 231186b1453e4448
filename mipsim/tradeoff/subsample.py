"""Sub-sampling: the target takes part with some probability."""

from mipsim._validation import number
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.convex_hull import symmetrized
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.mixture import MixtureTradeOff


def subsampled(curve: AbstractTradeOff, sampling_rate: float) -> AbstractTradeOff:
    """C_p(f) = conv(min(f_p, f_p^-1)) with f_p = p f + (1 - p) Id.

    f_p alone is the curve of the direction in which the null is the world without the target; it is
    `MixtureTradeOff(curve, sampling_rate)`.

    Args:
        curve: f, when the target surely takes part.
        sampling_rate: p, in [0, 1].

    Raises:
        ValueError: if the sampling rate is outside [0, 1].

    Source: Dong, Roth and Su (2022), definition 4.1 and theorem 4.2; Kaissis et al., lemma 9.

    Examples:
        >>> round(subsampled(GaussianTradeOff(1.0), 0.5).advantage(), 6)  # half of 2 Phi(1/2) - 1
        0.191462
    """
    p = number("sampling_rate", sampling_rate, 0.0, 1.0)
    if p == 0.0:
        return GaussianTradeOff(0.0)
    return symmetrized(curve if p == 1.0 else MixtureTradeOff(curve, p))
