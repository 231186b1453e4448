"""The log-likelihood ratio of a single coordinate against the expansions of lemmas C.8 and C.11, where sums have densities in closed form."""

import numpy as np
import scipy

from mipsim import referee as rf
from mipsim.referee import Replication

NORMAL, GAMMA = "normal", "gamma"
ROUNDING = 1e-14
"""Absolute error of float64 in the ratio at targets of a few standard deviations; the judged error is n times that."""


def difference_of_squares(n: float, t: float, x: float) -> float:
    """delta_out^2 - delta_in^2, with x = delta_out and delta_in = (x sqrt(n) - t)/sqrt(n - 1)."""
    return (2.0 * x * t * n**0.5 - x**2 - t**2) / (n - 1.0)


def exact_ratio(n: float, data: str, shape: int, t: float, x: float) -> float:
    """log(d_{n-1}(delta_in)/d_n(delta_out)), d_n the density of the standardised sum, at a sum x deviations above its mean.
    `n`: rows; `data`: `NORMAL`, or `GAMMA`: whose sums are gamma as well; `shape`: of the gamma law, a whole number; `t`:
    the target, in standard deviations from the mean; `x`: the sum, as described.
    """
    if data == NORMAL:
        return 0.5 * difference_of_squares(n, t, x)
    z, total = shape + t * shape**0.5, shape * n + x * (shape * n) ** 0.5
    rest = sum(np.log1p((-shape + i - x * (shape * n) ** 0.5) / total) for i in range(shape))
    return float(0.5 * np.log1p(-1.0 / n) + (shape * (n - 1.0) - 1.0) * np.log1p(-z / total) + z + rest)


def skew_term(n: float, data: str, shape: int, t: float, x: float) -> float:
    """lambda_3 (mu - z)/(n sigma) R_n."""
    inside = (x * n**0.5 - t) / (n - 1.0) ** 0.5
    skewness = 0.0 if data == NORMAL else 2.0 / shape**0.5
    return -skewness * t / n * (x**2 + x * inside + inside**2 - 3.0)


def expansion_error(
    n: int, data: str, shape: int, t: float, x: float, share: float, rho: float = 1.0, factor: float = 1.0
) -> rf.Number:
    """N times the error of the expansion; `share` of the skew term is taken, and `factor` spoils the quadratic term.
    `n`: rows that are averaged, k of the lemma on sub-sampling, whose n is k/rho; `data`: as in `exact_ratio`; `shape`:
    as there; `t`: as there; `x`: as there; `share`: 1 as printed, 1/6 for the Hermite polynomial of the Edgeworth
    expansion; `rho`: 1 for lemma C.8; `factor`: 1, or more for a control.
    """
    quadratic, skew = factor * difference_of_squares(n, t, x), share * skew_term(n, data, shape, t, x)
    exact = exact_ratio(n, data, shape, t, x)
    if rho == 1.0:
        off = exact - (0.5 * quadratic + skew)
    else:
        within = np.log1p(rho * np.expm1(exact - 0.5 * np.log1p(-1.0 / n)))
        off = within - rho * (0.5 * quadratic + skew + 0.5 / n + (1.0 - rho) / 8.0 * quadratic**2)
    return rf.Number(
        float(off) * n / rho, n / rho * ROUNDING, unit="n x error", route="densities in closed form"
    )


def by_densities(data: str, shape: int, t: float, x: float, rho: float = 1.0) -> Replication:
    """N times the error at 10,000 rows, with SciPy's densities of the two sums; its rounding is far below a thousandth."""
    n = 10_000
    inside = (x * n**0.5 - t) / (n - 1) ** 0.5
    if data == NORMAL:
        logs, skew = (scipy.stats.norm.logpdf(inside), scipy.stats.norm.logpdf(x)), 0.0
    else:
        law, total = scipy.stats.gamma.logpdf, shape * n + x * (shape * n) ** 0.5
        scale = 0.5 * np.log(shape * (n - 1)), 0.5 * np.log(shape * n)
        logs = (
            law(total - shape - t * shape**0.5, shape * (n - 1)) + scale[0],
            law(total, shape * n) + scale[1],
        )
        skew = -2.0 / shape**0.5 * t / n * (x**2 + x * inside + inside**2 - 3.0)
    exact, middle = logs[0] - logs[1], 0.5 * (x**2 - inside**2) + skew
    if rho < 1.0:
        exact = np.log(1.0 - rho + rho * (n / (n - 1)) ** 0.5 * np.exp(exact))
        middle = rho * (middle + 0.5 / n + (1.0 - rho) / 8.0 * (x**2 - inside**2) ** 2)
    value = float(exact - middle) * n / rho
    sizes = "" if rho == 1.0 else f" at k = {n:,} sampled rows of n = {n / rho:,.0f} records"
    return Replication(
        value,
        value - 1e-3,
        value + 1e-3,
        f"n times the error{sizes}",
        f"SciPy's densities of the sums of {n:,} rows",
        size=n,
    )
