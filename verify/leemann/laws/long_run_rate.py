"""How fast the game of lemma 5.1 tends to its limit: a proven rate, by Berry and Esseen."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

from mipsim.referee import Rate
from mipsim.tradeoff import GaussianTradeOff
from verify.berry_esseen import SAME_LAW

MOST_RATE = 0.5
"""Of a record in a batch: the expansions of the logarithm are bounded up to here."""
LEAST_STEPS = 1024
"""From which the rate is stated: its constant falls with them."""
ROUNDED = 1.0 + 1e-6
"""For the rounding of the moments, which are differences of nearly equal numbers: s^3 of 2e-4 is known to 1e-12 of it."""


@dataclass(frozen=True)
class StepMoments:
    """E Y^2, E Y^3, E|Y|^3 and E Y^4 of Y = exp(sx - s^2/2) - 1 under N(0, 1), which has mean 0."""

    second: float
    third: float
    absolute: float
    fourth: float


def moments(s: float) -> StepMoments:
    """The moments of the likelihood ratio, less 1, of a step that the target is in.
    `s`: mu_step, > 0.

    >>> m = moments(1.0)
    >>> round(m.second, 6), m.absolute >= m.third
    (1.718282, True)
    """
    powers = [math.exp(k * (k - 1) * s * s / 2.0) for k in range(5)]
    below = [power * float(ndtr(s / 2.0 - k * s)) for k, power in enumerate(powers)]  # of E L^k, where L < 1
    third = powers[3] - 3.0 * powers[2] + 3.0 * powers[1] - powers[0]
    negative = below[3] - 3.0 * below[2] + 3.0 * below[1] - below[0]
    fourth = powers[4] - 4.0 * powers[3] + 6.0 * powers[2] - 4.0 * powers[1] + powers[0]
    return StepMoments(powers[2] - powers[0], third, third - 2.0 * negative, fourth)


def distance(s: float, c: float, steps: int) -> float:
    """How far the laws of the log ratio of t steps at the rate c/sqrt(t) are from their normal limits at most, in both worlds.

    W = log(1 + pY) of a step, K = (1 - p)^-3. By Taylor |W - pY + (pY)^2/2| <= K |pY|^3/3 and |W^2 - (pY)^2| <= K |pY|^3. Out, E Y = 0;
    in, E h(Y) is E (1 + pY) h(Y) of out. So t E W is -+ c^2 v/2 and t Var W is c^2 v, v = E Y^2, up to the bounds below. Shifting or
    stretching a normal law moves its distribution function by at most the shift in deviations over sqrt(2 pi), or
    |log of the ratio of the deviations| / sqrt(2 pi e).

    `s`: mu_step; `c`: p sqrt(t); `steps`: t, with c/sqrt(t) <= `MOST_RATE`. Raises ValueError if the rate is larger.
    """
    p = c / math.sqrt(steps)
    if p > MOST_RATE:
        raise ValueError(f"the rate is {p:g}; it must be at most {MOST_RATE:g}")
    y, k = moments(s), (1.0 - p) ** -3
    variance = c * c * y.second
    cubes = (p**3 * y.absolute * ROUNDED, (p**3 * y.absolute + p**4 * y.fourth) * ROUNDED)
    worst = 0.0
    for inside, cube in enumerate(cubes):
        tilt = abs(y.third) * p**3 * inside * ROUNDED  # what E (pY)^2 is larger by in the world in
        mean = 0.5 * p * p * y.second + 0.5 * tilt + k * cube / 3.0  # |E W| at most
        off_mean = steps * (0.5 * tilt + k * cube / 3.0)
        off_variance = steps * (tilt + k * cube + mean * mean)
        least = variance - off_variance
        if least <= 0.0:
            return math.inf
        third = (cube ** (1 / 3) / (1.0 - p) + mean) ** 3
        esseen = SAME_LAW * third * steps / least**1.5
        moved = off_mean / math.sqrt(2.0 * math.pi * least)
        stretched = max(math.log(variance / least), math.log1p(off_variance / variance)) / 2.0
        worst = max(worst, esseen + moved + stretched / math.sqrt(2.0 * math.pi * math.e))
    return worst


def game_rate(size: float, c: float) -> Rate | None:
    """The rate of the game's curve to G_{c sqrt(v)}; None where a condition of the proof fails at the first number of steps.

    Each bound in `distance` times sqrt(t) falls with t, so that the bound at `LEAST_STEPS` holds for all larger t. Threshold tests of the log
    ratio are the best (Neyman and Pearson); both their rates are within that distance of those of the limit.

    `size`: mu_step; `c`: p sqrt(t).

    >>> game_rate(0.6, 1.0).power, game_rate(0.3, 30.0)
    (0.5, None)
    """
    if not 0.0 < c <= MOST_RATE * math.sqrt(LEAST_STEPS):
        return None
    most = distance(size, c, LEAST_STEPS)
    if not most < 1.0:
        return None
    source = f"Berry and Esseen with Shevtsova's constant {SAME_LAW} (2011) for {LEAST_STEPS:,} steps or more, rate at most {MOST_RATE:g}"
    limit = GaussianTradeOff(c * math.sqrt(moments(size).second))
    return Rate(most * math.sqrt(LEAST_STEPS), 0.5, limit=limit, source=source, start=LEAST_STEPS)
