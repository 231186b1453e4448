"""A confidence band for a distribution function at free thresholds, narrow in both tails."""

import math

import numpy as np
from scipy.special import expit, rel_entr

from mipsim._roots import outer_root
from mipsim._validation import class_counts, number

_RISKS = (0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9)
_KAPPAS = (4.66, 6.43, 8.90, 11.33, 16.12, 23.21)
# Quantiles of the statistic at these risks, the largest over a grid of n from 1 to 30,000, rounded up (those of
# 0.05 and 0.01 hold at 10^6 too); by the exact recursion that tests/bands/test_duembgen_wellner.py repeats.
_FARTHEST_LOGIT = 700.0  # beyond it expit underflows


def kappa(failure_probability: float) -> float:
    """The critical value of the Duembgen-Wellner statistic, never below its true quantile.

    Between the tabulated probabilities kappa is concave in log(1/probability), so that the chord before and
    the chord after, prolonged into the gap, both bound it from above; in the first and the last gap there is
    only a single chord.

    `failure_probability`: in [1e-9, 1); above 0.05 the value of 0.05 is used.

    >>> kappa(1e-3), kappa(0.3), round(kappa(5e-4), 3)
    (8.9, 4.66, 9.644)
    """
    risk = number("failure_probability", failure_probability, _RISKS[-1], 1.0, high_open=True)
    if risk >= _RISKS[0]:
        return _KAPPAS[0]
    at, here = [-math.log(r) for r in _RISKS], -math.log(risk)
    right = next(i for i in range(1, len(at)) if here <= at[i] * (1 + 1e-15))
    candidates = [_KAPPAS[right]]  # the quantile only grows as the probability falls
    for first in (right - 2, right):
        if first >= 0 and first + 1 < len(at):
            slope = (_KAPPAS[first + 1] - _KAPPAS[first]) / (at[first + 1] - at[first])
            candidates.append(_KAPPAS[first] + slope * (here - at[first]))
    return min(candidates)


def duembgen_wellner(count: object, games: int, failure_probability: float) -> tuple[np.ndarray, np.ndarray]:
    """Bounds (low, high), shape (K,), of F(t) = P(score <= t) for all thresholds t at once, also those chosen after the scores.

    {F : n KL(F^(t) || F(t)) <= kappa + C + log(1 + C^2)}, with C = log log(e / (4u(1 - u))) at the u between
    F^(t) and F(t) that is nearest to 1/2. Ties only make the band safer.

    Args:
        count: number of scores <= t at each threshold, any thresholds in any order, shape (K,).
        games: n >= 1.
        failure_probability: in [1e-9, 1), for all thresholds together.

    Source: Duembgen and Wellner, "Confidence bands for distribution functions: a new look at the law of the
    iterated logarithm", Annals of Statistics 51 (2023), with nu = 1.

    Examples:
        >>> low, high = duembgen_wellner([0, 500, 1000], 1000, 0.05)
        >>> low.round(4).tolist(), high.round(4).tolist()
        ([0.0, 0.4518, 0.9927], [0.0073, 0.5482, 1.0])
    """
    x, n = class_counts("count", count, "games", games)
    level = kappa(failure_probability)
    seen = x / n

    def excess(logit: np.ndarray, index: np.ndarray) -> np.ndarray:
        p, q, own = expit(logit), expit(-logit), seen[index]
        information = np.maximum(rel_entr(own, p) + rel_entr(1.0 - own, q), 0.0)
        least, most = np.minimum(own, p), np.maximum(own, p)
        nearest = np.clip(0.5, least, most)
        rest = np.where(nearest == p, q, 1.0 - nearest)
        with np.errstate(divide="ignore"):
            c = np.log1p(-np.log(np.minimum(4.0 * nearest * rest, 1.0)))
        # Roots of both sides, for the left root's side is nearly a straight line then.
        return np.sqrt(n * information) - np.sqrt(level + c + np.log1p(c**2))

    with np.errstate(divide="ignore"):
        centre = np.clip(np.log(x) - np.log(n - x), -_FARTHEST_LOGIT, _FARTHEST_LOGIT)
    ends = -_FARTHEST_LOGIT, _FARTHEST_LOGIT
    low, high = (expit(outer_root(excess, centre, np.full_like(centre, end))) for end in ends)
    return np.where(x == 0, 0.0, low), np.where(x == n, 1.0, high)
