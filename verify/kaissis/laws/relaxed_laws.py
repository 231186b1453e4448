"""Shifted noise and the exact error rates of tests of it: the laws behind the claims of Kaissis et al. (2023)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from scipy.special import gammainc, gammaincc, gammainccinv, ndtr, ndtri

from mipsim.special import noncentral_chi_square as chi_square
from mipsim.tradeoff import (
    AbstractTradeOff,
    CurveBounds,
    GaussianTradeOff,
    MixtureTradeOff,
    PiecewiseLinearTradeOff,
    bounds_from_rates,
)
from verify.kaissis.laws import noncentral_t

Pair = tuple[np.ndarray, np.ndarray]


def noise_named(name: str) -> Any:
    """Noise of unit scale with a log-concave density, whose mode is 0, as SciPy has it; all but the Gumbel law are symmetric."""
    names = {"Gaussian": "norm", "Laplace": "laplace", "logistic": "logistic", "Gumbel": "gumbel_r"}
    return getattr(scipy.stats, names[name])


class RatesTradeOff(AbstractTradeOff):
    """A curve whose FNR and TPR are the same function of the FPR."""

    # takes FPRs in [0, 1] and returns (FNR, TPR), each accurate where it is small
    both: Callable[[np.ndarray], Pair]

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Proven bounds at logarithms of FPRs."""
        return bounds_from_rates(self.both, log_fpr, relative=1e-12)

    def is_convex(self) -> bool:
        """True: it is the curve of a best test."""
        return True


def log_density(noise: str, z: np.ndarray) -> np.ndarray:
    """Log of the density of noise, up to a constant: -h(z)."""
    if noise == "Gaussian":
        return -0.5 * z**2
    if noise == "Gumbel":
        return -z - np.exp(-z)
    return -np.abs(z) - (2.0 * np.log1p(np.exp(-np.abs(z))) if noise == "logistic" else 0.0)


def log_ratio(noise: str, z: np.ndarray, shift: np.ndarray | float, rate: float) -> np.ndarray:
    """Log of the likelihood of a shift over that of none; the record takes part with probability `rate`.

    In forms that lose no digits where |z| is large and the shift small, of which two densities would be each other's rounding.
    """
    if noise == "Gaussian":
        whole = shift * (z - 0.5 * shift)
    elif noise == "Gumbel":
        whole = shift - np.exp(-z) * np.expm1(shift)
    else:  # |z| - |z - shift|
        whole = np.sign(shift) * np.clip(2.0 * z - shift, -np.abs(shift), np.abs(shift))
    if noise == "logistic":
        whole = whole + 2.0 * (np.log1p(np.exp(-np.abs(z))) - np.log1p(np.exp(-np.abs(z - shift))))
    return whole if rate == 1.0 else np.logaddexp(np.log1p(-rate), np.log(rate) + whole)


def magnitude(noise: str, shift: float, rate: float = 1.0) -> RatesTradeOff:
    """Thresholding |z|, from the distribution function of symmetric noise."""
    law = noise_named(noise)

    def both(alpha: np.ndarray) -> Pair:
        cut = law.isf(0.5 * alpha)
        missed, caught = (
            law.cdf(cut - shift) - law.cdf(-cut - shift),
            law.sf(cut - shift) + law.cdf(-cut - shift),
        )
        return rate * missed + (1 - rate) * (1 - alpha), rate * caught + (1 - rate) * alpha

    return RatesTradeOff(both)


def norm_law(square: np.ndarray, d: int, mu: float) -> Pair:
    """(P(|z|^2 <= square), P(> square)) for normal z shifted by mu: central chi-squares with d + 2N degrees of freedom, N ~ Poisson(mu^2/2).

    The terms left out are at most twice the last weight, which is checked to be below 1e-15 of either probability.

    Raises ValueError if it is not.
    """
    edge, half = np.sqrt(square), 0.5 * mu**2
    if d == 1:
        return ndtr(edge - mu) - ndtr(-edge - mu), ndtr(mu - edge) + ndtr(-mu - edge)
    most = float(np.max(square, initial=0.0))
    count = np.arange(int(max(2.0 * half, half + 0.5 * most + 60.0 * np.sqrt(mu**2 + most))) + 61)
    weight = scipy.stats.poisson.pmf(count, half)
    missed, caught = (weight @ tail(0.5 * d + count[:, None], 0.5 * square) for tail in (gammainc, gammaincc))
    if (2e15 * weight[-1] > np.minimum(missed, caught))[square > 0.0].any():
        raise ValueError(f"mu is {mu:g} and d {d}; the Poisson sum needs more than {count.size} terms")
    return missed, caught


def norm_curves(d: int, mu: float) -> tuple[RatesTradeOff, RatesTradeOff]:
    """Thresholding |z|^2 by a Poisson sum: (large values speak for the record, the worlds exchanged)."""

    def forth(alpha: np.ndarray) -> Pair:
        return norm_law(2.0 * gammainccinv(0.5 * d, np.maximum(alpha, 1e-300)), d, mu)

    def back(alpha: np.ndarray) -> Pair:
        inner = np.clip(alpha, 1e-300, 1.0 - 1e-16)
        square = chi_square.ppf(inner, d, mu**2)
        # A single step of Newton's: the Poisson sum decides where the FPR is alpha.
        missed, caught = norm_law(square, d, mu)
        excess = np.where(inner <= 0.5, missed - inner, (1.0 - inner) - caught)
        square = np.maximum(square - excess / np.exp(chi_square.logpdf(square, d, mu**2)), 0.0)
        return gammaincc(0.5 * d, 0.5 * square), gammainc(0.5 * d, 0.5 * square)

    return RatesTradeOff(_for_vectors(forth)), RatesTradeOff(_for_vectors(back))


def _for_vectors(both: Callable[[np.ndarray], Pair]) -> Callable[[np.ndarray], Pair]:
    def reshaped(alpha: np.ndarray) -> Pair:
        missed, caught = both(alpha.ravel())
        return missed.reshape(alpha.shape), caught.reshape(alpha.shape)

    return reshaped


@lru_cache(maxsize=64)
def resilience(mu: float, d: float = 1, rate: float = 1.0) -> RatesTradeOff:
    """J_p = Symm(j_p, j_p^-1) of the Gaussian mechanism: j_p, a line of slope -1, and j_p^-1.

    Let j_p have the slope -1 at (a, b), a <= b. The line to (b, a) is below both curves, as it supports both. If j_p <= j_p^-1 left of
    a, the curve made of j_p, the line and j_p^-1 is convex, symmetric and below both; it consists of points of them and of their
    chords: it is J_p. That j(j(x)) >= x for x <= a, which says this, passes from p = 1 to every p: as the slope of j is
    at least -1 from a on, j_p(j_p(x)) >= p (x - (1-p)(1 - x - j(x))) + (1-p)(1 - j_p(x)) = x. At p = 1 it is tested.

    `mu`: Delta / sigma > 0; `d`: dimension >= 1; `rate`: p, the probability that the record takes part, in (0, 1].
    """
    centre = mu**2

    low, high = 1e-9, 4.0 * (d + centre) + 40.0
    for _ in range(4):  # the line hardly moves with the point that it touches
        grid = np.linspace(low, high, 64)
        above = chi_square.logpdf(grid, d, centre) > chi_square.logpdf(grid, d, 0.0)
        first = int(np.argmax(above))
        low, high = float(grid[first - 1]), float(grid[first])
    turn = 0.5 * (low + high)

    def at(cut: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """FPR, FNR and TPR of j_p."""
        alpha = chi_square.sf(cut, d, 0.0)
        missed = rate * chi_square.cdf(cut, d, centre) + (1 - rate) * chi_square.cdf(cut, d, 0.0)
        return alpha, missed, rate * chi_square.sf(cut, d, centre) + (1 - rate) * alpha

    a, b = (float(value) for value in at(np.array(turn))[:2])

    @lru_cache(maxsize=1)
    def table() -> tuple[np.ndarray, np.ndarray]:
        cuts = np.linspace(np.sqrt(turn), np.sqrt(chi_square.isf(1e-20, d, centre)), 256) ** 2
        return -ndtri(at(cuts)[2]), cuts

    def turned(alpha: np.ndarray) -> Pair:
        """(FNR, TPR) of j_p^-1 from b on: the cut at which the TPR of j_p is 1 - alpha, by Newton's steps from a table."""
        wanted = np.maximum(1.0 - alpha, 1e-18)
        cut = np.interp(-ndtri(wanted), *table())
        for _ in range(4):
            result = at(cut)[2]
            density = [np.exp(chi_square.logpdf(cut, d, c)) for c in (centre, 0.0)]
            density = rate * density[0] + (1 - rate) * density[1]
            cut = np.maximum(cut + np.log(result / wanted) * result / density, 0.5 * turn)
        return chi_square.sf(cut, d, 0.0), chi_square.cdf(cut, d, 0.0)

    def both(alpha: np.ndarray) -> Pair:
        missed, caught = a + b - alpha, 1.0 - a - b + alpha
        left, right = alpha < a, alpha > b
        if left.any():
            inner = np.maximum(alpha[left], 1e-300)
            _, missed[left], caught[left] = at(chi_square.isf(inner, d, 0.0))
        if right.any():
            missed[right], caught[right] = turned(alpha[right])
        ends = [(alpha == 0.0, 1.0), (alpha == 1.0, 0.0)]
        for end, value in ends:
            missed, caught = np.where(end, value, missed), np.where(end, 1.0 - value, caught)
        return missed, caught

    return RatesTradeOff(_for_vectors(both))


def known_resilience(mu: float, rate: float) -> RatesTradeOff:
    """Symm(f_p, f_p^-1) of the attacker who knows the shift of a Gaussian mechanism: f_p, a line of slope -1, and f_p^-1.

    Source: Dong, Roth and Su (2022), theorem 4.2: f_p up to the fixed point Phi(-mu/2) of f.
    """
    curve = MixtureTradeOff(GaussianTradeOff(mu), rate)
    a = float(ndtr(-0.5 * mu))
    b, turned = float(curve.beta(a)), curve.inverse()

    def both(alpha: np.ndarray) -> Pair:
        parts = [(alpha < a, curve), (alpha > b, turned)]
        missed, caught = a + b - alpha, 1.0 - a - b + alpha
        for inside, part in parts:
            if inside.any():
                missed, caught = (
                    np.where(inside, part.beta(alpha), missed),
                    np.where(inside, part.tpr_at(alpha), caught),
                )
        return missed, caught

    return RatesTradeOff(_for_vectors(both))


def cell_edges(reach: float, width: float) -> np.ndarray:
    """Ends of cells of at most this width to `reach` + 30 on both sides; 0 and +-reach, where a ratio may have a corner, are among them."""
    step = reach / np.ceil(reach / width)
    side = np.ceil((reach + 30.0) / step)
    return step * np.arange(-side, side + 1)


def cell_law(noise: str, edges: np.ndarray, shift: float, rate: float = 1.0) -> np.ndarray:
    """Probabilities of the cells, each from the tail that is small there."""
    law, masses = noise_named(noise), []
    for moved in (shift, 0.0):
        at = edges - moved
        masses.append(np.where(at[:-1] >= 0.0, -np.diff(law.sf(at)), np.diff(law.cdf(at))))
    return rate * masses[0] + (1 - rate) * masses[1]


def best_test(out: np.ndarray, inside: np.ndarray) -> PiecewiseLinearTradeOff:
    """The curve of the likelihood ratio between two laws on finitely many points, by sorting; shape (k,), sums of 1."""
    possible = (out > 0) | (inside > 0)
    out, inside = out[possible], inside[possible]
    with np.errstate(divide="ignore", over="ignore"):
        ratio = inside / out
    order = np.argsort(-ratio, kind="stable")
    ratio, out, inside = ratio[order], out[order], inside[order]
    # Equal ratios are a single point: the test randomises among them.
    starts = np.flatnonzero(np.concatenate([[True], ratio[1:] < ratio[:-1] * (1 - 1e-13)]))
    out, inside = np.add.reduceat(out, starts), np.add.reduceat(inside, starts)
    # Each rate is summed from its small end, where its digits are.
    alpha = np.concatenate([[0.0], np.cumsum(out)])
    beta = np.concatenate([np.cumsum(inside[::-1])[::-1], [0.0]])
    alpha, beta = alpha / alpha[-1], beta / beta[0]
    last = np.concatenate([np.diff(alpha) > 0, [True]])  # of several FNRs at a single FPR the least
    return PiecewiseLinearTradeOff(alpha[last], np.minimum(beta[last], 1.0 - alpha[last]))


def lira(shadows: int, ratio: float, *, sides: int = 2) -> RatesTradeOff:
    """Offline LiRA on a score that is linear in the output: Student's law, non-central with the record.
    `shadows`: models without the record, whose mean and deviation studentise the score, >= 2; `ratio`: Delta / sigma;
    `sides`: 2 where the sign of the shift is unknown, else 1.
    """
    moved = ratio / np.sqrt(1 + 1 / shadows)

    def both(alpha: np.ndarray) -> Pair:
        cut = scipy.stats.t.isf(alpha / sides, shadows - 1)
        other = noncentral_t.cdf(-cut, shadows - 1, moved) if sides == 2 else 0.0
        missed = noncentral_t.cdf(cut, shadows - 1, moved) - other
        return np.maximum(missed, 0.0), noncentral_t.sf(cut, shadows - 1, moved) + other

    return RatesTradeOff(both)
