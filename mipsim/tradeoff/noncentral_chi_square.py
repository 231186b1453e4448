"""The trade-off function of thresholding a score that is a scaled non-central chi-square in both worlds."""

from functools import lru_cache

import equinox as eqx
import numpy as np

from mipsim._validation import one_of
from mipsim.special.noncentral_chi_square import MOST_FREEDOM, MOST_NONCENTRALITY, cdf, isf, ppf, sf
from mipsim.tradeoff.base import AbstractTradeOff, rates, within
from mipsim.tradeoff.inverse import inverse


class NoncentralChiSquareTradeOff(AbstractTradeOff):
    """FNR against FPR when S = s0 chi2_d(l0) in world out and S = s1 chi2_d(l1) in world in.

    Rejecting large values of S: f(a) = F_{chi2_d(l1)}( (s0/s1) F^-1_{chi2_d(l0)}(1 - a) );
    rejecting small ones: f(a) = 1 - F_{chi2_d(l1)}( (s0/s1) F^-1_{chi2_d(l0)}(a) ). Both are exact down to FPRs
    of 1e-300. With s1 >= s0 and l1/s1 >= l0/s0 the likelihood ratio rises with S, and with both turned round it
    falls: rejecting the side where it is large, f is then the smallest FNR of any test on S. Elsewhere it is the
    FNR of this threshold test only, which need be neither convex nor below 1 - a. The inverse of the curve is of
    the same kind: worlds and sides change places.

    The magnitude of a Gaussian mechanism of dimension d: out_noncentrality 0, in_noncentrality mu^2. The one-step
    gradient test with n rows and K = |C^-1/2 theta'|^2: out_noncentrality n K, in_noncentrality (n - 1) K,
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
    rejects: str = eqx.field(static=True, default="large")

    def __check_init__(self) -> None:
        one_of("rejects", self.rejects, ("large", "small"))

    def _cut(self, alpha: np.ndarray) -> np.ndarray:
        """Threshold with FPR alpha, in units of the scale of world in."""
        inner = (alpha > 0.0) & (alpha < 1.0)
        large = self.rejects == "large"
        at = _quantiles(np.where(inner, alpha, 0.5).tobytes(), self.d, self.out_noncentrality, large)
        at = at.reshape(alpha.shape)
        nothing, everything = (np.inf, 0.0) if large else (0.0, np.inf)
        at = np.where(inner, at, np.where(alpha == 0.0, nothing, everything))
        return at * (self.out_scale / self.in_scale)

    def beta(self, alpha: object) -> np.ndarray:
        missed = cdf if self.rejects == "large" else sf
        return missed(self._cut(rates("alpha", alpha)), self.d, self.in_noncentrality)

    def tpr_at(self, fpr: object) -> np.ndarray:
        """TPR at the FPR `fpr`, to full relative accuracy however small it is."""
        caught = sf if self.rejects == "large" else cdf
        return caught(self._cut(rates("fpr", fpr)), self.d, self.in_noncentrality)


@lru_cache(maxsize=8)
def _quantiles(levels: bytes, d: float, noncentrality: float, large: bool) -> np.ndarray:
    """Quantiles at these levels (float64); kept for a while, since FNR and TPR are asked for at the same FPRs."""
    found = (isf if large else ppf)(np.frombuffer(levels), d, noncentrality)
    found.setflags(write=False)
    return found


@inverse.register
def _(curve: NoncentralChiSquareTradeOff) -> AbstractTradeOff:
    return NoncentralChiSquareTradeOff(
        curve.d,
        curve.in_noncentrality,
        curve.out_noncentrality,
        curve.in_scale,
        curve.out_scale,
        "small" if curve.rejects == "large" else "large",
    )
