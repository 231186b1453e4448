"""The moments of lemmas C.9 and C.12 of Azize & Basu (2025), exact for every n, from the moments of the data.

Both lemmas speak of a polynomial in delta_out = (muhat - mu) sqrt(k) / sigma of a coordinate. A polynomial's mean and
variance follow from the moments of delta_out, and these from the cumulants of a record, which add over rows.
"""

from math import comb

import numpy as np
from numpy.polynomial import Polynomial


def cumulants(central_moments: np.ndarray) -> np.ndarray:
    """Cumulants kappa_0..kappa_R from central moments mu_0..mu_R (mu_1 = 0); inf and NaN pass through.

    Source: the recursion mu_r = sum_k C(r-1, k-1) kappa_k mu_{r-k}.
    """
    kappa = np.zeros(len(central_moments))
    for r in range(1, len(central_moments)):
        kappa[r] = _total([central_moments[r], *(-x for x in _products(kappa, central_moments, r, 1, r))])
    return kappa


def _products(kappa: np.ndarray, moments: np.ndarray, r: int, first: int, last: int) -> list[float]:
    """The terms C(r-1, k-1) kappa_k mu_{r-k}, first <= k < last, that are not 0."""
    pairs = [(k, kappa[k], moments[r - k]) for k in range(first, last)]
    return [comb(r - 1, k - 1) * a * b for k, a, b in pairs if a != 0 and b != 0]


def _total(parts: list[float]) -> float:
    """Their sum; inf as soon as any is not finite, so that opposite infinities do not make NaN."""
    return float(sum(parts)) if np.isfinite(parts).all() else np.inf


def standardised_sum_moments(central_moments: np.ndarray, rows: int) -> np.ndarray:
    """E X^r, r = 0..R, of X = (sum of `rows` records - mean) / (sigma sqrt(rows)); inf where not finite."""
    sigma = np.sqrt(central_moments[2])
    kappa = cumulants(central_moments) * rows / (sigma * np.sqrt(rows)) ** np.arange(len(central_moments))
    moments = np.zeros(len(kappa))
    moments[0] = 1.0
    for r in range(1, len(kappa)):
        moments[r] = _total(_products(kappa, moments, r, 2, r + 1))
    return moments


def expectation(polynomial: Polynomial, moments: np.ndarray) -> float:
    """E polynomial(X) from E X^r; inf when a needed moment is not finite."""
    coefficients = polynomial.coef
    needed = [(c, m) for c, m in zip(coefficients, moments[: len(coefficients)], strict=True) if c != 0]
    return float(sum(c * m for c, m in needed)) if np.isfinite([m for _, m in needed]).all() else float("inf")


def _parts(t: float, skewness: float, rows: int) -> tuple[Polynomial, Polynomial, Polynomial]:
    """(delta_out, delta_out^2 - delta_in^2, skewness correction) as polynomials in x = delta_out."""
    out = Polynomial([0.0, 1.0])
    inside = Polynomial([-t / np.sqrt(rows - 1), np.sqrt(rows / (rows - 1))])
    correction = -skewness * t / rows * (out**2 + out * inside + inside**2 - 3.0)
    return out, out**2 - inside**2, correction


def mean_polynomial(t: float, skewness: float, n: int) -> Polynomial:
    """Y_n of the proof of lemma C.6 as a polynomial in delta_out, with the printed coefficient lambda_3.

    Source: Azize & Basu (2025), appendix C.2 (equation above 15).
    """
    _, difference, correction = _parts(t, skewness, n)
    return 0.5 * difference + correction


def subsampled_polynomial(t: float, skewness: float, k: int, sampling_rate: float) -> Polynomial:
    """W_n of the proof of theorem 4.2 as a polynomial in delta_out of the k = rho n rows, with rho the sampling rate.

    Source: Azize & Basu (2025), lemma C.11.
    """
    _, difference, correction = _parts(t, skewness, k)
    rho = sampling_rate
    return rho / 2 * difference + rho * correction + rho / (2 * k) + rho * (1 - rho) / 8 * difference**2


def mean_and_variance(polynomial: Polynomial, moments: np.ndarray) -> tuple[float, float]:
    """Mean and variance of polynomial(X); inf where a needed moment is not finite."""
    mean = expectation(polynomial, moments)
    centred = polynomial - mean if np.isfinite(mean) else polynomial
    return mean, expectation(centred**2, moments) if np.isfinite(mean) else float("inf")


def inside_moments(central_moments: np.ndarray, t: float, rows: int) -> np.ndarray:
    """E delta_out^r under H1 with the target among the `rows` rows: delta_out = sqrt((k-1)/k) X_{k-1} + t / sqrt(k)."""
    base = standardised_sum_moments(central_moments, rows - 1)
    scale, shift = np.sqrt((rows - 1) / rows), t / np.sqrt(rows)
    result = np.empty(len(base))
    for r in range(len(base)):
        powers = [(base[i], shift ** (r - i)) for i in range(r + 1)]
        parts = [comb(r, i) * scale**i * b * p for i, (b, p) in enumerate(powers) if b != 0 and p != 0]
        result[r] = _total(parts)
    return result
