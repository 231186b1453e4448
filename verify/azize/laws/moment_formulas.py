"""The moments of lemmas C.9 and C.12 of Azize & Basu (2025), exact for every n, from the moments of the data.

Both lemmas speak of a polynomial in delta_out = (muhat - mu) sqrt(k) / sigma of a coordinate. A polynomial's mean and
variance follow from the moments of delta_out, and these from the cumulants of a record, which add over rows.
"""

from math import comb

import numpy as np
from numpy.polynomial import Polynomial

from mipsim._validation import member, number, real, real_array, whole

_MOST_MOMENTS = 1000  # of a higher order some binomial coefficients are no float64


def _checked(name: str, value: object, least: int = 0) -> np.ndarray:
    """Return moments of order 0 to R, which may be infinite or NaN."""
    array = real_array(name, value, finite=False)
    if array.ndim != 1 or not least < array.size <= _MOST_MOMENTS + 1:
        raise ValueError(
            f"{name} has shape {array.shape}; it must be a vector of shape (R + 1,) with R from {least} to {_MOST_MOMENTS}"
        )
    return array


def cumulants(central_moments: np.ndarray) -> np.ndarray:
    """Cumulants kappa_0..kappa_R from central moments mu_0..mu_R (mu_1 = 0); inf and NaN pass through.

    Source: the recursion mu_r = sum_k C(r-1, k-1) kappa_k mu_{r-k}.

    Examples:
        >>> print(cumulants(np.array([1.0, 0.0, 1.0, 0.0, 3.0])))
        [0. 0. 1. 0. 0.]
    """
    central_moments = _checked("central_moments", central_moments)
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
    """E X^r, r = 0..R, of X = (sum of `rows` records - mean) / (sigma sqrt(rows)); inf where not finite.

    Examples:
        >>> print(standardised_sum_moments(np.array([1.0, 0.0, 0.25, 0.0, 0.0625]), 4))  # fair coin
        [1.  0.  1.  0.  2.5]
    """
    central_moments, rows = _checked("central_moments", central_moments, 2), whole("rows", rows, 1)
    sigma = np.sqrt(central_moments[2])
    kappa = cumulants(central_moments) * rows / (sigma * np.sqrt(rows)) ** np.arange(len(central_moments))
    moments = np.zeros(len(kappa))
    moments[0] = 1.0
    for r in range(1, len(kappa)):
        moments[r] = _total(_products(kappa, moments, r, 2, r + 1))
    return moments


def expectation(polynomial: Polynomial, moments: np.ndarray) -> float:
    """E polynomial(X) from E X^r; inf when a needed moment is not finite.

    Examples:
        >>> expectation(Polynomial([1.0, 0.0, 2.0]), np.array([1.0, 0.0, 1.0]))
        3.0
    """
    coefficients = member("polynomial", polynomial, Polynomial, "a Polynomial").coef
    moments = _checked("moments", moments, len(coefficients) - 1)
    needed = [(c, m) for c, m in zip(coefficients, moments[: len(coefficients)], strict=True) if c != 0]
    return float(sum(c * m for c, m in needed)) if np.isfinite([m for _, m in needed]).all() else float("inf")


def _parts(t: float, skewness: float, rows: int) -> tuple[Polynomial, Polynomial, Polynomial]:
    """(delta_out, delta_out^2 - delta_in^2, skewness correction) as polynomials in x = delta_out."""
    t, skewness = number("t", t), real("skewness", skewness)
    out = Polynomial([0.0, 1.0])
    inside = Polynomial([-t / np.sqrt(rows - 1), np.sqrt(rows / (rows - 1))])
    correction = -skewness * t / rows * (out**2 + out * inside + inside**2 - 3.0)
    return out, out**2 - inside**2, correction


def mean_polynomial(t: float, skewness: float, n: int) -> Polynomial:
    """Y_n of the proof of lemma C.6 as a polynomial in delta_out, with the printed coefficient lambda_3.

    Source: Azize & Basu (2025), appendix C.2 (equation above 15).

    Examples:
        >>> print(mean_polynomial(1.0, 0.0, 2).coef.round(4))
        [-0.5     1.4142 -0.5   ]
    """
    _, difference, correction = _parts(t, skewness, whole("n", n, 2))
    return 0.5 * difference + correction


def subsampled_polynomial(t: float, skewness: float, k: int, sampling_rate: float) -> Polynomial:
    """W_n of the proof of theorem 4.2 as a polynomial in delta_out of the k = rho n rows, with rho the sampling rate.

    Source: Azize & Basu (2025), lemma C.11.

    Examples:
        >>> subsampled_polynomial(1.0, 0.0, 10, 0.5).degree()
        4
    """
    _, difference, correction = _parts(t, skewness, whole("k", k, 2))
    rho = number("sampling_rate", sampling_rate, 0.0, 1.0, low_open=True)
    return rho / 2 * difference + rho * correction + rho / (2 * k) + rho * (1 - rho) / 8 * difference**2


def mean_and_variance(polynomial: Polynomial, moments: np.ndarray) -> tuple[float, float]:
    """Mean and variance of polynomial(X); inf where a needed moment is not finite.

    Examples:
        >>> mean_and_variance(Polynomial([1.0, 2.0]), np.array([1.0, 0.0, 1.0]))
        (1.0, 4.0)
    """
    mean = expectation(polynomial, moments)
    centred = polynomial - mean if np.isfinite(mean) else polynomial
    return mean, expectation(centred**2, moments) if np.isfinite(mean) else float("inf")


def inside_moments(central_moments: np.ndarray, t: float, rows: int) -> np.ndarray:
    """E delta_out^r under H1 with the target among the `rows` rows: delta_out = sqrt((k-1)/k) X_{k-1} + t / sqrt(k).

    Examples:
        >>> print(inside_moments(np.array([1.0, 0.0, 1.0, 0.0, 3.0]), 2.0, 4)[:2])
        [1. 1.]
    """
    t, rows = number("t", t), whole("rows", rows, 2)
    base = standardised_sum_moments(central_moments, rows - 1)
    scale, shift = np.sqrt((rows - 1) / rows), t / np.sqrt(rows)
    result = np.empty(len(base))
    for r in range(len(base)):
        powers = [(base[i], shift ** (r - i)) for i in range(r + 1)]
        parts = [comb(r, i) * scale**i * b * p for i, (b, p) in enumerate(powers) if b != 0 and p != 0]
        result[r] = _total(parts)
    return result
