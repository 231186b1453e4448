"""Amplification by sub-sampling, with the two notions of neighbours mixed up."""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

from mipsim.referee import Bound, Choice, Control, Fixed, Number, Point, Real, Statement
from verify.field.gaussian import log_delta

ADDED, REPLACED = "a record added or removed", "a record replaced"
ROUNDING = 1e-15
"""Of a difference of probabilities, absolute: a few units in the last place of 1."""


def sampled_delta(epsilon: float, sigma: float, rate: float, reading: str) -> Number:
    """log10 delta at log(1 + rate (e^epsilon - 1)), of a sum of numbers in [-1, 1] over a Poisson sample, with N(0, sigma^2) added.

    The record is 1, and in the neighbour it is absent or -1; the other records are 0. The likelihood ratio rises with the output, so
    that the best event is a half-line. With the record added or removed no other inputs show more, in either direction (Zhu,
    Dong, Wang 2022, theorem 11); with it replaced others may, so that the number is a lower bound and refutes only.

    Source: Lebeda, Regehr, Kamath, Steinke (2024), section 4.
    """
    slope = 1.0 + rate * math.expm1(epsilon)

    def above(end: float, shift: float) -> float:
        """P(output > end) where the record, if it is drawn, adds `shift`."""
        return (1.0 - rate) * float(ndtr(-end / sigma)) + rate * float(ndtr((shift - end) / sigma))

    def passed(x: float) -> float:
        """Log of the ratio at x, less the log of the slope: it rises with x."""
        ratio = [
            np.logaddexp(math.log1p(-rate), math.log(rate) + (shift * x - 0.5 * shift**2) / sigma**2)
            for shift in (1.0, 0.0 if reading == ADDED else -1.0)
        ]
        return float(ratio[0] - ratio[1]) - math.log(slope)

    # Beyond epsilon sigma^2 + 1/2 the ratio of the pair passes the slope.
    far = sigma**2 * (epsilon + 1.0) + 40.0 * sigma + 2.0
    end = float(brentq(passed, -far, far, xtol=1e-13))  # pyright: ignore[reportArgumentType]
    best = above(end, 1.0) - slope * above(end, 0.0 if reading == ADDED else -1.0)
    if reading == ADDED and passed(-far) < -2.0 * math.log(
        slope
    ):  # the neighbour's half-line, below another end
        back = brentq(lambda x: passed(x) + 2.0 * math.log(slope), -far, far, xtol=1e-13)
        other = float(back)  # pyright: ignore[reportArgumentType]
        best = max(best, (1.0 - above(other, 0.0)) - slope * (1.0 - above(other, 1.0)))
    error = ROUNDING * (1.0 + slope)
    told = {"route": "one event" if reading == REPLACED else "closed form"}
    if best > 10.0 * error:
        found = math.log10(best), error / (best - error) / math.log(10.0)
        return Number(*found, unknown="above" if reading == REPLACED else "", **told)
    # Float64 does not tell it from 0.
    if reading == REPLACED:
        return Number(-math.inf, unknown="above", **told)
    return Number(math.log10(max(best, 0.0) + error), unknown="below", **told)


def claimed_delta(epsilon: float, sigma: float, rate: float) -> Number:
    """log10 of rate times the delta of the mechanism without sampling, when a record is added or removed."""
    found = log_delta(epsilon, 1.0 / sigma)
    return Number(found.value + math.log10(rate), found.error)


def by_densities(epsilon: float, sigma: float, rate: float, reading: str) -> str:
    """Delta as the integral of what one density has above the other, on a grid."""
    slope = 1.0 + rate * math.expm1(epsilon)
    x = np.linspace(-1.0 - 12.0 * sigma, 1.0 + 12.0 * sigma, 400_001)
    null, there, other = (
        np.exp(-0.5 * ((x - at) / sigma) ** 2) for at in (0.0, 1.0, -1.0 if reading == REPLACED else 0.0)
    )
    above = (1.0 - rate) * null + rate * there - slope * ((1.0 - rate) * null + rate * other)
    found = float(np.maximum(above, 0.0).sum() * (x[1] - x[0]) / (sigma * math.sqrt(2.0 * math.pi)))
    return f"the two densities on a grid: delta = {found:.4g}, {10.0 ** claimed_delta(epsilon, sigma, rate).value:.4g} was promised"


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
        "reading": Choice(ADDED, REPLACED),
    },
    where=lambda epsilon, sigma, rate: (
        claimed_delta(epsilon, sigma, rate).value > -9.0
    ),  # what float64 computes both ways
    claimed=claimed_delta,
    truth=sampled_delta,
    second_route=by_densities,
    points=(
        Point({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "reading": ADDED}, "added"),
        Point({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "reading": REPLACED}, "replaced"),
    ),
    control=Control({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "reading": ADDED}, shift=0.03),
)

SAMPLING_CORRECTED = SAMPLING.corrected(
    says="If the Gaussian mechanism is $(\\varepsilon, \\delta)$-DP when a record is added or removed, then on a Poisson sample of rate $q$ "
    "it is $(\\log(1 + q (e^\\varepsilon - 1)), q\\delta)$-DP when a record is added or removed.",
    domain={"reading": Fixed(ADDED)},
    control=Control({"epsilon": 1.0, "sigma": 1.0, "rate": 0.1, "reading": ADDED}, shift=0.03),
    derivation="Balle, Barthe and Gaboardi (2018), theorem 8. For the Gaussian mechanism the dominating pair is that of Zhu, Dong and "
    "Wang (2022), theorem 11: there the sampled likelihood ratio $1 - q + q L$ passes $1 - q + q e^\\varepsilon$ exactly where $L$ "
    "passes $e^\\varepsilon$, so that $\\delta$ becomes $q\\delta$, with equality.",
)

STATEMENTS = (SAMPLING, SAMPLING_CORRECTED)
