"""Checks, after a run and before any estimate, that the tilted games have the law that their weights assume."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import numpy as np

from mipsim.bands.binomial_deviance import deviance
from mipsim.rare.plan import Tilt

_LIMIT = 7.0  # standard deviations at which a check fails: a sound run fails one with probability below 1e-11
_LEAST = 25  # counts on both sides of a threshold, from which on a deviance is nearly chi-square


class TailEstimate(NamedTuple):
    """Accepted games of one tilt as estimates of P(S > t_k) = B_k q_k, for every threshold."""

    label: str
    accepted: np.ndarray
    games: int
    scale: np.ndarray


def check_moments(tilt: Tilt, mean: float, square: float) -> None:
    """The tilted scores must have the mean K'(theta) and the variance K''(theta).

    Args:
        tilt: what was played.
        mean: the average of x = (S - K') / sqrt(K'').
        square: the average of x^2.

    Raises:
        ArithmeticError: if they have not.
    """
    error = 1.0 / math.sqrt(tilt.games)
    if not abs(mean) <= _LIMIT * error:
        raise ArithmeticError(
            f"the {tilt.games:,} games tilted by {tilt.theta:.4g} have a mean score {mean:+.3g} standard deviations from the "
            f"one that their weights assume (at most {_LIMIT * error:.3g} is chance); the weights are wrong"
        )
    # x^2 has a variance of about 2 (Gaussian) or a few times that (skewed); 8 is ample at this limit.
    if not abs(square - 1.0) <= _LIMIT * error * math.sqrt(8.0):
        raise ArithmeticError(
            f"the {tilt.games:,} games tilted by {tilt.theta:.4g} have {square:.3g} times the variance that their weights "
            "assume; the weights are wrong"
        )


def check_agreement(tails: list[TailEstimate]) -> None:
    """Two tilts that estimate one tail probability, of the same world, must agree.

    At each threshold min over p of the two deviances is compared with its limit, where both have counts enough. For the
    exact likelihood ratio the games of the "in" world are such a pair with those of the "out" world:
    P_out(S > t) = E_in[exp(-S); S > t].

    Raises:
        ArithmeticError: if two do not.
    """
    for one, other in combinations(tails, 2):
        for k in range(one.accepted.size):
            x, y = float(one.accepted[k]), float(other.accepted[k])
            if min(x, one.games - x, y, other.games - y) < _LEAST:
                continue
            found = _common_deviance(x, one.games, one.scale[k], y, other.games, other.scale[k])
            if found > _LIMIT**2:
                raise ArithmeticError(
                    f"{one.label} and {other.label} estimate one probability as {one.scale[k] * x / one.games:.4g} and "
                    f"{other.scale[k] * y / other.games:.4g}, {math.sqrt(found):.1f} standard errors apart; the weights are wrong"
                )


def _common_deviance(x: float, n: int, b: float, y: float, m: int, c: float) -> float:
    """The least sum of the two deviances over the common probability."""
    first, second = math.log(b * x / n), math.log(c * y / m)
    ceiling = math.log(min(b, c)) - 1e-12
    low, high = min(first, second), min(max(first, second), ceiling)
    grid = np.exp(np.linspace(low, high, 257))
    return float((deviance(x, n, grid / b) + deviance(y, m, grid / c)).min())
