"""Two training sets, D = {x, y}: the exact advantage against noise around two points, in any number of dimensions."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
from scipy import integrate, special, stats

from mipsim._validation import number, one_of, whole

RADII = ("gamma", "exponential")
"""Laws of the noise's norm: Gamma(d, scale), which is the density exp(-||x||/scale), or Exponential(scale)."""


def euclidean_shift_eta(distance: float, scale: float, dimension: int, radius: str = "gamma") -> float:
    """eta = TV(X, X + w)/2 for X = r U, U uniform on the unit sphere of R^d, ||w|| = distance.

    The density falls with the norm, so the best attack names the nearer point, and
    TV = P(||X - w|| > ||X||) - P(||X - w|| < ||X||) = P(|U_1| < distance / (2 r)), with U_1^2 ~ Beta(1/2, (d - 1)/2).

    Args:
        distance: >= 0, between the two outputs without noise.
        scale: of r, > 0, in the same unit.
        dimension: d >= 1.
        radius: "gamma": r ~ Gamma(d, scale), the density exp(-||x||/scale); "exponential": r ~ Exponential(scale),
            the modulus of a Laplace draw.

    Returns:
        eta in [0, 1/2], to about 1e-9.

    Raises:
        ValueError: if an argument is out of range.

    Source: Izzo et al. (2024), theorem 9 and corollary 10; the projection of a sphere is standard.

    Examples:
        >>> round(euclidean_shift_eta(2.0, 4.0, 1), 9)  # Laplace noise: (1 - exp(-2/8)) / 2
        0.110599608
        >>> round(euclidean_shift_eta(2.0, 607.13, 100_000, "exponential"), 3)
        0.291
    """
    reach = 0.5 * number("distance", distance, 0.0)
    b, d = number("scale", scale, 0.0, low_open=True), whole("dimension", dimension, 1)
    law = stats.gamma(d, scale=b) if one_of("radius", radius, RADII) == "gamma" else stats.expon(scale=b)
    if reach == 0.0:
        return 0.0
    if d == 1:
        return 0.5 * float(law.cdf(reach))

    def near(r: float) -> float:
        return float(special.betainc(0.5, 0.5 * (d - 1), min(1.0, (reach / r) ** 2)))

    # Below `reach` the probability is 1; beyond, it falls like reach sqrt(d) / r.
    cuts = sorted({reach, reach * np.sqrt(d), *law.ppf([1e-12, 0.01, 0.5, 0.99]), float(law.isf(1e-16))})
    beyond = _integral(lambda r: near(r) * float(law.pdf(r)), [c for c in cuts if c >= reach])
    return 0.5 * (float(law.cdf(reach)) + beyond)


def _integral(function: Callable[[float], float], cuts: Sequence[float]) -> float:
    return sum(
        integrate.quad(function, a, b, epsabs=1e-14, epsrel=1e-10, limit=400)[0] for a, b in pairwise(cuts)
    )
