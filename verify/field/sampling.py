"""Amplification by sub-sampling, with the two notions of neighbours mixed up."""

import math

from scipy.special import ndtr

from mipsim.referee import Bound, Choice, Number, Point, Real, Statement
from verify.field.gaussian import log_delta

ADDED, REPLACED = "a record added or removed", "a record replaced"
ROUNDING = 1e-15
"""Of a difference of probabilities, absolute: a few units in the last place of 1."""


def sampled_delta(epsilon: float, sigma: float, rate: float, neighbours: str) -> Number:
    """log10 delta at log(1 + rate (e^epsilon - 1)), of a sum of numbers in [-1, 1] over a Poisson sample, with N(0, sigma^2) added.

    The record is 1, and in the neighbour it is absent or -1; the other records are 0. The likelihood ratio rises with the output, so
    that the best event is a half-line. With the record added or removed no other inputs show more (Zhu, Dong, Wang 2022,
    theorem 11), and of both directions this one shows more (proposition 30 there); with it replaced this is a lower bound.

    Source: Lebeda, Regehr, Kamath, Steinke (2024), section 4.
    """
    if neighbours == ADDED:
        # The ratio 1 - q + q exp((x - 1/2) / sigma^2) passes 1 - q + q e^epsilon where the ratio without sampling passes e^epsilon.
        whole = log_delta(epsilon, 1.0 / sigma)
        return Number(whole.value + math.log10(rate), whole.error)
    slope = 1.0 + rate * math.expm1(epsilon)
    # With t = exp(x / sigma^2) the ratio is the slope at q k t^2 - (1 - q)(slope - 1) t - slope q k = 0.
    k = math.exp(-0.5 / sigma**2)
    linear = (1.0 - rate) * (slope - 1.0)
    t = (linear + math.sqrt(linear**2 + 4.0 * slope * (rate * k) ** 2)) / (2.0 * rate * k)
    end = sigma**2 * math.log(t)
    here, there, none = (float(ndtr((shift - end) / sigma)) for shift in (1.0, -1.0, 0.0))
    found = rate * (here - slope * there) - (1.0 - rate) * (slope - 1.0) * none
    error = ROUNDING * (1.0 + slope)
    if not found > 10.0 * error:
        return Number(-300.0, 0.0)  # nothing that float64 tells from 0 is shown
    return Number(math.log10(found), error / (found - error) / math.log(10.0))


def claimed_delta(epsilon: float, sigma: float, rate: float) -> Number:
    """log10 of rate times the delta of the mechanism without sampling, when a record is added or removed."""
    found = log_delta(epsilon, 1.0 / sigma)
    return Number(found.value + math.log10(rate), found.error)


SAMPLING = Statement(
    name="field-sampling",
    says="If the Gaussian mechanism is $(\\varepsilon, \\delta)$-DP, then on a Poisson sample of rate $q$ it is "
    "$(\\log(1 + q (e^\\varepsilon - 1)), q\\delta)$-DP, whichever notion of neighbours is meant: as it is used.",
    source="usual practice; Balle, Barthe and Gaboardi (2018), theorem 8, is about records added or removed",
    kind=Bound(unit="log10 delta"),
    domain={
        "epsilon": Real(0.05, 10.0, log=True),
        "sigma": Real(0.3, 10.0, log=True),
        "rate": Real(1e-3, 0.9, log=True),
        "neighbours": Choice(ADDED, REPLACED),
    },
    claimed=claimed_delta,
    truth=sampled_delta,
    points=(
        Point({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "neighbours": ADDED}, "added"),
        Point({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "neighbours": REPLACED}, "replaced"),
    ),
)

SAMPLING_CORRECTED = SAMPLING.corrected(
    says="If the Gaussian mechanism is $(\\varepsilon, \\delta)$-DP when a record is added or removed, then on a Poisson sample of rate $q$ "
    "it is $(\\log(1 + q (e^\\varepsilon - 1)), q\\delta)$-DP when a record is added or removed.",
    domain={"neighbours": Choice(ADDED)},
    derivation="Balle, Barthe and Gaboardi (2018), theorem 8. For the Gaussian mechanism the dominating pair is that of Zhu, Dong and "
    "Wang (2022), theorem 11: there the sampled likelihood ratio $1 - q + q L$ passes $1 - q + q e^\\varepsilon$ exactly where $L$ "
    "passes $e^\\varepsilon$, so that $\\delta$ becomes $q\\delta$, with equality.",
)
