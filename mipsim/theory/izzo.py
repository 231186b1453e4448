"""Formulas of Izzo, Yoon, Arik & Zou, "Provable Membership Inference Privacy" (TMLR 2024), as printed and corrected.

eta is the best attack's accuracy above 1/2, on half of a finite data set; epsilon and delta are those of differential
privacy; sigma^M bounds the M-th central moment of the output, in the output's unit; c is the noise scale over sigma.
"""

import numpy as np
from scipy import special

from mipsim._validation import number, whole
from mipsim.tradeoff import PiecewiseLinearTradeOff

CONSTANT = 7.5
"""The numerical constant of theorem 9."""
CONSTANT_FROM_2 = 6.16
"""The numerical constant of corollaries 10 and 14, for M >= 2."""


def eta_from_dp(epsilon: float, delta: float = 0.0) -> float:
    """The eta = delta + (1 - delta)/(1 + e^-epsilon) - 1/2 in [0, 1/2], what (epsilon, delta)-DP implies; epsilon >= 0, delta in [0, 1].

    Written as (delta + (1 - delta) tanh(epsilon/2))/2, so that a small eta keeps its digits.

    Source: Izzo et al. (2024), theorem 4.

    Examples:
        >>> round(eta_from_dp(np.log(3.0)), 12), eta_from_dp(0.0, 0.5)
        (0.25, 0.25)
    """
    e, d = number("epsilon", epsilon, 0.0), number("delta", delta, 0.0, 1.0)
    return float(0.5 * (d + (1.0 - d) * np.tanh(0.5 * e)))


def epsilon_from_eta(eta: float) -> float:
    """The epsilon = log((1 + 2 eta)/(1 - 2 eta)), whose (epsilon, 0)-DP implies exactly eta-MIP, for eta in [0, 1/2).

    Source: Izzo et al. (2024), section 4 and figure 1.

    Examples:
        >>> round(epsilon_from_eta(0.25), 6)  # log 3
        1.098612
    """
    return float(2.0 * np.arctanh(2.0 * number("eta", eta, 0.0, 0.5, high_open=True)))


def noise_constant(eta: float, moment: float, constant: float = CONSTANT) -> float:
    """The c = (constant/eta)^(1 + 2/M) at eta, M > 0: the noise scale over sigma; constant is 7.5 (theorem 9) or 6.16 (corollaries 10, 14).

    Source: Izzo et al. (2024), theorem 9, corollary 14.

    Examples:
        >>> round(noise_constant(0.5, 2.0), 9), round(noise_constant(0.5, 2.0, CONSTANT_FROM_2), 4)
        (225.0, 151.7824)
    """
    power = 1.0 + 2.0 / number("moment", moment, 0.0, low_open=True)
    top = number("constant", constant, 0.0, low_open=True)
    return float((top / number("eta", eta, 0.0, low_open=True)) ** power)


def largest_eta(c: float, moment: float = 1.0) -> float:
    """The eta that noise of density exp(-||x||/(c sigma)) guarantees: tanh(1/c)/2 for M >= 1, 1/(2c)^M for M < 1.

    Derivation, for every norm, dimension and algorithm: pair the training sets with and without the target in any way, with
    outputs a and b. The two densities of a + X and b + X differ by a factor of at most e^(||a - b||/(c sigma)), so their total
    variation is at most t(||a - b||/(2 c sigma)), t = tanh. Total variation is convex, t is concave, and E||a - b|| <=
    E||a - m|| + E||b - m|| = 2 E||theta - m|| <= 2 sigma with m = E theta and M >= 1 (Jensen). Hence TV <= tanh(1/c),
    and eta = TV/2. For M < 1, t(x) <= x^M and ||a - b||^M <= ||a - m||^M + ||b - m||^M give TV <= 2 (2c)^-M.

    Args:
        c: the noise scale over sigma, > 0.
        moment: M > 0.

    Examples:
        >>> round(largest_eta(noise_constant(0.1, 2.0)), 8)  # far below the 0.1 that theorem 9 promises
        8.889e-05
    """
    c = number("c", c, 0.0, low_open=True)
    m = number("moment", moment, 0.0, low_open=True)
    return float(0.5 * np.tanh(1.0 / c)) if m >= 1.0 else min(0.5, float((2.0 * c) ** -m))


def mip_noise_scale(eta: float, sigma: float) -> float:
    """(6.16/eta)^2 sigma, the printed noise scale for eta-MIP at M = 2; the solid line of figure 1.

    Args:
        eta: > 0.
        sigma: root of a bound on the variance, > 0, in the unit of the output and of the scale.

    Source: Izzo et al. (2024), corollary 14 and figure 1.

    Examples:
        >>> round(mip_noise_scale(0.5, 2.0), 4)
        303.5648
    """
    return noise_constant(eta, 2.0, CONSTANT_FROM_2) * number("sigma", sigma, 0.0, low_open=True)


def sufficient_noise_scale(eta: float, sigma: float) -> float:
    """2 sigma / log((1 + 2 eta)/(1 - 2 eta)), which suffices for M >= 1, every norm and dimension; see `largest_eta`.

    It is the differentially private scale with the sensitivity replaced by 2 sigma, and equals sigma/(2 eta) for small eta.

    Args:
        eta: in (0, 1/2).
        sigma: > 0, with sigma >= E||theta - E theta||, in the unit of the output and of the scale.

    Examples:
        >>> round(sufficient_noise_scale(0.25, 1.0), 6)
        1.820478
    """
    spread = 2.0 * number("sigma", sigma, 0.0, low_open=True)
    return spread / epsilon_from_eta(number("eta", eta, 0.0, 0.5, low_open=True, high_open=True))


def dp_noise_scale(eta: float, sensitivity: float) -> float:
    """Sensitivity / log((1 + 2 eta)/(1 - 2 eta)), eta in (0, 1/2): the Laplace mechanism whose epsilon implies eta-MIP.

    The sensitivity, > 0 and in the unit of the scale, is the largest change of the output between adjacent sets.

    Source: Izzo et al. (2024), figure 1.

    Examples:
        >>> round(dp_noise_scale(0.25, 2.0), 6)
        1.820478
    """
    change = number("sensitivity", sensitivity, 0.0, low_open=True)
    return change / epsilon_from_eta(number("eta", eta, 0.0, 0.5, low_open=True, high_open=True))


def mip_tradeoff(eta: float) -> PiecewiseLinearTradeOff:
    """The curve f(a) = max(0, 1 - a - 2 eta), eta in [0, 1/2]: what eta-MIP implies for every attack, and no more.

    Accuracy is (TPR + 1 - FPR)/2 at k = n/2, so accuracy <= 1/2 + eta is TPR - FPR <= 2 eta. Theorem 8 prints eta for 2 eta.

    Source: Izzo et al. (2024), theorem 8.

    Examples:
        >>> round(mip_tradeoff(0.1).advantage(), 9)
        0.2
    """
    gap = 2.0 * number("eta", eta, 0.0, 0.5)
    if gap in (0.0, 1.0):
        return PiecewiseLinearTradeOff([0.0, 1.0], [1.0 - gap, 0.0])
    return PiecewiseLinearTradeOff([0.0, 1.0 - gap, 1.0], [1.0 - gap, 0.0, 0.0])


def corollary_10_interval(c: float, dimension: int) -> tuple[float, float]:
    """Proven bounds, some 1e-3 apart, of the largest eta of corollary 10's noise at M = 2 over ALL algorithms: E P(|U_1| < 1/r)/2, r ~ Exponential(c).

    For equal sigma_i the noise is invariant under rotations, so a shift of norm s costs a total variation g(s) =
    E P(|U_1| < s/(2r)) = E[1 - exp(-s/(2 c |U_1|))], concave in s. With `largest_eta`'s pairing, E g(||a - b||) <= g(2),
    and the two outputs at distance 2 (n = 2, A = +-sigma) reach it. Unequal sigma_i are a change of units.

    It is E h(|U_1|)/2 with h(u) = 1 - exp(-1/(c u)), which falls: over a cell of probabilities its mean lies between its values at the
    ends. The cells grow by a thousandth, from a probability of 1e-12 on; quantiles of U_1^2 ~ Beta(1/2, (d - 1)/2) are granted 1e-9, relative.

    Args:
        c: the scale of r, > 0.
        dimension: d >= 1.

    Source: Izzo et al. (2024), corollary 10, which promises (6.16/sqrt(c)) for every d; Riemann's sums of a monotone function.

    Examples:
        >>> low, high = corollary_10_interval(607.13, 100_000)
        >>> round(low, 3), round(high / low - 1, 2)
        (0.291, 0.0)
    """
    c, d = number("c", c, 0.0, low_open=True), whole("dimension", dimension, 1)
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

    Args:
        c: the scale of r, > 0.
        dimension: d >= 1.
        moment: M >= 1.

    Returns:
        (low, high), in [0, 1/2]; the number itself for d = 1.

    Raises:
        ValueError: if an argument is out of range.

    Source: Izzo et al. (2024), corollary 10, which promises 6.16 c^(-1/(1 + 2/M)) for every d.

    Examples:
        >>> low, high = corollary_10_bounds(noise_constant(0.25, 4.0, CONSTANT_FROM_2), 100_000, 4.0)
        >>> round(low, 3), high
        (0.473, 0.5)
    """
    c, d = number("c", c, 0.0, low_open=True), whole("dimension", dimension, 1)
    m = number("moment", moment, 1.0)
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
