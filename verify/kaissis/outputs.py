"""The laws of the outputs from first principles: what the closed forms are judged against."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import gammainc, gammainccinv, ndtr, ndtri
from scipy.stats import gumbel_r, laplace, logistic, norm

from mipsim.tradeoff import AbstractTradeOff, PiecewiseLinearTradeOff
from verify.claim import CurveEvidence
from verify.limits import FLOOR, GRID, Beta, Size

NOISES = {"Gaussian": norm, "Laplace": laplace, "logistic": logistic}
"""Symmetric laws of unit scale with a monotone likelihood ratio in the shift."""

LAWS = NOISES | {"Gumbel": gumbel_r}
"""With one that is not symmetric."""

LEVELS = np.concatenate([np.geomspace(1e-250, FLOOR, 80)[:-1], GRID])
"""FPRs of the exact comparisons of this paper: a large shift is only hard to see at rare ones."""

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)


def magnitude_beta(noise: str, mu: float, rate: float = 1.0) -> Beta:
    """FNR of thresholding |z|, from the distribution function of the noise."""
    law = NOISES[noise]

    def beta(alpha: np.ndarray) -> np.ndarray:
        cut = law.isf(0.5 * alpha)
        return rate * (law.cdf(cut - mu) - law.cdf(-cut - mu)) + (1 - rate) * (1 - alpha)

    return beta


def norm_beta(d: int, mu: float) -> Beta:
    """FNR of thresholding ||z||^2: the first coordinate, along the shift, is integrated over; the others are chi2_{d-1}."""

    def beta(alpha: np.ndarray) -> np.ndarray:
        square = 2.0 * gammainccinv(0.5 * d, alpha)
        edge = np.sqrt(square)
        if d == 1:
            return ndtr(edge - mu) - ndtr(-edge - mu)
        low, high = (
            np.maximum(-edge, mu - 10.0),
            np.maximum(np.minimum(edge, mu + 10.0), np.maximum(-edge, mu - 10.0)),
        )
        # Cosine spacing takes the square root at the edge of the ball out of the integrand.
        t = 0.5 * (_NODES + 1.0)
        x = low[:, None] + (high - low)[:, None] * 0.5 * (1.0 - np.cos(np.pi * t))
        weights = (high - low)[:, None] * 0.5 * np.pi * np.sin(np.pi * t) * 0.5 * _WEIGHTS
        within = gammainc(0.5 * (d - 1), 0.5 * np.maximum(square[:, None] - x**2, 0.0))
        return np.sum(weights * norm.pdf(x - mu) * within, axis=1)

    return beta


def log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    """A number between `low` and `high`, uniform by its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def refined(
    gap: Callable[[np.ndarray], np.ndarray], levels: np.ndarray = LEVELS, rounds: int = 4
) -> tuple[np.ndarray, np.ndarray]:
    """`levels` with more points about the least and the largest gap, where a grid would stop short of them, and the gaps there.

    Each round puts points between the two neighbours of either extreme: after four they are known to a 1e3rd of the step.

    Args:
        gap: of FPRs; NaN where it is not judged.
        levels: increasing FPRs to start from.
        rounds: how often.
    """
    values = gap(levels)
    for _ in range(rounds):
        if np.isnan(values).all():
            break
        ends = (int(np.nanargmin(values)), int(np.nanargmax(values)))
        steps = [(levels[max(i - 1, 0)], levels[min(i + 1, levels.size - 1)]) for i in ends]
        # Always as many points: a law compiled for arrays of one size is compiled once.
        fresh = np.concatenate([low * (high / low) ** np.linspace(0.05, 0.95, 13) for low, high in steps])
        levels, values = np.concatenate([levels, fresh]), np.concatenate([values, gap(fresh)])
        levels, order = np.unique(levels, return_index=True)
        values = values[order]
    return levels, values


def both_ways(exact: Beta, claimed: Beta, claimed_inverse: Beta, label: str) -> Size:
    """Compare j with the claimed j and jinv with the claimed jinv, at rates from 1e-4 (FPRs below it for j)."""

    def forth(levels: np.ndarray) -> np.ndarray:
        found = exact(levels)
        gap = ndtri(np.clip(claimed(levels), 1e-12, 1 - 1e-12)) - ndtri(found)
        return np.where((found >= FLOOR) & (found <= 1 - FLOOR), gap, np.nan)

    def back(levels: np.ndarray) -> np.ndarray:
        found = exact(levels)
        judged = (found >= FLOOR) & (found <= 1 - FLOOR) & (levels >= FLOOR)
        gap = ndtri(np.clip(claimed_inverse(np.where(judged, found, 0.5)), 1e-12, 1 - 1e-12)) - ndtri(levels)
        return np.where(judged, gap, np.nan)

    (levels, gap), (_, other), empty = refined(forth), refined(back), np.zeros(0)
    every, shown = np.concatenate([gap, other]), np.isin(LEVELS, levels[np.isfinite(gap)])
    alpha = LEVELS[shown]
    evidence = CurveEvidence(
        alpha, exact(LEVELS)[shown], empty, empty, empty, alpha, claimed(LEVELS)[shown], "exact law", label
    )
    return Size(float(np.nanmin(every)), float(np.nanmax(every)), evidence)


def level_gap(found: AbstractTradeOff, promised: AbstractTradeOff, label: str) -> Size:
    """How far an attacker's curve lies below a promised one, in probits, wherever the promised FNR is at least 1e-4."""

    def gap(levels: np.ndarray) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            difference = promised.probit_beta(levels) - found.probit_beta(levels)
        # A TPR below 1e-300 is no number.
        return np.where(np.isfinite(difference) & (promised.beta(levels) >= FLOOR), difference, np.nan)

    levels, values = refined(gap)
    shown, empty = np.isin(LEVELS, levels[np.isfinite(values)]), np.zeros(0)
    alpha = LEVELS[shown]
    evidence = CurveEvidence(
        alpha,
        found.beta(LEVELS)[shown],
        empty,
        empty,
        empty,
        alpha,
        promised.beta(LEVELS)[shown],
        "exact law",
        label,
    )
    return Size(float(np.nanmin(values)), float(np.nanmax(values)), evidence)


def best_test(out: np.ndarray, inside: np.ndarray) -> PiecewiseLinearTradeOff:
    """The curve of the likelihood ratio between two laws on finitely many points, by sorting.

    Args:
        out: probabilities without the record, shape (k,), of sum 1.
        inside: with it, of the same points.
    """
    possible = (out > 0) | (inside > 0)
    out, inside = out[possible], inside[possible]
    with np.errstate(divide="ignore"):
        ratio = inside / out
    order = np.argsort(-ratio, kind="stable")
    ratio, out, inside = ratio[order], out[order], inside[order]
    # Equal ratios are one point: the test randomises among them.
    starts = np.flatnonzero(np.concatenate([[True], ratio[1:] < ratio[:-1] * (1 - 1e-13)]))
    out, inside = np.add.reduceat(out, starts), np.add.reduceat(inside, starts)
    # Each rate is summed from its small end, where its digits are.
    alpha = np.concatenate([[0.0], np.cumsum(out)])
    beta = np.concatenate([np.cumsum(inside[::-1])[::-1], [0.0]])
    alpha, beta = alpha / alpha[-1], beta / beta[0]
    last = np.concatenate([np.diff(alpha) > 0, [True]])  # of several FNRs at one FPR the least
    return PiecewiseLinearTradeOff(alpha[last], np.minimum(beta[last], 1.0 - alpha[last]))


def cells(law: Callable[[np.ndarray], np.ndarray], width: float, count: int) -> np.ndarray:
    """Probabilities of `count` equal cells of [-width, width] and of the two ends, from a distribution function."""
    edges = np.linspace(-width, width, count + 1)
    return np.diff(np.concatenate([[0.0], law(edges), [1.0]]))
