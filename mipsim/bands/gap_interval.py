"""The profile deviance of two binomial counts against a claimed curve, and the gap interval it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, logit, ndtr, ndtri

from mipsim.bands.binomial_deviance import deviance, deviance_logits

if TYPE_CHECKING:  # at run time mipsim.tradeoff imports this package
    from mipsim.tradeoff.base import AbstractTradeOff

_CELLS = 1024
_ZOOM, _POINTS = 6, 65


def profile_deviance(
    false_positives: np.ndarray,
    out_games: int,
    false_negatives: np.ndarray,
    in_games: int,
    claim: AbstractTradeOff,
) -> np.ndarray:
    """D_k = min over a of 2[n0 KL(a^_k || a) + n1 KL(b^_k || g(a))], for counts strictly between 0 and n.

    Args:
        false_positives: counts of "out" scores above the thresholds, shape (K,).
        out_games: n0.
        false_negatives: counts of "in" scores at or below them, shape (K,).
        in_games: n1.
        claim: the claimed trade-off function g.

    Returns:
        D, shape (K,); inf where the claim cannot produce the counts.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> one = np.array([500]), 1000, np.array([159]), 1000
        >>> profile_deviance(*one, GaussianTradeOff(1.0)).round(3).tolist()
        [0.0]
        >>> profile_deviance(*one, GaussianTradeOff(0.8)).round(1).tolist()
        [10.4]
    """
    x, y = np.asarray(false_positives, dtype=np.float64), np.asarray(false_negatives, dtype=np.float64)
    frequency = y / in_games
    # Where the claimed curve passes b^: by bisection in z = Phi^-1(a), since g falls as a grows.
    low, high = np.full_like(x, -38.0), np.full_like(x, 8.25)
    for _ in range(60):
        middle = 0.5 * (low + high)
        above = claim.beta(ndtr(middle)) > frequency
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    # The first term falls towards a^ and the second towards that point, so the minimum lies between the two.
    centre = ndtri(x / out_games)
    left, right = np.minimum(centre, low)[:, None], np.maximum(centre, high)[:, None]
    best = np.full_like(x, np.inf)
    steps = np.linspace(0.0, 1.0, _POINTS)
    for _ in range(_ZOOM):
        z = left + (right - left) * steps
        alpha = ndtr(z)
        total = deviance(x[:, None], out_games, alpha, ndtr(-z)) + deviance(
            y[:, None], in_games, claim.beta(alpha), claim.tpr_at(alpha)
        )
        at = total.argmin(axis=1)[:, None]
        best = np.minimum(best, np.take_along_axis(total, at, axis=1)[:, 0])
        left = np.take_along_axis(z, np.maximum(at - 1, 0), axis=1)
        right = np.take_along_axis(z, np.minimum(at + 1, _POINTS - 1), axis=1)
    return best


def gap_bounds(
    false_positives: np.ndarray,
    out_games: int,
    false_negatives: np.ndarray,
    in_games: int,
    claim: AbstractTradeOff,
    critical: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Extremes of c = Phi^-1(g(a)) - Phi^-1(b) over {(a, b): 2[n0 KL(a^||a) + n1 KL(b^||b)] <= critical}.

    c falls in a and in b, so its extremes lie on the two monotone pieces of the boundary. Each is cut into
    cells along a; a cell is bounded by its outer a and the b that belongs to its inner a, itself rounded
    outwards: the interval is never narrower than the true one, and about 0.2% wider.

    Returns:
        (low, high), shape (K,), in probits; infinite where the claim is 0 within the set.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> low, high = gap_bounds(np.array([500]), 1000, np.array([159]), 1000, GaussianTradeOff(1.0), 10.8)
        >>> low.round(3).tolist(), high.round(3).tolist()
        ([-0.204], [0.204])
    """
    x, y = np.asarray(false_positives, dtype=np.float64), np.asarray(false_negatives, dtype=np.float64)
    steps = np.linspace(0.0, 1.0, _CELLS + 1)
    ends = []
    for side in (1, 0):  # upper ends of a and b give the least gap, lower ends the largest
        out_logit = _path(x, out_games, critical, side, steps)
        in_logit = _path(y, in_games, critical, side, steps)
        spent = deviance(x[:, None], out_games, expit(out_logit), expit(-out_logit))
        spendable = deviance(y[:, None], in_games, expit(in_logit), expit(-in_logit))
        reach = np.stack(
            [np.searchsorted(e, critical - d, side="left") for e, d in zip(spendable, spent, strict=True)]
        )
        reach = np.minimum(reach, _CELLS)
        reached = np.take_along_axis(in_logit, reach, axis=1)[:, :-1]
        probit_true = np.where(reached < 0, ndtri(expit(reached)), -ndtri(expit(-reached)))
        gap = claim.probit_beta(expit(out_logit[:, 1:])) - probit_true
        ends.append(gap.min(axis=1) if side else gap.max(axis=1))
    return ends[0], ends[1]


def _path(count: np.ndarray, games: int, critical: float, side: int, steps: np.ndarray) -> np.ndarray:
    centre = logit(count / games)[:, None]
    end = deviance_logits(count, games, critical)[side][:, None]
    return centre + (end - centre) * steps


def gap_standard_error(
    alpha: np.ndarray, out_games: int, beta: np.ndarray, in_games: int, claim: AbstractTradeOff
) -> np.ndarray:
    """Standard error of the gap: se^2 = s^2 a(1-a) / (n0 phi(z_a)^2) + b(1-b) / (n1 phi(z_b)^2).

    s = d Phi^-1(g(a)) / d z_a is the slope of the claimed curve in probits: -1 for every GaussianTradeOff.

    Args:
        alpha: observed FPR, strictly inside (0, 1), shape (K,).
        out_games: n0.
        beta: observed FNR, strictly inside (0, 1), shape (K,).
        in_games: n1.
        claim: the claimed trade-off function g.
    """
    z, step = ndtri(alpha), 1e-3
    rise, fall = claim.probit_beta(ndtr(z + step)), claim.probit_beta(ndtr(z - step))
    known = np.isfinite(rise) & np.isfinite(fall)
    slope = np.where(known, (np.where(known, rise, 0.0) - np.where(known, fall, 0.0)) / (2 * step), np.inf)
    variance = slope**2 * probit_variance(alpha, out_games) + probit_variance(beta, in_games)
    return np.sqrt(variance)


def probit_variance(p: np.ndarray, games: int) -> np.ndarray:
    """Variance of the probit of a frequency of `games` draws with p inside (0, 1): p(1-p) / (n phi(z_p)^2).

    Examples:
        >>> float(probit_variance(np.array(0.5), 1000).round(6))  # pi / 2000
        0.001571
    """
    density = np.exp(-0.5 * ndtri(p) ** 2) / np.sqrt(2 * np.pi)
    return p * (1 - p) / (games * density**2)
