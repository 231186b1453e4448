"""The trade-off function when the target takes part only with some probability."""

import math

import numpy as np

from mipsim.tradeoff.base import AbstractTradeOff, inner_curve, within
from mipsim.tradeoff.bounds import EPS, CurveBounds, Vertices, log_complement, lowered, raised
from mipsim.tradeoff.sure_mass import SureMass, weighted


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
        >>> round(half.advantage() / GaussianTradeOff(2.0).advantage(), 9)
        0.5
    """

    inner: AbstractTradeOff = inner_curve("inner")
    sampling_rate: float = within("sampling_rate", 0.0, 1.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        if self.sampling_rate == 0.0:
            return CurveBounds.of_log_tpr(log_fpr, log_fpr, 0.0)
        return self._mixed(self.inner.enclosure(log_fpr), log_fpr, log_fpr)

    def _alone(self) -> AbstractTradeOff:
        return MixtureTradeOff(self.inner._alone(), self.sampling_rate)

    def _mixed(self, inner: CurveBounds, low: np.ndarray, high: np.ndarray) -> CurveBounds:
        """At FPRs between bounds."""
        if self.sampling_rate == 1.0:
            return inner
        with np.errstate(divide="ignore"):
            taken, left = np.log(self.sampling_rate), np.log1p(-self.sampling_rate)
            others = (log_complement(high), log_complement(low), low, high)
            ends = [np.logaddexp(taken + a, left + b) for a, b in zip(inner, others, strict=True)]
        slack = [
            8.0
            * EPS
            * (1.0 + abs(taken if self.sampling_rate else 0.0) + np.abs(np.where(np.isneginf(x), 0.0, x)))
            for x in ends
        ]
        signs = (-1.0, 1.0, -1.0, 1.0)
        return CurveBounds(
            *(np.minimum(x + sign * s, 0.0) for x, s, sign in zip(ends, slack, signs, strict=True))
        ).tightened()

    def _sure_mass(self, *, inside: bool = True) -> SureMass:
        p = self.sampling_rate if inside else float(self.sampling_rate == 1.0)
        mass = self.inner._sure_mass(inside=inside) if p else (0.0, 0.0)
        return mass if p in (0.0, 1.0) else weighted([(mass, p)])

    def is_convex(self) -> bool:
        return self.inner.is_convex()

    def vertices(self) -> Vertices | None:
        result = self.inner.vertices()
        if result is None:
            return None
        mixed = self._mixed(result.bounds, result.log_fpr_low, result.log_fpr_high)
        low, high = (np.append(end, 0.0) for end in result[:2])
        return Vertices(low, high, CurveBounds(*map(np.append, mixed, (-np.inf, -np.inf, 0.0, 0.0))))

    def largest_loss_bounds(self) -> tuple[float, float]:
        low, high = (
            np.log1p(self.sampling_rate * np.expm1(x))
            if x < 700.0
            else x + np.log(self.sampling_rate)
            if self.sampling_rate
            else 0.0
            for x in self.inner.largest_loss_bounds()
        )
        return float(low) * (1.0 - 1e-14), float(high) * (1.0 + 1e-14)

    def inverse_loss_bounds(self) -> tuple[float, float]:
        p = self.sampling_rate
        with np.errstate(divide="ignore"):
            low, high = (float(-np.log1p(p * np.expm1(-x))) for x in self.inner.inverse_loss_bounds())
        return low * (1.0 - 1e-14), high * (1.0 + 1e-14)

    def mu_ceiling(self) -> float:
        return self.inner.mu_ceiling() if self.sampling_rate else 0.0

    def inverse(self) -> AbstractTradeOff:
        return super().inverse() if self.sampling_rate else self

    def _log_delta(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The delta of f, p times, at the epsilon whose mixture this is: no digit is lost at rare rates."""
        if (p := self.sampling_rate) == 0.0:
            return np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
        with np.errstate(over="ignore", divide="ignore"):
            far = epsilon - math.log(p) + np.log1p((p - 1.0) * np.exp(-epsilon))
            at = np.where(epsilon < 1.0, np.log1p(np.expm1(epsilon) / p), far)
        return self._scaled(self.inner, epsilon, (at, at), (np.log(p), np.log(p)))

    def _log_delta_of_inverse(self, epsilon: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The attacker of the other direction pays (1 - p) e^epsilon for what both worlds share, and is left the rest for f^-1."""
        if (p := self.sampling_rate) == 0.0:
            return None
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            paid = (1.0 - p) * np.expm1(epsilon) if p < 1.0 else np.zeros(epsilon.shape)
            left, off = p - paid, np.where(epsilon > 0.0, 8.0 * EPS * (p + paid), 0.0)
            least, most = (np.log(np.maximum(end, 0.0)) for end in (left - off, left + off))
            at = epsilon + math.log(p) - most, epsilon + math.log(p) - least
        return self._scaled(self.inner.inverse(), epsilon, at, (least, most))

    @staticmethod
    def _scaled(
        curve: AbstractTradeOff,
        epsilon: np.ndarray,
        at: tuple[np.ndarray, np.ndarray],
        shares: tuple[np.ndarray, np.ndarray],
    ) -> tuple[np.ndarray, np.ndarray]:
        """Logs of a share times a curve's delta `at` an epsilon, both between bounds; at epsilon 0 it is 0 exactly."""
        low, high = np.full(epsilon.shape, -np.inf), np.full(epsilon.shape, -np.inf)
        for end, result, sign in ((0, high, -1.0), (1, low, 1.0)):
            # Farther out the curve reveals less.
            slack = np.where(epsilon > 0.0, 16.0 * EPS * (1.0 + epsilon + np.abs(at[end])), 0.0)
            with np.errstate(invalid="ignore"):
                place = np.maximum(at[end] + sign * slack, 0.0)
            some = np.isfinite(place)
            known = curve._log_delta(place[some])[1 - end]
            result[some] = known + np.broadcast_to(shares[1 - end], epsilon.shape)[some]
        return lowered(low), raised(high)
