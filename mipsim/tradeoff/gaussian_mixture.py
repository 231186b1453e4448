"""The trade-off function of two mixtures of Gaussians with the same noise: what random participation in a noisy sum leaks."""

import math
from functools import cached_property

from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.gaussian import GaussianTradeOff
from mipsim.tradeoff.gaussian_parts import AbstractGaussianParts, Parts, parts_of, vector
from mipsim.tradeoff.mixture import MixtureTradeOff

_SUM = 1e-9  # by which probabilities may miss 1: they are divided by their sum


class GaussianMixtureTradeOff(AbstractGaussianParts):
    """Telling sum_j q_j N(-t_j, s^2), the world "out", from sum_i p_i N(s_i, s^2), the world "in".

    *It dominates every sum of noise N(0, s^2 I) and random contributions.* In the world "in" these are x_i with probability p_i and
    |x_i| <= s_i; in "out" they are y_j with probability q_j and |y_j| <= t_j, in any dimension; all else is the same in both, and may
    be random. No test has a larger TPR - e^epsilon FPR than the best of this curve, nor with the worlds exchanged. Steps that may use
    all releases before are dominated by the composition of the curves. It is reached where all x_i and y_j lie on a line, the y_j opposite.

    Proof. Let s = 1. With Z ~ N(0, I) and the pairs (X_i, Y_j) = (<x_i, Z>, <y_j, Z>), divide both densities by that of Z: the largest
    TPR - a FPR is E h(A - a B), A = sum_i p_i e^(X_i - Var X_i / 2), B = sum_j q_j e^(Y_j - Var Y_j / 2), h(u) = max(u, 0), or a smooth convex
    function near it. Move the covariances K of (X, Y) along a line to those of x_i = s_i, y_j = -t_j. For Gaussian vectors the
    derivative of E g is half the sum over pairs (u, v) of K'_uv E d^2 g / du dv; the terms in h' and Var' cancel. What remains has the sign of
    K' h'' >= 0 for two of the same mixture and of -K' h'' for an X and a Y. By Cauchy and Schwarz the former covariances rise,
    the latter fall: it is never negative. What is random in both worlds is averaged over: E h is convex in the pair of distributions.

    Args:
        sensitivities: s_i >= 0, shape (m,).
        probabilities: p_i, shape (m,), of sum 1.
        noise: s > 0.
        opposite: t_j >= 0, shape (k,); by default a single 0.
        opposite_probabilities: q_j, shape (k,), of sum 1.

    Source: Choquette-Choo et al. (2024), "Privacy amplification for matrix mechanisms", section 4, for "out" N(0, s^2 I); Kahane (1985), "Sur
    le chaos multiplicatif", for the inequality; Zhu, Dong and Wang (2022), theorem 10, for steps that use those before.

    Examples:
        >>> group = GaussianMixtureTradeOff([0.0, 1.0, 2.0], [0.81, 0.18, 0.01], noise=1.5)
        >>> [round(bound, 9) for bound in group.delta_bounds(0.5)]
        [0.002038556, 0.002038556]
        >>> GaussianMixtureTradeOff([1.0], [0.5])
        Traceback (most recent call last):
        ...
        ValueError: probabilities has the sum 0.5; it must be 1
    """

    sensitivities: tuple[float, ...] = vector("sensitivities")
    probabilities: tuple[float, ...] = vector("probabilities", 1.0)
    noise: float = within("noise", 0.0, low_open=True, default=1.0)
    opposite: tuple[float, ...] = vector("opposite", default=(0.0,))
    opposite_probabilities: tuple[float, ...] = vector("opposite_probabilities", 1.0, default=(1.0,))

    def __check_init__(self) -> None:
        for name, other in (("probabilities", "sensitivities"), ("opposite_probabilities", "opposite")):
            given, size = getattr(self, name), len(getattr(self, other))
            if len(given) != size:
                raise ValueError(
                    f"{name} has {len(given)} entries; it must have an entry for each of {other}, {size}"
                )
            if abs(math.fsum(given) - 1.0) > _SUM:
                raise ValueError(f"{name} has the sum {math.fsum(given):.9g}; it must be 1")

    @cached_property
    def _worlds(self) -> tuple[Parts, Parts]:  # pyright: ignore[reportIncompatibleMethodOverride]
        return (
            parts_of(self.opposite, self.opposite_probabilities, -self.noise),
            parts_of(self.sensitivities, self.probabilities, self.noise),
        )

    def simplest(self) -> AbstractTradeOff:
        """The same curve as a Gaussian shift, sub-sampled or not, where it is that; else itself.

        Examples:
            >>> GaussianMixtureTradeOff([0.0, 2.0], [0.75, 0.25]).simplest()
            MixtureTradeOff(inner=GaussianTradeOff(mu=2.0), sampling_rate=0.25)
        """
        inside = parts_of(self.sensitivities, self.probabilities)
        out = parts_of(self.opposite, self.opposite_probabilities)
        full = GaussianTradeOff.of_noise(inside[-1][0] + out[-1][0], self.noise)
        if len(out) == len(inside) == 1:
            return full
        if len(inside) == 2 and inside[0][0] == 0.0 and out == [(0.0, 1)]:
            return MixtureTradeOff(full, float(inside[1][1]))
        return self

    def inverse(self) -> AbstractTradeOff:
        return GaussianMixtureTradeOff(
            self.opposite, self.opposite_probabilities, self.noise, self.sensitivities, self.probabilities
        )
