"""The log-likelihood ratio of one coordinate against the expansions of lemmas C.8 and C.11, where sums have densities in closed form."""

import numpy as np
import scipy

from mipsim import referee as rf

NORMAL, GAMMA = "normal", "gamma"
ROUNDING = 1e-14
"""Absolute error of float64 in the ratio at targets of a few standard deviations; the judged error is n times that."""


def difference_of_squares(n: float, t: float, x: float) -> float:
    """delta_out^2 - delta_in^2, with x = delta_out and delta_in = (x sqrt(n) - t)/sqrt(n - 1)."""
    return (2.0 * x * t * n**0.5 - x**2 - t**2) / (n - 1.0)


def exact_ratio(n: float, data: str, shape: int, t: float, x: float) -> float:
    """log(d_{n-1}(delta_in)/d_n(delta_out)), d_n the density of the standardised sum, at a sum x deviations above its mean.

    Args:
        n: rows.
        data: `NORMAL`, or `GAMMA`: whose sums are gamma as well.
        shape: of the gamma law, a whole number.
        t: the target, in standard deviations from the mean.
        x: the sum, as described.
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
    """N times the error of the expansion; `share` of the skew term is taken, and `factor` spoils the quadratic one.

    Args:
        n: rows that are averaged, k of the lemma on sub-sampling, whose n is k/rho.
        data: as in `exact_ratio`.
        shape: as there.
        t: as there.
        x: as there.
        share: 1 as printed, 1/6 for the Hermite polynomial of the Edgeworth expansion.
        rho: 1 for lemma C.8.
        factor: 1, or more for a control.
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


def drawn_expansion(data: str, shape: int, t: float, rho: float = 1.0) -> str:
    """Sums drawn with NumPy, densities by SciPy."""
    n, rng = 10_000, np.random.default_rng(0)
    if data == NORMAL:
        return "of normal data the skew term is 0"
    total = rng.gamma(shape * n, size=20_000)
    x, z = (total - shape * n) / (shape * n) ** 0.5, shape + t * shape**0.5
    inside = (total - z - shape * (n - 1)) / (shape * (n - 1)) ** 0.5
    pdf = scipy.stats.gamma.logpdf
    ratio = pdf(total - z, shape * (n - 1)) - pdf(total, shape * n) + 0.5 * np.log1p(-1.0 / n)
    skew = -2.0 / shape**0.5 * t / n * (x**2 + x * inside + inside**2 - 3.0)
    exact = ratio if rho == 1.0 else np.log1p(rho * np.expm1(ratio - 0.5 * np.log1p(-1.0 / n)))
    square = x**2 - inside**2
    middle = (0.0 if rho == 1.0 else 0.5 / n + (1 - rho) / 8 * square**2) + 0.5 * square
    sizes = [
        n / rho * np.sqrt(np.mean((exact - rho * (middle + share * skew)) ** 2)) for share in (1.0, 1 / 6)
    ]
    return (
        f"20,000 sums of {n:,} gamma records (NumPy, seed 0), densities by SciPy: the root mean square of n times the error is "
        f"{sizes[0]:.3f} as printed and {sizes[1]:.3f} with a sixth of the skew term"
    )
