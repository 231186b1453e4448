"""Errors of the moments that the proofs of Azize & Basu expand, by exact moments."""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import gamma, gammaln

import mipsim as mi
from mipsim.referee import Replication
from verify.azize.laws import moment_formulas as moments
from verify.by_hand import near

DATA = ("Bernoulli", "normal", "exponential", "Laplace", "uniform", "Student t")
ROUNDING = 1e-15
"""Relative error of float64 in a moment of order 1 or less; the judged error is n times that."""


@cache
def _moments(data: str, p: float, df: float) -> tuple[np.ndarray, float]:
    """(central moments up to the eighth, skewness)."""
    item, zero = np.ones(1), np.zeros(1)
    law: mi.AbstractDistribution = {
        "Bernoulli": lambda: mi.Bernoulli([p]),
        "normal": lambda: mi.Gaussian(zero, item),
        "exponential": lambda: mi.Exponential(item),
        "Laplace": lambda: mi.Laplace(zero, item),
        "uniform": lambda: mi.Uniform(zero, item),
        "Student t": lambda: mi.StudentT(df, zero, item),
    }[data]()
    skewness = float(law.central_moment(3)[0] / law.variance[0] ** 1.5)
    return np.array([law.central_moment(r)[0] for r in range(9)]), skewness


def mean_error(
    n: int, data: str, p: float, df: float, t: float, q: float, factor: float = 1.0
) -> tuple[float, float]:
    """The largest absolute error of E0, E1, V0 and V1 of Y_n, times n, at t n^q; `factor` spoils t^2 for the control."""
    central, skewness = _moments(data, p, df)
    t = t * n**q
    y, square = moments.mean_polynomial(t, skewness, n), factor * t**2
    errors = []
    for sign, table in (
        (-1, moments.standardised_sum_moments(central, n)),
        (1, moments.inside_moments(central, t, n)),
    ):
        mean, variance = moments.mean_and_variance(y, table)
        errors += [n * abs(mean - (-1 + sign * square) / (2 * n)), n * abs(variance - square / n)]
    return float(max(errors)), 8 * n * ROUNDING * (1 + t**2)


def by_closed_form(data: str, p: float, df: float, t: float, q: float) -> Replication:
    """E0 of Y_n from the first two moments of the sum, without its table: n E0 = -(1 + t^2) n/(2(n - 1)) - l t E0 R."""
    n, skewness = 10_000, {"Bernoulli": (1 - 2 * p) / (p * (1 - p)) ** 0.5, "exponential": 2.0}.get(data, 0.0)
    t = t * n**q
    a = np.sqrt(n / (n - 1))
    exact = -(1 + t**2) * n / (2 * (n - 1)) - skewness * t * (a + a**2 - 2 + t**2 / (n - 1))
    off = abs(exact + (1 + t**2) / 2)
    return Replication(
        *near(off),
        what=f"|n (E0[Y] - printed)| at t = {t:.4g} and n = {n:,}",
        how="closed form of the first two moments of the sum",
        size=n,
    )


def subsample_error(
    n: int, data: str, p: float, df: float, t: float, rho: float, factor: float = 1.0
) -> tuple[float, float]:
    """The largest error of the four moments of W_n, times n; H1 is the mixture of "sampled" and "not sampled"."""
    central, skewness = _moments(data, p, df)
    k = round(rho * n)
    size = k / rho  # not n: at a size that rho does not divide, the lemma's n is k / rho
    w = moments.subsampled_polynomial(t, skewness, k, rho)
    out, sample = moments.standardised_sum_moments(central, k), moments.inside_moments(central, t, k)
    with np.errstate(invalid="ignore"):
        mixed = np.where(np.isfinite(out) & np.isfinite(sample), rho * sample + (1 - rho) * out, np.inf)
    errors = []
    for sign, table in ((-1, out), (1, mixed)):
        mean, variance = moments.mean_and_variance(w, table)
        square = factor * rho * t**2
        errors += [size * abs(mean - sign * square / (2 * size)), size * abs(variance - square / size)]
    return float(max(errors)), 8 * n * ROUNDING * (1 + t**2)


def mean_square(data: str, p: float, df: float, scale: float, off: float = 0.0) -> float:
    """E (z - mean - off)^2 / variance of a single coordinate, from its mean, second moment and variance in closed form."""
    square, heavy = scale**2, df * gamma(1.5) * np.exp(gammaln(0.5 * df - 1) - gammaln(0.5 * df)) / gamma(0.5)
    mean, second, variance = {
        "Bernoulli": (0.0, p * (1 - p) ** 2 + (1 - p) * p**2, p * (1 - p)),
        "normal": (0.0, 2 * gamma(1.5) / gamma(0.5) * square, square),
        "exponential": (scale, gamma(3.0) * square, square),
        "Laplace": (0.0, gamma(3.0) * square, 2 * square),
        "uniform": (scale / 2, square / 3, square / 12),
        "Student t": (0.0, heavy * square, square * df / (df - 2)),
    }[data]
    return float((second - mean**2 + off**2) / variance)
