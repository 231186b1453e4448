"""The lower tail of a gamma law of a large shape, where SciPy's own loses its digits."""

import numpy as np
from scipy.special import gammainc, roots_legendre

LARGE = 1e5
"""Shapes from here on: SciPy 1.17 ends its series after 2000 terms, and 4.5 deviations below the mean has no digit left at 1e7."""
NEAR, FAR = 4.0, 38.0
"""Deviations below the mean between which the integral is taken: nearer SciPy has another series, farther is below exp(-700)."""

_NODES, _WEIGHTS = roots_legendre(48)  # the rule is exact to rounding for a normal density on such a stretch


def gamma_below(shape: float, x: np.ndarray) -> np.ndarray:
    """P(Gamma(shape) <= x), shape of x, relative error of a few 1e-14 however small it is, down to 1e-300.

    Beyond `LARGE` it is the integral over t = x exp(-v): x^a exp(-x) / Gamma(a) int_0^inf exp(-(a - x) v - x (exp(-v) - 1 + v)) dv, by
    Gauss's rule as far as the integrand is above exp(-45) of its largest value; its factor by Stirling's series.

    `shape`: a > 0; `x`: >= 0.

    Source: Gautschi (1979), "A computational procedure for incomplete gamma functions", for the integral; NIST's handbook, 5.11.1.
    """
    x = np.asarray(x, float)
    result = np.asarray(gammainc(shape, x))
    sd = np.sqrt(shape)
    below = (shape - x) / sd
    some = (below > NEAR) & (below < FAR)
    if shape < LARGE or not some.any():
        return result
    y, u = x[some], below[some]
    reach = (np.sqrt(u * u + 90.0) - u) * 1.1
    v = 0.5 * reach[:, None] * (1.0 + _NODES) / sd
    less = (shape - y) / shape
    # exp(-v) - 1 + v and -less - log(1 - less), each by its series: v and less are below 0.13.
    order = np.arange(1.0, 20.0)
    bend, fall = _series(-v, 1.0 / np.cumprod(order)), _series(less, 1.0 / order)
    inner = np.exp(-(shape - y)[:, None] * v - y[:, None] * bend) @ _WEIGHTS * (0.5 * reach / sd)
    log_factor = -shape * fall - 1.0 / (12.0 * shape) + 1.0 / (360.0 * shape**3)
    result = result.copy()
    result[some] = sd / np.sqrt(2.0 * np.pi) * np.exp(log_factor) * inner
    return result


def _series(z: np.ndarray, coefficients: np.ndarray) -> np.ndarray:
    """Sum of coefficients z^k over k = 2, 3 and so on, of those given from k = 1 on."""
    total = np.zeros_like(z)
    for coefficient in coefficients[:0:-1]:
        total = total * z + coefficient
    return total * z * z
