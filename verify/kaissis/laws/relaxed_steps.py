"""Gaussian releases in many dimensions and many steps: the laws behind theorem 3 of Kaissis et al. (2023)."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.special import ndtri

from mipsim.theory import kaissis

D, N, BOTH = "d", "N", "d and N"
EQUATION_7, SHORT = "equation 7", "Phi(Phi^-1(1-a) - L/sqrt(2d))"


def growing(what: str, size: int, c: float, q: float, d: int) -> tuple[float, float]:
    """(dimension, L = N mu2^2)."""
    return (d, c * size ** (2 * q)) if what == N else (size, c * size**q if what == BOTH else c)


def probits(form: str, alpha: float, d: float, total: float) -> float:
    """Phi^-1 of what is claimed of both j and jinv."""
    if form == SHORT:
        return float(-ndtri(alpha) - kaissis.limit_mu(d, total))
    return float(-ndtri(alpha) / np.sqrt(1 + 2 * total / d) - total / np.sqrt(2 * d + 4 * total))


def at_once(part: str, alpha: float, d: float, total: float) -> float:
    """The probit of j or jinv."""
    j = kaissis.gaussian_tradeoff(total**0.5, d)
    return float((j if part == "j" else j.inverse()).probit_beta(alpha))


def by_scipy(part: str, alpha: float, d: float, total: float) -> float:
    """The probit of the FNR by SciPy's chi-square laws."""
    null, other = scipy.stats.chi2(d), scipy.stats.ncx2(d, total)
    return float(ndtri(other.cdf(null.isf(alpha)) if part == "j" else null.sf(other.ppf(alpha))))
