"""The non-central Student law in both tails; SciPy's is NaN or far off in places.

P(T <= t) = E Phi(t U - delta) with U^2 = chi2_df / df. The integrand is positive and log-concave in u, so that Gauss's rule between the
points where it has fallen by e^-45 has no cancellation and full relative accuracy in either tail.

Source: Johnson, Kotz & Balakrishnan (1995), "Continuous univariate distributions", volume 2, section 31.
"""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, log_ndtr, roots_legendre

_FALL = 45.0  # exp(-45) is a ten-thousandth of the rounding of 1
_PANELS = 8
_NODES, _WEIGHTS = roots_legendre(32)
_HALVINGS = 60
_STIRLING = 20.0  # half degrees of freedom from which the series is right to 1e-14
_BLOCK = 2**12  # points at once


def cdf(t: object, df: float, delta: float) -> np.ndarray:
    """P(T <= t), relative error below 1e-11 from df 1 to 1e5.

    Args:
        t: any shape, finite or infinite.
        df: degrees of freedom, >= 1.
        delta: non-centrality, finite; |delta| up to 1e3 is tested.

    Raises:
        ValueError: naming df or delta.

    Examples:
        >>> print(cdf(0.0, 5, 0.0).round(9), cdf(-40.0, 3, 0.0))
        0.5 1.719...e-05
    """
    return np.exp(_log_tail(t, df, delta, 1.0))


def sf(t: object, df: float, delta: float) -> np.ndarray:
    """P(T > t), like `cdf`.

    Examples:
        >>> print(sf(1.0, 7, 0.5).round(9))
        0.326642574
    """
    return np.exp(_log_tail(t, df, delta, -1.0))


def _log_tail(t: object, df: float, delta: float, side: float) -> np.ndarray:
    if not (np.isfinite(df) and df >= 1.0):
        raise ValueError(f"df is {df:g}; it must be a finite number >= 1")
    if not np.isfinite(delta):
        raise ValueError(f"delta is {delta:g}; it must be finite")
    x = np.asarray(t, np.float64)
    flat = x.ravel()
    result = np.where(np.isnan(flat), np.nan, np.where(flat * side > 0.0, 0.0, -np.inf))
    inner = np.flatnonzero(np.isfinite(flat))
    for start in range(0, inner.size, _BLOCK):
        part = inner[start : start + _BLOCK]
        result[part] = np.minimum(_integrated(flat[part, None], float(df), float(delta), side), 0.0)
    return result.reshape(x.shape)


def _integrated(t: np.ndarray, df: float, delta: float, side: float) -> np.ndarray:
    def height(u: np.ndarray) -> np.ndarray:
        """Log of the integrand, less its constant."""
        with np.errstate(divide="ignore"):
            power = (df - 1.0) * np.log(u) if df > 1.0 else np.zeros_like(u)
        return power - 0.5 * df * (u - 1.0) * (u + 1.0) + log_ndtr(side * (t * u - delta))

    def slope(u: np.ndarray) -> np.ndarray:
        z = side * (t * u - delta)
        mills = np.exp(-0.5 * z * z - 0.5 * np.log(2.0 * np.pi) - log_ndtr(z))
        far = z < -30.0  # both exponents are large there
        mills = np.where(far, -z + 1.0 / np.where(far, -z, 1.0), mills)
        return (df - 1.0) / u - df * u + side * t * mills

    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ends = np.minimum(np.abs(delta / t), np.abs(t) * (abs(delta) + 2.0) / df)
    top = 2.0 + np.where(np.isfinite(ends), ends, 0.0)
    low, high = np.full(t.shape, 1e-300), top
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        rising = slope(middle) > 0.0
        low, high = np.where(rising, middle, low), np.where(rising, high, middle)
    mode = 0.5 * (low + high)
    least = height(mode) - _FALL
    low, high = np.zeros(t.shape), mode
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = height(middle) < least
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    left, reach = low, np.full(t.shape, 0.125 / np.sqrt(df))
    while (short := height(mode + reach) > least).any():
        reach = np.where(short, 2.0 * reach, reach)
    low, high = mode, mode + reach
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        below = height(middle) < least
        low, high = np.where(below, low, middle), np.where(below, middle, high)
    # Panels end at the mode, on either side of which the integrand may fall at different rates.
    share = np.linspace(0.0, 1.0, _PANELS + 1)
    edges = np.concatenate([left + (mode - left) * share, mode + (high - mode) * share[1:]], axis=1)
    half = 0.5 * np.diff(edges, axis=1)
    at = (edges[:, :-1] + half)[:, :, None] + half[:, :, None] * _NODES
    points = at.reshape(t.shape[0], -1)
    peak = height(mode)
    values = np.exp(height(points) - peak).reshape(at.shape) @ _WEIGHTS
    return _log_constant(0.5 * df) + peak[:, 0] + np.log((values * half).sum(axis=1))


def _log_constant(a: float) -> float:
    """Log of 2 a^a exp(-a) / Gamma(a): the density of U at 1."""
    if a < _STIRLING:
        return float(np.log(2.0) + a * np.log(a) - a - gammaln(a))
    series = 1.0 / (12.0 * a) - 1.0 / (360.0 * a**3) + 1.0 / (1260.0 * a**5) - 1.0 / (1680.0 * a**7)
    return float(np.log(2.0) + 0.5 * np.log(a / (2.0 * np.pi)) - series)
