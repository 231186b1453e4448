"""Gaussian releases in many dimensions and many steps: the laws behind theorem 3 of Kaissis et al. (2023)."""

from __future__ import annotations

import math

import numpy as np
import scipy
from scipy.special import ndtr, ndtri

from mipsim.referee import Rate
from mipsim.theory import kaissis
from verify.berry_esseen import SAME_LAW

D, N, BOTH = "d", "N", "d and N"
EQUATION_7, SHORT = "equation 7", "Phi(Phi^-1(1-a) - L/sqrt(2d))"


FALLING = "where N grows mu2 falls, so that L grows slower or is constant; in probits"
HELD, HELD_PROBITS = "where N grows mu2 is held; in error rates", "where N grows mu2 is held; in probits"


def growing(what: str, size: int, c: float, q: float, d: int, reading: str = FALLING) -> tuple[float, float]:
    """(dimension, L = N mu2^2); where mu2 is held, it is c/5, the 1/5 of figure 2a or less."""
    if what == N and reading != FALLING:
        return d, size * (c / 5.0) ** 2
    return (d, c * size ** (2 * q)) if what == N else (size, c * size**q if what == BOTH else c)


def probits(form: str, alpha: float, d: float, total: float) -> float:
    """Phi^-1 of what is claimed of both j and jinv."""
    if form == SHORT:
        return float(-ndtri(alpha) - total / np.sqrt(2 * d))
    return float(-ndtri(alpha) / np.sqrt(1 + 2 * total / d) - total / np.sqrt(2 * d + 4 * total))


def at_once(part: str, alpha: float, d: float, total: float) -> float:
    """The probit of j or jinv."""
    j = kaissis.gaussian_tradeoff(total**0.5, d)
    return float((j if part == "j" else j.inverse()).probit_beta(alpha))


def unit_of(d: float, total: float, reading: str = FALLING) -> float:
    """The claim's own mu, or 1 probit if that is less: what vanishes is compared to how fast the claim does.

    With mu2 held probits grow without end as the root of L, which is the unit there.
    """
    return total**0.5 if reading == HELD_PROBITS else min(1.0, total / np.sqrt(2 * d))


THIRD_MOMENT = 15.0**0.75
"""E|X - EX|^3 / Var X^(3/2) <= (kurtosis)^(3/4), and that of (g + s)^2 is 3 + 12 (1 + 4 s^2)/(1 + 2 s^2)^2 <= 15 for each s, g normal."""
LEAST_PROBABILITY = 1e-150
"""Below it the rate is not stated: the size from which it holds, some (1 / probability)^2, would not fit into float64."""


def rate(what: str, c: float, q: float, form: str, part: str, alpha: float) -> Rate | None:
    """How far j or jinv is from a form at most, where L = c d^q and q > 0; the derivation of `kaissis-thm-3-corrected` has each step.
    `what`: `BOTH`; where d grows alone, L = c and q = 0, for which Berry and Esseen say nothing in this unit; `c`: > 0;
    `q`: in [0, 1/2]; `form`: `EQUATION_7` or `SHORT`; `part`: "j" or "jinv"; `alpha`: the FPR, in (0, 1). Returns None
    where a condition fails.

    >>> both = rate(BOTH, 1.0, 0.5, EQUATION_7, "j", 0.5)
    >>> both.power, round(both.constant), rate(D, 1.0, 0.0, EQUATION_7, "j", 0.5)
    (0.5, 73, None)
    """
    if what != BOTH or q <= 0.0:
        return None
    esseen, stretch = SAME_LAW * THIRD_MOMENT, 1.0 if part == "j" else 1.25
    z, half, mu = abs(float(ndtri(alpha))), 0.5 * min(alpha, 1.0 - alpha), c / math.sqrt(2.0)
    threshold = -float(ndtri(half))
    tail = 0.5 * float(ndtr(-stretch * threshold - mu))
    if tail < LEAST_PROBABILITY:
        return None
    moved = esseen * (stretch / density(threshold) + 1.0 / density(float(ndtri(tail))))
    forms = {
        ("j", EQUATION_7): 0.0,
        ("j", SHORT): z + mu,
        ("jinv", EQUATION_7): 2.0 * z + mu,
        ("jinv", SHORT): z,
    }

    def limit(size: int) -> float:  # what the derivation shows, and not the claim's own code
        shift = mu * size ** (q - 0.5)  # L / sqrt(2 d)
        probit = -float(ndtri(alpha)) - shift
        if form == EQUATION_7:
            probit /= math.sqrt(1.0 + 2.0 * c * size ** (q - 1.0))
        return probit / min(1.0, shift)

    return Rate(
        (moved + c * forms[part, form]) * max(1.0, 1.0 / mu),
        q,
        limit=limit,
        source=f"Berry and Esseen with Shevtsova's constant {SAME_LAW} (2011) for chi-square laws",
        start=max(16.0 * c * c, (esseen / min(half, tail)) ** 2),
    )


def density(z: float) -> float:
    """The standard normal density."""
    return math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def by_scipy(part: str, alpha: float, d: float, total: float) -> float:
    """The probit of the FNR by SciPy's chi-square laws."""
    null, other = scipy.stats.chi2(d), scipy.stats.ncx2(d, total)
    return float(ndtri(other.cdf(null.isf(alpha)) if part == "j" else null.sf(other.ppf(alpha))))
