"""Audits in one training run: how often their lower bound on epsilon is above the truth."""

import math

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import binom

import mipsim as mi
from mipsim.referee import Bound, Choice, Control, Fixed, Number, Real, Statement, Whole

APPROXIMATE, FUNCTIONAL = "by (epsilon, delta)", "by the trade-off curve"
GRANTED = 1e-10
"""What SciPy's binomial tails are granted, absolute."""


def p_value(canaries: int, guesses: int, right: int, epsilon: float, delta: float) -> float:
    """The largest probability of so many right guesses under (epsilon, delta)-DP.

    Args:
        canaries: each in the training set or not by a fair coin.
        guesses: how many of them the auditor guesses about.
        right: how many of the guesses are right.
        epsilon: of the null hypothesis.
        delta: of the null hypothesis.

    Source: Steinke, Nasr, Jagielski (2023), theorem 5.2.

    Examples:
        >>> p_value(100, 10, 10, 0.0, 0.0) == 2.0**-10
        True
    """
    law = binom(guesses, 1.0 / (1.0 + math.exp(-epsilon)))
    below = law.cdf(np.arange(right - 1, -2, -1))  # P(fewer than right), then with one less each
    steps = (below[0] - below[1:]) / np.arange(1, right + 1)
    worst = float(steps.max(initial=0.0))
    return min(float(law.sf(right - 1)) + 2.0 * canaries * delta * worst, 1.0)


def refuses_gdp(canaries: int, guesses: int, right: int, mu: float, significance: float) -> bool:
    """Whether so many right guesses are too many for mu-GDP.

    Source: Mahloujifar, Melis, Chaudhuri (2025), algorithm for f-DP with a fair coin for each canary.

    Examples:
        >>> refuses_gdp(1000, 100, 99, 1.0, 0.05), refuses_gdp(1000, 100, 60, 1.0, 0.05)
        (True, False)
    """
    r, h = significance * right / canaries, significance * (guesses - right) / canaries
    for i in range(right - 1, -1, -1):
        higher = max(h, float(ndtr(ndtri(r) - mu)))
        if higher == h:
            break
        r, h = min(r + i / (guesses - i) * (higher - h), 1.0), higher
    return r + h > guesses / canaries


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
