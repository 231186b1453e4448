"""What noise of density exp(-||x||/(c sigma)) guarantees, and bounds of what that of corollary 10 of Izzo et al. does."""

import numpy as np
from scipy import special


def largest_eta(c: float, moment: float = 1.0) -> float:
    """The eta that noise of density exp(-||x||/(c sigma)) guarantees: tanh(1/c)/2 for M >= 1, 1/(2c)^M for M < 1.

    Derivation, for every norm, dimension and algorithm: pair the training sets with and without the target in any way, with
    outputs a and b. The two densities of a + X and b + X differ by a factor of at most e^(||a - b||/(c sigma)), so their total
    variation is at most t(||a - b||/(2 c sigma)), t = tanh. Total variation is convex, t is concave, and E||a - b|| <=
    E||a - m|| + E||b - m|| = 2 E||theta - m|| <= 2 sigma with m = E theta and M >= 1 (Jensen). Hence TV <= tanh(1/c),
    and eta = TV/2. For M < 1, t(x) <= x^M and ||a - b||^M <= ||a - m||^M + ||b - m||^M give TV <= 2 (2c)^-M.
    """
    return float(0.5 * np.tanh(1.0 / c)) if moment >= 1.0 else min(0.5, float((2.0 * c) ** -moment))


def corollary_10_interval(c: float, dimension: int) -> tuple[float, float]:
    """Proven bounds, some 1e-3 apart, of the largest eta of corollary 10's noise at M = 2 over ALL algorithms: E P(|U_1| < 1/r)/2, r ~ Exponential(c).

    For equal sigma_i the noise is invariant under rotations, so a shift of norm s costs a total variation g(s) =
    E P(|U_1| < s/(2r)) = E[1 - exp(-s/(2 c |U_1|))], concave in s. With `largest_eta`'s pairing, E g(||a - b||) <= g(2),
    and the two outputs at distance 2 (n = 2, A = +-sigma) reach it. Unequal sigma_i are a change of units.

    It is E h(|U_1|)/2 with h(u) = 1 - exp(-1/(c u)), which falls: over a cell of probabilities its mean lies between its values at the
    ends. The cells grow by a thousandth, from a probability of 1e-12 on; quantiles of U_1^2 ~ Beta(1/2, (d - 1)/2) are granted 1e-9, relative.
    """
    d = dimension
    if d == 1:
        only = float(-0.5 * np.expm1(-1.0 / c))
        return only, only
    rare = np.geomspace(1e-12, 0.5, 27_000)
    p = np.unique(np.concatenate([[0.0], rare, 1.0 - np.geomspace(0.5, 1e-12, 27_000), [1.0]]))
    u = np.sqrt(special.betaincinv(0.5, 0.5 * (d - 1), p))
    with np.errstate(divide="ignore"):
        h = -np.expm1(-1.0 / (c * u))
    cells = np.diff(p)
    return 0.5 * float(cells @ h[1:]) * (1.0 - 1e-9), 0.5 * float(cells @ h[:-1]) * (1.0 + 1e-9)


def corollary_10_bounds(c: float, dimension: int, moment: float) -> tuple[float, float]:
    """Return proven bounds on the best attack's eta for corollary 10's noise r U around (1, ..., 1) and (-1, ..., -1), every sigma_i = 1.

    Below: the attack that asks for the sign of the mean of the output is wrong with probability E exp(-1/(c |V|))/2, V the mean
    of U's coordinates, so that eta >= E h(V^2)/2 with h(s) = 1 - exp(-1/(c sqrt(s))). The largest convex function below h is h itself
    from s = 1/(4 c^2) on and the line 1 - 4 c^2 e^-2 s before, and Jensen's inequality puts E V^2 in it. With Y = ||Y|| U,
    ||Y|| independent of U, E V^2 = (Gamma(3/M)/Gamma(1/M)/d) / E ||Y||^2, and d ||Y||^M ~ Gamma(d/M).

    Above: the density of X is proportional to e^(-s/c) s^-(d-1), s its norm, and a point at distance s from an output is at most
    s + 2 from the other. So TV <= E min(1, 2/c + 2 (d - 1)/r) with r ~ Exponential(c), since 1 - e^-x (1 + 2/r)^-(d-1) <= x + 2 (d - 1)/r.
    """
    d, m = dimension, moment
    if d == 1:
        only = float(-0.5 * np.expm1(-1.0 / c))
        return only, only
    square = special.poch(1 / m, 2 / m) / d ** (1 - 2 / m) / special.poch(d / m, 2 / m)
    root = np.sqrt(square)
    low = -np.expm1(-1.0 / (c * root)) if 2.0 * c * root >= 1.0 else 1.0 - 4.0 * c**2 * np.exp(-2.0) * square
    a, b = 2.0 / c, 2.0 * (d - 1)
    high = 1.0
    if a < 1.0:
        z = b / (1.0 - a) / c
        high = min(1.0, -np.expm1(-z) + a * np.exp(-z) + b / c * special.exp1(z))
    return 0.5 * float(low), 0.5 * float(high)
