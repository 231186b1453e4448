"""The trade-off function of thresholding a score that is a scaled non-central chi-square in both worlds."""

import math

import numpy as np

from mipsim._signals import importing
from mipsim._validation import choice
from mipsim.special.ranges import MOST_FREEDOM, MOST_NONCENTRALITY
from mipsim.tradeoff.base import AbstractTradeOff, within
from mipsim.tradeoff.bounds import CurveBounds, log_complement, lowered

_LEAST = -1e5  # logarithm of the least FPR whose quantile is computed
_NEAR_ZERO = 1e-25  # scores below it: both laws are powers there, to 1e-16
# errors of the tails and of their logarithms; see `noncentral_chi_square`
_RELATIVE, _LOG_RELATIVE = 1e-11, 1e-13


def _off(log_p: np.ndarray) -> np.ndarray:
    """How far the logarithm of a tail may be off."""
    size = np.where(np.isneginf(log_p), 0.0, np.abs(log_p))
    return np.where(size <= 700.0, _RELATIVE * np.minimum(1.0, size), _LOG_RELATIVE * size)


class NoncentralChiSquareTradeOff(AbstractTradeOff):
    """FNR against FPR when S = s0 chi2_d(l0) in world out and S = s1 chi2_d(l1) in world in.

    Rejecting large values of S: f(a) = F_{chi2_d(l1)}( (s0/s1) F^-1_{chi2_d(l0)}(1 - a) );
    rejecting small ones: f(a) = 1 - F_{chi2_d(l1)}( (s0/s1) F^-1_{chi2_d(l0)}(a) ). Both are exact down to FPRs
    of 1e-300. With s1 >= s0 and l1/s1 >= l0/s0 the likelihood ratio rises with S, and with both turned round it
    falls: rejecting the side where it is large, f is then the smallest FNR of any test on S. Elsewhere it is the
    FNR of this threshold test only, which need be neither convex nor below 1 - a. The inverse of the curve is of
    the same kind: worlds and sides change places.

    The magnitude of a Gaussian mechanism of dimension d: out_noncentrality 0, in_noncentrality mu^2. The one-step
    gradient test with n rows and K = |Sigma^-1/2 theta'|^2: out_noncentrality n K, in_noncentrality (n - 1) K,
    out_scale n, in_scale n - 1, rejects "small".

    Args:
        d: degrees of freedom, real, in [1, 1e6].
        out_noncentrality: l0 in [0, 1e8].
        in_noncentrality: l1 in [0, 1e8].
        out_scale: the factor s0 > 0 of the chi-square in world out.
        in_scale: the factor s1 > 0 of that in world in.
        rejects: "large" or "small": which values of S speak for "in".

    Source: Kaissis et al., relaxed threat model, theorem 2; Leemann et al., theorem 5.1.

    Examples:
        >>> magnitude = NoncentralChiSquareTradeOff(1, 0.0, 1.0)
        >>> magnitude.beta([1e-300, 0.05]).round(6).tolist()
        [1.0, 0.829925]
        >>> print(magnitude.tpr_at(1e-300))
        3.9007670268e-285
        >>> step = NoncentralChiSquareTradeOff(20, 200.0, 180.0, 10.0, 9.0, rejects="small")
        >>> step.beta([0.01, 0.1]).round(6).tolist()
        [0.822026, 0.429675]
        >>> NoncentralChiSquareTradeOff(1, -1.0, 0.0)
        Traceback (most recent call last):
        ...
        ValueError: out_noncentrality is -1.0; it must be a finite number in [0, 1e+08]
    """

    d: float = within("d", 1.0, MOST_FREEDOM)
    out_noncentrality: float = within("out_noncentrality", 0.0, MOST_NONCENTRALITY)
    in_noncentrality: float = within("in_noncentrality", 0.0, MOST_NONCENTRALITY)
    out_scale: float = within("out_scale", 0.0, low_open=True, default=1.0)
    in_scale: float = within("in_scale", 0.0, low_open=True, default=1.0)
    rejects: str = "large"

    def __check_init__(self) -> None:
        choice("rejects", self.rejects, ("large", "small"))

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        wanted, log_fpr = np.asarray(log_fpr, np.float64), np.maximum(log_fpr, _LEAST)
        size = np.where(np.isneginf(log_fpr), 0.0, np.abs(log_fpr))
        moved = 2.0 * _off(log_fpr)  # of the quantile
        fnr, tpr = self._logs(np.stack([log_fpr - moved, np.minimum(log_fpr + moved, 0.0)]))
        off = [_off(fnr), _off(tpr)]
        low, high = lowered(fnr[1] - off[0][1], 1.0), np.minimum(fnr[0] + off[0][0], 0.0)
        result = CurveBounds(low, high, tpr[0] - off[1][0], np.minimum(tpr[1] + off[1][1], 0.0)).tightened()
        rare = result._replace(log_tpr_low=np.full(size.shape, -np.inf), log_fnr_high=np.zeros(size.shape))
        result = result.where(wanted >= _LEAST, rare)
        return result.ended(wanted, start=True)

    def _logs(self, log_fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        with importing():  # JAX, which no other curve needs
            from mipsim.special import noncentral_chi_square as law

        inner = np.isfinite(log_fpr) & (log_fpr < 0.0)
        large = self.rejects == "large"
        level = np.where(inner, log_fpr, -1.0)
        at = (law.logisf if large else law.logppf)(level, self.d, self.out_noncentrality)
        at = at * (self.out_scale / self.in_scale)
        below, above = law.log_tails(at, self.d, self.in_noncentrality)
        rates = [below, above] if large else [above, below]
        # Near 0 both densities are powers, and the rates below it proportional.
        near = at < _NEAR_ZERO
        below = np.minimum((log_complement(level) if large else level) + self._loss_at_zero(), 0.0)
        rest = log_complement(below)
        fnr, tpr = (below, rest) if large else (rest, below)
        rates = [np.where(near, fnr, rates[0]), np.where(near, tpr, rates[1])]
        nothing = log_fpr < -1.0
        fnr = np.where(inner, rates[0], np.where(nothing, 0.0, -np.inf))
        return fnr, np.where(inner, rates[1], np.where(nothing, -np.inf, 0.0))

    def _loss_at_zero(self) -> float:
        """The privacy loss of the score 0."""
        wider = 0.5 * self.d * math.log(self.out_scale / self.in_scale)
        return wider + 0.5 * (self.out_noncentrality - self.in_noncentrality)

    def largest_loss_bounds(self) -> tuple[float, float]:
        if self.rejects == "large" or not self.is_convex():
            return 0.0, math.inf
        loss = max(0.0, self._loss_at_zero())
        return loss * (1.0 - 1e-13), loss * (1.0 + 1e-13)

    def is_convex(self) -> bool:
        more, farther = (
            self.in_scale - self.out_scale,
            self.in_noncentrality * self.out_scale - self.out_noncentrality * self.in_scale,
        )
        return (
            (more >= 0.0 and farther >= 0.0) if self.rejects == "large" else (more <= 0.0 and farther <= 0.0)
        )

    def mu_ceiling(self) -> float:
        if self.in_scale != self.out_scale:
            return math.inf
        # Of a Gaussian shift along the mean, of which only the distance from the origin is seen.
        return abs(math.sqrt(self.in_noncentrality) - math.sqrt(self.out_noncentrality)) * (1.0 + 1e-15)

    def inverse(self) -> AbstractTradeOff:
        return NoncentralChiSquareTradeOff(
            self.d,
            self.in_noncentrality,
            self.out_noncentrality,
            self.in_scale,
            self.out_scale,
            "small" if self.rejects == "large" else "large",
        )
