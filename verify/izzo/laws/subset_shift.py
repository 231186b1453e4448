"""Two training sets, D = {x, y}: the exact advantage against noise around two points, in any number of dimensions."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import scipy
from scipy import special

from mipsim._validation import choice, number, whole

RADII = ("gamma", "exponential")
"""Laws of the noise's norm: Gamma(d, scale), which is the density exp(-||x||/scale), or Exponential(scale)."""


def euclidean_shift_eta(distance: float, scale: float, dimension: int, radius: str = "gamma") -> float:
    """Return eta = TV(X, X + w)/2 for X = r U, U uniform on the unit sphere of R^d, ||w|| = distance.

    The density falls with the norm, so the best attack names the nearer point, and
    TV = P(||X - w|| > ||X||) - P(||X - w|| < ||X||) = P(|U_1| < distance / (2 r)), with U_1^2 ~ Beta(1/2, (d - 1)/2).

    `distance`: >= 0, between the two outputs without noise; `scale`: of r, > 0, in the same unit; `dimension`: d >= 1;
    `radius`: "gamma": r ~ Gamma(d, scale), the density exp(-||x||/scale); "exponential": r ~ Exponential(scale), the
    modulus of a Laplace draw. Returns eta in [0, 1/2], to about 1e-9: what adaptive quadrature says of itself, an
    estimate.

    Source: Izzo et al. (2024), theorem 9 and corollary 10; the projection of a sphere is standard.

    >>> round(euclidean_shift_eta(2.0, 4.0, 1), 9)  # Laplace noise: (1 - exp(-2/8)) / 2
    0.110599608
    >>> round(euclidean_shift_eta(2.0, 607.13, 100_000, "exponential"), 3)
    0.291
    """
    reach = 0.5 * number("distance", distance, 0.0)
    b, d = number("scale", scale, 0.0, low_open=True), whole("dimension", dimension, 1)
    shape = float(d) if choice("radius", radius, RADII) == "gamma" else 1.0
    law = scipy.stats.gamma(shape, scale=b)
    if reach == 0.0:
        return 0.0
    if d == 1:
        return 0.5 * float(law.cdf(reach))

    def near(r: float) -> float:
        return float(special.betainc(0.5, 0.5 * (d - 1), min(1.0, (reach / r) ** 2)))

    constant = special.gammaln(shape) + shape * np.log(b)

    def density(r: float) -> float:
        return float(np.exp((shape - 1.0) * np.log(r) - r / b - constant))

    # Below `reach` the probability is 1; beyond, it falls like reach sqrt(d) / r.
    cuts = sorted({reach, reach * np.sqrt(d), *law.ppf([1e-12, 0.01, 0.5, 0.99]), float(law.isf(1e-16))})
    beyond = _integral(lambda r: near(r) * density(r), [c for c in cuts if c >= reach])
    return 0.5 * (float(law.cdf(reach)) + beyond)


def planar_shift_eta(scale: float, moment: float) -> float:
    """Return eta of corollary 10's noise in d = 2 between the outputs (1, 1) and (-1, -1), sigma = (1, 1), M >= 2.

    The norm of u - t w is convex in t and 1 at t = 0, so it is below 1 for 0 < t < t*(u) only, and the better guess changes at
    r = 1/t*: TV = E[1 - exp(-1/(scale t*)) | t* > 0]. On the curve |u_1|^M + |u_2|^M = 2 the smaller coordinate v has a
    density proportional to (1 - v^M/2)^(1/M - 1) on (0, 1), and t* > 0 where the larger coordinate has the sign of w.

    `scale`: of r ~ Exponential(scale), in (0, 1e8]; `moment`: M in [2, 1000]. Returns eta in [0, 1/2], to about 1e-5
    relative: what adaptive quadrature says of itself, an estimate.

    Source: Izzo et al. (2024), corollary 10.

    >>> round(planar_shift_eta(100.0, 2.0) / euclidean_shift_eta(2.0, 100.0, 2, "exponential"), 4)
    1.0
    """
    c, m = number("scale", scale, 0.0, 1e8, low_open=True), number("moment", moment, 2.0, 1000.0)

    def weight(v: float) -> float:
        return float(np.exp((1 / m - 1) * np.log1p(-0.5 * v**m)))

    def crossing(v: float, sign: float) -> float:
        large = np.exp(np.log(2.0 - v**m) / m)

        def excess(t: float) -> float:  # log of (|large - 2t|^M + |sign v - 2t|^M)/2
            parts = np.abs([large - 2 * t, sign * v - 2 * t])
            most = parts.max()
            return float(np.log(most) + np.log(0.5 * ((parts / most) ** m).sum()) / m)

        # The norm is least at the midpoint of the coordinates, where it is below 1.
        return scipy.optimize.root_scalar(
            excess, bracket=(0.25 * (large + sign * v), 2.0), xtol=1e-15, maxiter=500
        ).root

    def term(log_gap: float) -> float:  # v = 1 - e^log_gap: the mass that counts is near v = 1
        gap = np.exp(log_gap)
        v = 1.0 - gap
        shares = sum(-np.expm1(-1.0 / (c * crossing(v, sign))) for sign in (1.0, -1.0))
        return 0.5 * weight(v) * shares * gap

    # Gaps below e^-14/c hold a share of about 1e-6; fixed panels, since crossings are good to 1e-15 only.
    ends = np.linspace(-14.0 - max(1.0, np.log(c)), 0.0, 41)
    nodes, weights = np.polynomial.legendre.leggauss(12)
    total = 0.0
    for a, b in pairwise(ends):
        at = 0.5 * (a + b) + 0.5 * (b - a) * nodes
        total += 0.5 * (b - a) * float(weights @ np.array([term(float(x)) for x in at]))
    return float(0.5 * total / scipy.integrate.quad(weight, 0.0, 1.0)[0])


def _integral(function: Callable[[float], float], cuts: Sequence[float]) -> float:
    return sum(
        scipy.integrate.quad(function, a, b, epsabs=1e-15, epsrel=1e-9, limit=400)[0]
        for a, b in pairwise(cuts)
    )
