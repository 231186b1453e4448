"""Audits in one training run: how often their lower bound on epsilon is above the truth."""

import math

from scipy.special import ndtr
from scipy.stats import binom

import mipsim as mi
from mipsim.referee import Bound, Choice, Control, Fixed, Number, Real, Statement, Whole
from mipsim.theory.one_run import p_value, refuses_gdp

APPROXIMATE, FUNCTIONAL = "by (epsilon, delta)", "by the trade-off curve"
GRANTED = 1e-10
"""What SciPy's binomial tails are granted, absolute."""


def least_refused(
    canaries: int, guesses: int, mu: float, delta: float, significance: float, bound: str
) -> int:
    """The least number of right guesses at which the audit calls the true guarantee of G_mu false; one more than all if none."""
    epsilon = float(mi.GaussianTradeOff(mu).epsilon(delta))
    low, high = 0, guesses + 1
    while low < high:
        middle = (low + high) // 2
        if bound == APPROXIMATE:
            refused = p_value(canaries, guesses, middle, epsilon, delta) <= significance
        else:
            refused = refuses_gdp(canaries, guesses, middle, mu, significance)
        low, high = (low, middle) if refused else (middle + 1, high)
    return low


def false_alarms(
    mu: float, canaries: int, threshold: float, delta: float, significance: float, bound: str
) -> Number:
    """The probability that the audit's bound is above the truth.

    The score of a canary is N(0, 1), or N(mu, 1) if it is in; the auditor says "in" above a threshold that was fixed before. Given how
    many guesses he makes (here: as many as are expected), each is right independently.
    """
    out, inside = float(ndtr(-threshold)), float(ndtr(mu - threshold))
    guesses = max(1, round(canaries * (out + inside) / 2.0))
    least = least_refused(canaries, guesses, mu, delta, significance, bound)
    found = float(binom.sf(least - 1, guesses, inside / (out + inside)))
    return Number(
        found, GRANTED, route="binomial law", detail=f"{guesses} guesses; refused from {least} right ones on"
    )


_POINTS = tuple(
    {"mu": mu, "canaries": 10_000, "threshold": 2.0, "delta": 1e-6, "significance": 0.05, "bound": bound}
    for mu in (1.0, 2.0, 4.0)
    for bound in (APPROXIMATE, FUNCTIONAL)
)
ONE_RUN = Statement(
    name="field-one-run",
    says="The lower bounds on $\\varepsilon$ of audits in one run are above the truth with probability at most the significance level: "
    "judged for Gaussian mechanisms, whose canaries do not disturb each other.",
    source="Steinke, Nasr, Jagielski (2023), theorem 5.2; Mahloujifar, Melis, Chaudhuri (2025)",
    kind=Bound(unit="probability"),
    domain={
        "mu": Real(0.1, 5.0, log=True),
        "canaries": Whole(10, math.inf, log=True, hunt_to=10_000),
        "threshold": Real(-1.0, 4.0),
        "delta": Real(1e-8, 0.01, log=True),
        "significance": Fixed(0.05),
        "bound": Choice(APPROXIMATE, FUNCTIONAL),
    },
    claimed=lambda significance: significance,
    truth=false_alarms,
    points=_POINTS,
    control=Control(_POINTS[0], attained=True),
)

STATEMENTS = (ONE_RUN,)
