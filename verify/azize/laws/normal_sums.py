"""The trade-off curve of a sum of independent terms, in closed form with a proven bracket (Berry and Esseen)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.bounds import EPS, CurveBounds, bounds_from_rates
from verify.azize.laws.z_moments import EXPONENTIAL_THIRD, World
from verify.berry_esseen import OTHER_LAWS

THIRD: dict[str, Callable[[float], float]] = {
    "bernoulli": lambda p: float((p**2 + (1 - p) ** 2) / np.sqrt(p * (1 - p))),
    "gaussian": lambda _: float(np.sqrt(8 / np.pi)),
    "exponential": lambda _: EXPONENTIAL_THIRD,
    "laplace": lambda _: 6 / 2**1.5,
    "uniform": lambda _: 12**1.5 / 32,
    "student": lambda k: (
        float((k - 2) ** 1.5 * np.exp(gammaln((k - 3) / 2) - gammaln(k / 2)) / np.sqrt(np.pi))
        if k > 3
        else np.inf
    ),
}
"""Law -> parameter -> E|X - mean|^3 / sd^3."""


class NormalCurve(AbstractTradeOff):
    """The curve of a single score that is normal in both worlds up to a proven error; it need not be convex.
    >>> curve = NormalCurve(1.0, 1.0, 0.01, 0.01)
    >>> low, high = curve.beta_bounds(np.array([0.5]))
    >>> print(low.round(3), high.round(3))
    [0.143] [0.175]
    """

    mu: float  # mean with the target in less mean without, in standard deviations of the score without
    scale: float  # standard deviation of the score with the target in, in the same unit
    # error_out, error_in: bounds on the distance of the score's distribution function from the normal distribution
    # function
    error_out: float = 0.0
    error_in: float = 0.0

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        """Bounds of both rates; ties at the threshold are decided by lot."""
        # At the threshold x: 1 - alpha lies between P_out(score < x) and P_out(score <= x), both near Phi(x).
        return (
            bounds_from_rates(self._rates, log_fpr, error=self.error_in)
            if not self.error_out
            else self._moved(log_fpr)
        )

    def _moved(self, log_fpr: np.ndarray) -> CurveBounds:
        fpr = np.exp(log_fpr)
        with np.errstate(divide="ignore"):
            more, fewer = (np.log(np.clip(fpr + sign * (self.error_out + EPS), 0.0, 1.0)) for sign in (1, -1))
        high, low = (bounds_from_rates(self._rates, x, error=min(self.error_in, 1.0)) for x in (fewer, more))
        return CurveBounds(low.log_fnr_low, high.log_fnr_high, high.log_tpr_low, low.log_tpr_high)

    def _rates(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z = (-ndtri(fpr) - self.mu) / self.scale
        return ndtr(z), ndtr(-z)


def linear_curve(
    weight: np.ndarray, t: np.ndarray, third: np.ndarray, count: np.ndarray, n: int
) -> NormalCurve:
    """The curve of a linear score w'muhat of the mean of n rows of independent coordinates.

    The score sums n d terms w_j (Z_ij - mean_j); with the target in, a single row is constant, moves it by
    mu = w'(z - mean)/sqrt(n w'Sigma w) standard deviations, and n - 1 rows remain.

    `weight`: w_j sd_j of a single coordinate of each group, shape (G,); `t`: (z_j - mean_j) / sd_j, shape (G,); `third`:
    E|Z_j - mean_j|^3 / sd_j^3, shape (G,); `count`: coordinates of each group, shape (G,); `n`: rows, >= 2.

    >>> one = np.ones(1)
    >>> curve = linear_curve(one, one, 1.6 * one, np.array([100.0]), 100)
    >>> print(curve.mu, round(curve.error_out, 6))
    1.0 0.00896
    """
    spread = float(np.sum(count * weight**2))
    mu = float(np.sum(count * weight * t)) / np.sqrt(n * spread)
    ratio = OTHER_LAWS * float(np.sum(count * np.abs(weight) ** 3 * third)) / spread**1.5
    return NormalCurve(
        float(mu), float(np.sqrt((n - 1) / n)), float(ratio / np.sqrt(n)), float(ratio / np.sqrt(n - 1))
    )


@dataclass(frozen=True)
class NearlyNormal:
    """N(mean, variance) within `error` of a sum's distribution function."""

    mean: float
    variance: float
    error: float


def sum_law(terms: Sequence[tuple[float, float, World]]) -> NearlyNormal:
    """The law of sum_g w_g (sum of count_g independent terms), from (w, count, moments) triples.

    |Phi(x + a) - Phi(x)| <= 0.4 |a| and |Phi(x sqrt(1 + e)) - Phi(x)| <= 0.25 |e| turn errors and spreads of moments into errors
    of the law (for e >= -1/2; a spread by the Cauchy-Schwarz inequality, E|X - EX| <= sd).

    >>> law = sum_law([(2.0, 100.0, World(0.5, 1.0, 1.0))])
    >>> print(law.mean, law.variance, round(law.error, 9))
    100.0 400.0 0.056
    """
    mean = sum(w * count * item.mean for w, count, item in terms)
    variance = sum(w**2 * count * item.variance for w, count, item in terms)
    shift = sum(abs(w) * count * item.mean_error for w, count, item in terms)
    shift += sum(w**2 * count * item.mean_spread for w, count, item in terms) ** 0.5
    stretch = sum(w**2 * count * item.variance_error for w, count, item in terms)
    stretch += sum(w**4 * count * item.variance_spread for w, count, item in terms) ** 0.5
    error = OTHER_LAWS * sum(abs(w) ** 3 * count * item.third for w, count, item in terms) / variance**1.5
    error += 0.4 * shift / variance**0.5 + 0.25 * stretch / variance
    error += sum(count * item.elsewhere for _, count, item in terms)
    return NearlyNormal(float(mean), float(variance), float(error))


def sum_curve(out: NearlyNormal, inside: NearlyNormal) -> NormalCurve:
    """The curve of the tests that reject large sums."""
    sd = np.sqrt(out.variance)
    return NormalCurve(
        float((inside.mean - out.mean) / sd), float(np.sqrt(inside.variance) / sd), out.error, inside.error
    )


def law_third(laws: Sequence[tuple[str, float]]) -> np.ndarray:
    """Third absolute standardised moments of (law, parameter) pairs.
    >>> print(law_third([("bernoulli", 0.5), ("uniform", 1.0)]).round(4))
    [1.    1.299]
    """
    return np.array([THIRD[law](parameter) for law, parameter in laws])
