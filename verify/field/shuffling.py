"""Amplification by shuffling: the closed form."""

import math

import numpy as np
from scipy.stats import binom

from mipsim.referee import Bound, Control, Number, Real, Statement, Whole

_TAIL = 1e-16
"""Counts beyond this probability on either side are added to delta in full."""


def amplified(n: int, local: float, log10_delta: float) -> float:
    """The epsilon of the closed form."""
    log_term = math.log(4.0) - log10_delta * math.log(10.0)
    share = math.expm1(local) / (math.exp(local) + 1.0)
    inner = 8.0 * math.sqrt(math.exp(local) * log_term / n) + 8.0 * math.exp(local) / n
    return math.log1p(share * inner)


def shuffled_delta(n: int, local: float, log10_delta: float) -> Number:
    """log10 of an upper bound on delta at that epsilon, for n reports of any local randomiser of this epsilon.

    The reports are post-processing of this pair: C ~ Bin(n - 1, e^-local) records are blended with the first, A ~ Bin(C, 1/2) of them
    into its first input; the first itself is counted rightly with probability e^local / (1 + e^local). delta is a finite sum over
    (C, A), and counts C in tails of 1e-16 are taken for delta = 1.

    Source: Feldman, McMillan, Talwar (2021), theorem 3.2.
    """
    epsilon = amplified(n, local, log10_delta)
    blended = math.exp(-local)
    low, high = int(binom.ppf(_TAIL, n - 1, blended)), int(binom.isf(_TAIL, n - 1, blended))
    right = math.exp(local) / (1.0 + math.exp(local))
    total = 2.0 * _TAIL
    for c in range(low, high + 1):
        a = np.arange(c + 2)
        stay, move = binom.pmf(a, c, 0.5), binom.pmf(a - 1, c, 0.5)
        p, q = right * move + (1.0 - right) * stay, right * stay + (1.0 - right) * move
        total += float(binom.pmf(c, n - 1, blended)) * float(np.maximum(p - math.exp(epsilon) * q, 0.0).sum())
    return Number(math.log10(total), 1e-9, unknown="below", route="enumeration of the counts")


SHUFFLING = Statement(
    name="field-shuffling",
    says="Shuffled reports of $n$ users, each $\\varepsilon_0$-DP with $\\varepsilon_0 \\le \\log(n / (16 \\log(2/\\delta)))$, are "
    "$(\\varepsilon, \\delta)$-DP with $\\varepsilon = \\log(1 + \\frac{e^{\\varepsilon_0} - 1}{e^{\\varepsilon_0} + 1}"
    "(8 \\sqrt{e^{\\varepsilon_0} \\log(4/\\delta) / n} + 8 e^{\\varepsilon_0} / n))$.",
    source="Feldman, McMillan, Talwar (2021), theorem 3.1",
    kind=Bound(unit="log10 delta"),
    domain={
        "n": Whole(20, math.inf, log=True, hunt_to=5000),
        "local": Real(0.01, math.inf, log=True, hunt_to=6.0),
        "log10_delta": Real(-10.0, -0.5),
    },
    where=lambda n, local, log10_delta: (
        16.0 * (math.log(2.0) - log10_delta * math.log(10.0)) * math.exp(local) <= n
    ),
    claimed=lambda log10_delta: log10_delta,
    truth=shuffled_delta,
    points=({"n": 1000, "local": 1.0, "log10_delta": -5.0},),
    control=Control({"n": 1000, "local": 1.0, "log10_delta": -5.0}, attained=True),
)

STATEMENTS = (SHUFFLING,)
