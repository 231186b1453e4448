"""The classical calibration of the Gaussian mechanism, used beyond the epsilon that it is stated for."""

import math

import numpy as np
from scipy.integrate import quad
from scipy.special import log_ndtr
from scipy.stats import norm

from mipsim.referee import Bound, Control, Number, Point, Real, Statement

GRANTED = 1e-13
"""What SciPy's `log_ndtr` is granted, relative."""


def log_delta(epsilon: float, mu: float) -> Number:
    """log10 of the least delta for which a shift by mu standard deviations of a normal law is (epsilon, delta)-DP.

    delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu), with r the ratio of the second term to the first: an error e of
    the logarithms is one of e (1 + r) / (1 - r) of log delta.

    Source: Balle & Wang (2018), theorem 8.

    Examples:
        >>> round(10 ** log_delta(1.0, 1.0).value, 6)
        0.126937
    """
    first = float(log_ndtr(mu / 2.0 - epsilon / mu))
    second = epsilon + float(log_ndtr(-mu / 2.0 - epsilon / mu))
    left = -math.expm1(second - first)  # 1 - r
    error = GRANTED * (2.0 + abs(first) + abs(second) + epsilon) * (2.0 - left) / left
    return Number((first + math.log(left)) / math.log(10.0), error)


def by_quadrature(epsilon: float, log10_delta: float) -> str:
    """Delta as the integral of what the density of N(mu, 1) has above e^epsilon times that of N(0, 1)."""
    mu = epsilon / np.sqrt(2.0 * (math.log(1.25) - log10_delta * math.log(10.0)))
    start = epsilon / mu + mu / 2.0  # there the log ratio mu x - mu^2/2 is epsilon
    found = quad(
        lambda x: norm.pdf(x - mu) - math.exp(epsilon) * norm.pdf(x), start, start + 40.0, epsabs=0.0
    )[0]
    return f"quadrature of the two densities: delta = {found:.4g}, {10.0**log10_delta:.3g} was promised"


CLASSICAL_GAUSSIAN = Statement(
    name="field-gaussian",
    says="The Gaussian mechanism with $\\sigma = \\sqrt{2 \\ln(1.25/\\delta)}\\,\\Delta/\\varepsilon$ is "
    "$(\\varepsilon, \\delta)$-DP, for every $\\varepsilon$: as it is used.",
    source="Dwork and Roth (2014), theorem A.1, which is stated for epsilon in (0, 1)",
    kind=Bound(unit="log10 delta"),
    domain={"epsilon": Real(0.01, math.inf, log=True, hunt_to=50.0), "log10_delta": Real(-12.0, -0.5)},
    claimed=lambda log10_delta: log10_delta,
    truth=lambda epsilon, log10_delta: log_delta(
        epsilon, epsilon / np.sqrt(2.0 * (math.log(1.25) - log10_delta * math.log(10.0)))
    ),
    points=(
        Point({"epsilon": 1.0, "log10_delta": -5.0}, "epsilon 1"),
        Point({"epsilon": 8.3, "log10_delta": -5.0}, "epsilon 8.3"),
        Point({"epsilon": 8.5, "log10_delta": -5.0}, "epsilon 8.5"),
    ),
    control=Control({"epsilon": 1.0, "log10_delta": -5.0}, attained=True),
    second_route=by_quadrature,
)

CLASSICAL_GAUSSIAN_CORRECTED = CLASSICAL_GAUSSIAN.corrected(
    says="The Gaussian mechanism with $\\sigma = \\sqrt{2 \\ln(1.25/\\delta)}\\,\\Delta/\\varepsilon$ is "
    "$(\\varepsilon, \\delta)$-DP for $0 < \\varepsilon < 1$, as the theorem says.",
    domain={"epsilon": Real(0.01, 1.0, log=True)},
    control=Control({"epsilon": 1.0, "log10_delta": -5.0}, attained=True),
    derivation="Dwork and Roth (2014), theorem A.1 and its proof; the exact delta is that of Balle and Wang (2018), theorem 8.",
)

STATEMENTS = (CLASSICAL_GAUSSIAN, CLASSICAL_GAUSSIAN_CORRECTED)
