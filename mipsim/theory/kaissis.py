"""Formulas of Kaissis et al., "Optimal privacy guarantees for a relaxed threat model" (NeurIPS 2023), as printed.

The attacker knows q(D), the noise and the sensitivity Delta, not q(D'): H0 is the noise alone, H1 the noise shifted by
Delta to an unknown side, and the statistic is the magnitude. mu is the sensitivity in units of the noise, Delta_1/b
(Laplace) or Delta_2/sigma (Gaussian), a number without unit. j is the curve of H0 against H1, its inverse that of H1
against H0, and J = Symm(j, jinv). "DPTM" is the attacker who knows q(D') as well.

Further formulas are curves of the library: j of the Laplace mechanism (theorem 1) is `FoldedLaplaceTradeOff(mu)`, what the DPTM knows
`GaussianTradeOff(mu)` and `LaplaceTradeOff(mu)`, and j_p of lemma 9 `MixtureTradeOff(j, p)`.
"""

import math

import numpy as np
from scipy.special import log_ndtr, ndtr, ndtri

from mipsim._validation import member, number
from mipsim.special.ranges import MOST_NONCENTRALITY
from mipsim.tradeoff import (
    AbstractTradeOff,
    NoncentralChiSquareTradeOff,
    SampledTradeOff,
)
from mipsim.tradeoff.base import KNOWN, rates, within
from mipsim.tradeoff.bounds import EPS, CurveBounds, probit_of_log


def gaussian_tradeoff(mu: float, d: float = 1) -> NoncentralChiSquareTradeOff:
    """The curve j of the Gaussian mechanism in d >= 1 dimensions, mu = Delta_2 / sigma >= 0; `.inverse()` is jinv, `.symmetrized()` is J.

    j(a) = F_{chi2_d(mu^2)}(F^-1_{chi2_d}(1 - a)).

    Source: Kaissis et al. (2023), theorem 2 and corollary 1.

    Examples:
        >>> [round(float(gaussian_tradeoff(2.0, d).beta(0.05)), 4) for d in (1, 30)]
        [0.484, 0.867]
    """
    return NoncentralChiSquareTradeOff(d, 0.0, number("mu", mu, 0.0, math.sqrt(MOST_NONCENTRALITY)) ** 2)


class FoldedGaussianTradeOff(AbstractTradeOff):
    """Corollary 1, j at d = 1: Phi(Phi^-1(1 - a/2) - mu) - Phi(-Phi^-1(1 - a/2) - mu).

    Args:
        mu: Delta_2 / sigma, finite and >= 0.

    Source: Kaissis et al. (2023), corollary 1.

    Examples:
        >>> FoldedGaussianTradeOff(2.0).beta([0.0, 0.05, 1.0]).round(4).tolist()
        [1.0, 0.484, 0.0]
    """

    mu: float = within("mu", 0.0)

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        z = probit_of_log(log_fpr - np.log(2.0))  # of half the FPR, that of a single side
        moved = 32.0 * EPS * (1.0 + self.mu + np.where(np.isfinite(z), np.abs(z), 0.0))
        # A larger number has no logarithm of its own in float64: it counts as this number for the lower end, and as infinite
        # for the other.
        ends = np.minimum(z + self.mu - moved, _LARGEST_PROBIT), z + self.mu + moved
        low, high = (
            np.logaddexp(log_ndtr(end), log_ndtr(z - self.mu + off))
            for end, off in zip(ends, (-moved, moved), strict=True)
        )
        result = CurveBounds.of_log_tpr(low, np.minimum(high, 0.0), 16.0)
        return result.ended(log_fpr)

    def is_convex(self) -> bool:
        return True

    def mu_ceiling(self) -> float:
        return self.mu


_CHORDS = 1e-6  # FNR: what `symmetrised` promises
_LARGEST_PROBIT = 37.5  # log_ndtr of it is -4.6e-308
_LEAST_RATE = 1e-290  # below it float64 loses digits


def symmetrised(j: AbstractTradeOff) -> SampledTradeOff:
    """J = Symm(j, jinv), the largest symmetric convex function below both, through 2 x 80,001 samples of them.

    Each sample (a, j(a)) is also the sample (j(a), a) of jinv, so that jinv itself is not computed. The chords lie above J, and by
    less than 1e-6 at error rates from 1e-290 on: J is a mixture of two points of the two curves, each of which lies below its own
    chord by no more than is computed from the samples (`_below_chords`).

    Args:
        j: any trade-off function.

    Raises:
        ValueError: if the samples prove less, as where j has a corner between two of them.

    Source: Kaissis et al. (2023), definition 3; Dong, Roth & Su (2022), definition F.1.

    Examples:
        >>> both = symmetrised(FoldedGaussianTradeOff(2.0))
        >>> round(float(both.beta(both.beta(0.2))), 6)
        0.2
    """
    alpha, complement, beta, tpr = _samples(j)
    error = max(_below_chords(x, y)[1].max() for x, y in ((alpha, beta), (beta[::-1], alpha[::-1])))
    if error > _CHORDS:
        raise ValueError(
            f"j is {type(j).__name__}, whose samples prove its chords to {error:.2g} only; {_CHORDS:g} is needed: use j.symmetrized()"
        )
    return _hull(alpha, complement, beta, tpr)


def _samples(j: AbstractTradeOff) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """FPR, 1 - FPR, FNR and TPR, so dense in probits that the chords are near."""
    # From the first probit to the last whose rates float64 tells from 0 and 1.
    alpha, complement = ndtr(np.linspace(-37.0, 8.0, 80_001)), ndtr(np.linspace(37.0, -8.0, 80_001))
    known = member("j", j, AbstractTradeOff, KNOWN)
    return alpha, complement, known.beta(alpha), known.tpr_at(alpha)


def _hull(alpha: np.ndarray, complement: np.ndarray, beta: np.ndarray, tpr: np.ndarray) -> SampledTradeOff:
    """The convex hull of these points and their mirror images."""
    both = (
        (0.0, alpha, beta, 1.0),
        (1.0, complement, tpr, 0.0),
        (1.0, beta, alpha, 0.0),
        (0.0, tpr, complement, 1.0),
    )
    points = np.array([np.hstack(part) for part in both])
    return SampledTradeOff.from_points(*points[:, np.lexsort((-points[1], points[0]))])


def _below_chords(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where and how far at most a convex decreasing curve through (x, y), x increasing, lies below each chord.

    Between two points it lies above the chords on either side prolonged, which meet p q / (p + q) dx below the chord, where p and
    q are the steps of the slope; and it falls by dy at most. Steps of x below `_LEAST_RATE` are left out.
    """
    first = int(np.searchsorted(x, _LEAST_RATE))
    x, y = x[first:], y[first:]
    dx, dy = np.diff(x), np.diff(y)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = dy / dx
        before = np.maximum(np.append(np.inf, np.diff(slope)), 0.0)
        after = np.maximum(np.append(np.diff(slope), np.inf), 0.0)
        gap = dx / (1.0 / before + 1.0 / after)
        share = np.clip(np.nan_to_num(1.0 / (1.0 + before / after), nan=0.5), 0.0, 1.0)
    return x[:-1] + share * dx, np.fmin(gap, np.abs(dy))


def limit_beta(alpha: object, d: float, noncentrality: float) -> np.ndarray:
    """Equation 7: Phi( Phi^-1(1 - a) / sqrt(1 + 2L/d) - L / sqrt(2d + 4L) ), the limit of j and jinv as d grows.

    Args:
        alpha: FPR, any shape, in [0, 1].
        d: dimension >= 1.
        noncentrality: L = N mu^2 >= 0 for N steps.

    Source: Kaissis et al. (2023), theorem 3.

    Examples:
        >>> limit_beta([0.01, 0.1], 300, 6.0).round(4).tolist()  # their figure 2a
        [0.9794, 0.8453]
    """
    d, total = number("d", d, 1.0), number("noncentrality", noncentrality, 0.0)
    z = -ndtri(rates("alpha", alpha))
    return ndtr(z / math.sqrt(1 + 2 * total / d) - total / math.sqrt(2 * d + 4 * total))
