"""Formulas of Izzo, Yoon, Arik & Zou, "Provable Membership Inference Privacy" (TMLR 2024), as printed and corrected.

eta is the best attack's accuracy above 1/2, on half of a finite data set; epsilon and delta are those of differential
privacy; sigma^M bounds the M-th central moment of the output, in the output's unit; c is the noise scale over sigma.
"""

import numpy as np

from mipsim._validation import number

CONSTANT = 7.5
"""The numerical constant of theorem 9."""
CONSTANT_FROM_2 = 6.16
"""The numerical constant of corollaries 10 and 14, for M >= 2."""


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
    """2 sigma / log((1 + 2 eta)/(1 - 2 eta)), which suffices for M >= 1, every norm and dimension.

    It is the differentially private scale with the sensitivity replaced by 2 sigma, and equals sigma/(2 eta) for small eta: outputs at a
    distance s differ by a total variation of at most tanh(s/(2 scale)), which is concave, and the mean of s is at most 2 sigma.

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
