"""The central limit theorem used as an accountant."""

import math

import mipsim as mi
from mipsim.referee import Bound, Control, Number, Point, Real, Statement, Whole


def limit_epsilon(sigma: float, rate: float, steps: int, log10_delta: float) -> float:
    """Epsilon of G_mu with mu = rate sqrt(steps (exp(1 / sigma^2) - 1)).

    Source: Bu, Dong, Long, Su (2020), section 3.

    Examples:
        >>> round(limit_epsilon(0.5, 0.001, 10_000, -5.0), 2)
        3.06
    """
    mu = rate * math.sqrt(steps * math.expm1(1.0 / sigma**2))
    return float(mi.GaussianTradeOff(mu).epsilon(10.0**log10_delta))


def composed_epsilon(sigma: float, rate: float, steps: int, log10_delta: float) -> Number:
    """The true epsilon of the Poisson-sampled Gaussian steps, of both directions, between certified bounds.

    Raises:
        ValueError: if the direction whose null is the world "in" cannot be shown to be the smaller one.
    """
    delta = 10.0**log10_delta
    curve = mi.dpsgd(sigma, rate, steps)
    if not isinstance(curve, mi.BoundedTradeOff):
        raise ValueError(f"steps is {steps}; it must be at least 2, whose composition is bounded")
    ends = [
        float(side.epsilon(min(max(delta + slack, 0.0), 1.0)))
        for side, slack in ((curve.upper, curve.rounding), (curve.lower, -curve.rounding))
    ]
    turned = curve.inverse()
    assert isinstance(turned, mi.BoundedTradeOff)
    other = float(turned.delta_bounds(ends[0])[1])
    if other > delta:
        raise ValueError(
            f"log10_delta is {log10_delta:g}; the other direction is known to delta = {other:.2g} only there"
        )
    return Number(0.5 * sum(ends), 0.5 * (ends[1] - ends[0]))


CENTRAL_LIMIT = Statement(
    name="field-central-limit",
    says="$T$ steps of the Gaussian mechanism on Poisson samples of rate $q$ have at most the $\\varepsilon$ of $G_\\mu$ with "
    "$\\mu = q \\sqrt{T (e^{1/\\sigma^2} - 1)}$: the limit for $q \\sqrt{T}$ fixed, used at finite $T$.",
    source="Bu, Dong, Long and Su (2020), section 3, where it is a limit",
    kind=Bound(unit="epsilon"),
    domain={
        "sigma": Real(0.4, 4.0, log=True),
        "rate": Real(1e-3, 0.05, log=True),
        "steps": Whole(10, 10_000, log=True),
        "log10_delta": Real(-7.0, -3.0),
    },
    claimed=limit_epsilon,
    truth=composed_epsilon,
    points=(
        Point({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, "sigma .5, q .001, T 1e4"),
    ),
    control=Control({"sigma": 0.5, "rate": 0.001, "steps": 10_000, "log10_delta": -5.0}, attained=True),
)

STATEMENTS = (CENTRAL_LIMIT,)
