"""Checks, after a run and before any estimate, that the tilted games have the law that their weights assume."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
from scipy.special import rel_entr

from mipsim.rare.plan import Tilt

_LIMIT = (
    7.0  # standard deviations at which a check fails: a sound run fails a check with probability below 1e-11
)
_KURTOSIS = 9.0  # E x^4 of a skewed score; a normal score has 3
_LEAST = 25  # counts on both sides of a threshold, from which on a deviance is nearly chi-square


class TailEstimate(NamedTuple):
    """Accepted games of a tilt as estimates of P(S > t_k) = B_k q_k, for every threshold."""

    label: str
    accepted: np.ndarray
    games: int
    scale: np.ndarray


def check_moments(tilt: Tilt, mean: float, square: float, kurtosis: Callable[[], float]) -> None:
    """Check that the tilted scores have the mean K'(theta) and the variance K''(theta).

    A sum of N terms with variance v, none larger than b, is within 7 sqrt(N v) + 16.4 b of its mean but for 1e-10 (Bernstein).
    Rare values x of probability 1 / x^2 set both: x^2 has a variance of nearly the kurtosis, and is as large.

    `tilt`: what was played; `mean`: the average of x = (S - K') / sqrt(K''); `square`: the average of x^2; `kurtosis`:
    gives E x^4; it is only called where a nearly normal score would not explain the games. Raises ValueError if all games
    have the same score, where too few of them can show whether the weights are right; ArithmeticError if the games have
    another mean or variance.
    """
    if _beyond(tilt.games, mean, square, _KURTOSIS) is None:
        return
    if square - mean**2 <= 1e-6 * max(square, 1e-6):
        raise ValueError(
            f"attack gives all {tilt.games:,} games tilted by {tilt.theta:.4g} the same score, so that no rate can be counted; use "
            "game.exact(attack), which plays no games"
        )
    wrong = _beyond(tilt.games, mean, square, max(kurtosis(), _KURTOSIS))
    if wrong is not None:
        raise ArithmeticError(
            f"the {tilt.games:,} games tilted by {tilt.theta:.4g} have {wrong}; the weights are wrong"
        )


def _beyond(games: int, mean: float, square: float, kurtosis: float) -> str | None:
    """Say which moment is farther off than chance explains; None where neither is."""
    error, jump = 1.0 / math.sqrt(games), _LIMIT**2 / (3.0 * games)
    limit = _LIMIT * error + jump * math.sqrt(kurtosis)
    if not abs(mean) <= limit:
        return (
            f"a mean score {mean:+.3g} standard deviations from the mean that their weights assume (at most {limit:.3g} is "
            "chance)"
        )
    if not abs(square - 1.0) <= _LIMIT * error * math.sqrt(kurtosis - 1.0) + jump * kurtosis:
        return f"{square:.3g} times the variance that their weights assume"
    return None


def kurtosis_of(variance: Callable[[float], float], theta: float, ends: tuple[float, float]) -> float:
    """Return E x^4 of the standardised score tilted by theta, 3 plus the fourth derivative of K over K''(theta)^2.

    It is the largest of several second differences of K'': rare values far out change it over steps much shorter than
    1 / sqrt(K'').

    `variance`: K''; `theta`: the tilt, inside `ends`; `ends`: the interval where K'' is finite.

    >>> kurtosis_of(lambda theta: 1e-4 * math.exp(theta), 0.0, (-math.inf, math.inf)) > 9_000.0  # Poisson with mean 1e-4
    True
    """
    middle, room = variance(theta), min(theta - ends[0], ends[1] - theta)
    result = 3.0
    for share in (1e-8, 1e-6, 1e-4, 1e-2):
        step = min(share / math.sqrt(middle), 0.5 * room)
        if step > 0.0:
            bend = variance(theta + step) - 2.0 * middle + variance(theta - step)
            result = max(result, 3.0 + bend / (step * middle) ** 2)
    return result


def check_agreement(tails: list[TailEstimate]) -> None:
    """Two tilts that estimate the same tail probability, of the same world, must agree.

    At each threshold min over p of the two deviances is compared with its limit, where both have counts enough. For the
    exact likelihood ratio the games of the "in" world are such a pair with those of the "out" world:
    P_out(S > t) = E_in[exp(-S); S > t].

    Raises ArithmeticError if two do not.
    """
    for item, other in combinations(tails, 2):
        for k in range(item.accepted.size):
            x, y = float(item.accepted[k]), float(other.accepted[k])
            if min(x, item.games - x, y, other.games - y) < _LEAST:
                continue
            result = _common_deviance(x, item.games, item.scale[k], y, other.games, other.scale[k])
            if result > _LIMIT**2:
                raise ArithmeticError(
                    f"{item.label} and {other.label} estimate the same probability as {item.scale[k] * x / item.games:.4g} and "
                    f"{other.scale[k] * y / other.games:.4g}, {math.sqrt(result):.1f} standard errors apart; the weights are wrong"
                )


def _common_deviance(x: float, n: int, b: float, y: float, m: int, c: float) -> float:
    """The least sum of the two deviances over the common probability."""
    first, second = math.log(b * x / n), math.log(c * y / m)
    ceiling = math.log(min(b, c)) - 1e-12
    low, high = min(first, second), min(max(first, second), ceiling)
    grid = np.exp(np.linspace(low, high, 257))
    return float((_deviance(x, n, grid / b) + _deviance(y, m, grid / c)).min())


def _deviance(count: float, games: int, p: np.ndarray) -> np.ndarray:
    """Twice the log-likelihood ratio of the observed frequency against p."""
    return np.maximum(2.0 * (rel_entr(count, games * p) + rel_entr(games - count, games * (1.0 - p))), 0.0)
