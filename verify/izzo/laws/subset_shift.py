"""Two training sets, D = {x, y}: the exact advantage against noise around two points of the plane."""

from itertools import pairwise

import numpy as np
import scipy

from mipsim._validation import number


def planar_shift_eta(scale: float, moment: float) -> float:
    """Return eta of corollary 10's noise in d = 2 between the outputs (1, 1) and (-1, -1), sigma = (1, 1), M >= 2.

    The norm of u - t w is convex in t and 1 at t = 0, so it is below 1 for 0 < t < t*(u) only, and the better guess changes at
    r = 1/t*: TV = E[1 - exp(-1/(scale t*)) | t* > 0]. On the curve |u_1|^M + |u_2|^M = 2 the smaller coordinate v has a
    density proportional to (1 - v^M/2)^(1/M - 1) on (0, 1), and t* > 0 where the larger coordinate has the sign of w.

    `scale`: of r ~ Exponential(scale), in (0, 1e8]; `moment`: M in [2, 1000]. Returns eta in [0, 1/2], to about 1e-5
    relative: what adaptive quadrature says of itself, an estimate.

    Source: Izzo et al. (2024), corollary 10.

    >>> print(planar_shift_eta(100.0, 2.0))
    0.018211
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
