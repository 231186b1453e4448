"""Exact curves of one step for gradients that are not Gaussian, in one dimension, and for targets that are drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.signal import fftconvolve
from scipy.special import gammainc, gammaincc, log_ndtr, ndtr, ndtri
from scipy.stats import binom, chi2

from mipsim._roots import outer_root
from mipsim.special import noncentral_chi_square as ncx2
from mipsim.theory import leemann

Beta = Callable[[np.ndarray], np.ndarray]

WIDE = 40.0
"""Standard deviations beyond which a normal tail is 0 in float64."""


def line_tradeoff(rows: float, susceptibility: float) -> Beta:
    """Equation 8 at d = 1 by the normal distribution: it reaches n K beyond 1e8, where the chi-square functions end.

    The region |x - r delta| <= rho is an interval whose far end is 2 sqrt(r) delta standard deviations away.

    Args:
        rows: r > 1.
        susceptibility: K = delta^2 with sqrt(r K) >= 40, so that the far end has no mass in float64.

    Raises:
        ValueError: if sqrt(r K) is below 40.
    """
    if rows * susceptibility < WIDE**2:
        raise ValueError(
            f"susceptibility is {susceptibility:g}; rows x susceptibility must be at least {WIDE**2:g}"
        )

    def beta(alpha: np.ndarray) -> np.ndarray:
        return ndtr((-ndtri(alpha) * rows**0.5 - susceptibility**0.5) / (rows - 1) ** 0.5)

    return beta


def polygon_of(out: np.ndarray, inside: np.ndarray) -> Polygon:
    """The trade-off function of two finite laws: outputs sorted by their ratio, joined by chords.

    Args:
        out: masses of the outputs in the world out, shape (m,), summing to 1 but for tails that were left out.
        inside: the same in the world in.
    """
    seen = (out > 0) | (inside > 0)
    out, inside = out[seen], inside[seen]
    with np.errstate(divide="ignore"):
        order = np.argsort(-inside / out, kind="stable")
    alpha = np.minimum(np.r_[0.0, np.cumsum(out[order])], 1.0)
    beta = np.r_[np.cumsum(inside[order][::-1])[::-1], 0.0]
    last = np.r_[np.diff(alpha) > 0, True]  # of equal FPRs the last has the least FNR
    return Polygon(np.append(alpha[last], 1.0), np.append(np.minimum(beta[last], 1.0), 0.0))


@dataclass(frozen=True)
class Polygon:
    """A piecewise linear curve by its corners, FPR rising."""

    alpha: np.ndarray
    corner: np.ndarray

    def beta(self, rates: np.ndarray) -> np.ndarray:
        """FNR at these FPRs."""
        return np.interp(rates, self.alpha, self.corner)


def exponential_curve(n: int, target: float) -> tuple[np.ndarray, np.ndarray]:
    """(FPR, FNR) of the likelihood ratio for gradients Exponential(1), d = 1, at 4,000 thresholds.

    The sum is Gamma(n) out and target + Gamma(n - 1) in; the ratio (s - z)^(n-2) / s^(n-1) rises up to s = (n - 1) z
    and falls beyond, so that every test of the ratio accepts an interval.
    """
    peak = (n - 1) * target
    low = np.linspace(
        max(target * (1 + 1e-12), n - 9 * n**0.5), min(peak, n + target + 9 * n**0.5), 4001, endpoint=False
    )

    def log_ratio(s: np.ndarray) -> np.ndarray:
        return (n - 2) * np.log1p(-target / s) - np.log(s)

    level = log_ratio(low)
    ends = np.full(low.shape, np.log(peak)), np.full(low.shape, np.log(peak * 1e9))
    far = np.exp(outer_root(lambda log_s, index: level[index] - log_ratio(np.exp(log_s)), *ends))
    alpha = gammaincc(n, low) - gammaincc(n, far)
    beta = gammainc(n - 1, low - target) + gammaincc(n - 1, far - target)
    return alpha[::-1], beta[::-1]


def lattice_curve(n: int, p: float, target: int) -> Polygon:
    """Gradients Bernoulli(p), d = 1, a target that is any whole number: Binomial(n) against z + Binomial(n - 1)."""
    spread = 12 * (n * p * (1 - p)) ** 0.5
    s = np.arange(max(0, int(n * p - spread)) + min(0, target), int(n * p + spread) + max(0, target) + 2)
    return polygon_of(binom.pmf(s, n, p), binom.pmf(s - target, n - 1, p))


def noisy_lattice_curve(n: int, p: float, target: float, noise: float) -> Polygon:
    """The same with noise N(0, `noise`^2) on the sum, by the densities on a fine lattice.

    Sums over a lattice of step h stand for integrals up to exp(-2 (pi noise / h)^2), and cells for their points up to (h /
    noise)^2 / 24 in relative terms.
    """
    fine = max(1, int(np.ceil(200.0 / noise)))
    spread = 12 * (n * p * (1 - p)) ** 0.5
    low, high = max(0, int(n * p - spread)), int(n * p + spread) + 2
    k = np.arange(low, high)
    reach = int(np.ceil(12 * noise)) + int(abs(target)) + 1
    x = np.arange(-reach * fine, reach * fine + 1) / fine

    def smeared(masses: np.ndarray, shift: float) -> np.ndarray:
        spaced = np.zeros((k.size - 1) * fine + 1)
        spaced[::fine] = masses
        return np.maximum(fftconvolve(spaced, np.exp(-0.5 * ((x - shift) / noise) ** 2)), 0.0)

    out, inside = smeared(binom.pmf(k, n, p), 0.0), smeared(binom.pmf(k, n - 1, p), target)
    return polygon_of(out / out.sum(), inside / inside.sum())


def drawn_target_curve(d: int, n: int, nodes: int = 240) -> Beta:
    """Gaussian gradients and a target drawn from their law: the stochastic composition over K ~ chi2_d.

    Given K the ratio is d/2 log(n/(n-1)) + K/2 - |x - n delta|^2 / (2 n (n-1)); the best tests of all targets share one
    threshold of it (Neyman and Pearson on the pair of output and target). K is integrated by
    the trapezoid rule in the probit of its quantile, up to 8.2.

    Args:
        d: dimension, >= 1.
        n: rows, >= 2, with n K below 1e8.
        nodes: of the rule, and thresholds.
    """
    # K by its quantiles in probit scale: the trapezoid rule of a normal weight.
    z = np.linspace(-8.2, 8.2, nodes)
    w = np.exp(-0.5 * z**2)
    w /= w.sum()
    k = np.where(z < 0, chi2.ppf(ndtr(np.minimum(z, 0.0)), d), chi2.isf(ndtr(-np.maximum(z, 0.0)), d))
    mu = leemann.step_mu(d, n, float(d))
    cuts = np.linspace(-6.0 * mu - 0.5 * mu**2 - 0.02, 6.0 * mu + 3.0 * mu**2 + 0.02, nodes)
    square = 2 * n * (n - 1) * (0.5 * d * np.log1p(1 / (n - 1)) + 0.5 * k - cuts[:, None])
    square = np.maximum(square, 0.0)
    alpha = ncx2.cdf(square / n, d, n * k) @ w
    beta = ncx2.sf(square / (n - 1), d, (n - 1) * k) @ w
    good = (alpha > 1e-13) & (alpha < 1 - 1e-13) & (beta > 1e-13) & (beta < 1 - 1e-13)
    x, y = ndtri(alpha[good])[::-1], ndtri(beta[good])[::-1]
    rising = np.r_[True, np.diff(x) > 1e-12]
    through = PchipInterpolator(x[rising], y[rising], extrapolate=True)
    return lambda rates: ndtr(through(ndtri(rates)))


def noisy_sum_curve(n: int, shift: float, own: float = 0.5) -> Beta:
    """Gradients +-1 and N(0, 1 / shift^2) on their sum; the target is +1, as a gradient is with probability `own`.

    The ratio rises with the output (a sum of variables with log-concave laws), so that thresholds are the best tests; their
    FPR is solved for. The target -1 is the same with signs changed.

    Args:
        n: rows, >= 1.
        shift: what one gradient moves the sum by, in standard deviations of the noise.
        own: probability of the target's value, in [0, 1].
    """
    k0, k1 = np.arange(n + 1), np.arange(n)
    w0, at0 = binom.logpmf(k0, n, own), shift * (2.0 * k0 - n)
    w1, at1 = binom.logpmf(k1, n - 1, own), shift * (2.0 * k1 - n + 2.0)

    def beta(rates: np.ndarray) -> np.ndarray:
        wanted = np.asarray(rates, float).ravel()

        def short_of(cut: np.ndarray, index: np.ndarray) -> np.ndarray:
            return wanted[index] - np.exp(w0 + log_ndtr(at0 - cut[:, None])).sum(axis=-1)

        reach = np.full(wanted.shape, shift * n + 40.0)
        cut = outer_root(short_of, -reach, reach)
        return np.exp(w1 + log_ndtr(cut[:, None] - at1)).sum(axis=-1).reshape(np.shape(rates))

    return beta
