"""The histogram of a single world compared with a claimed distribution of the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtri

from mipsim._validation import class_counts, finite_vector, increasing_vector, number
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import LEAST_COUNT
from mipsim.bands.comparison_base import AbstractComparison, widths_and_detectable


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class LawComparison(AbstractComparison):
    """Observed P(score <= t_k) held against a claimed distribution function.

    The gap is Phi^-1(claimed F(t)) - Phi^-1(true F(t)): the shift of the score in units of its spread where
    the law is normal, positive where scores are larger than claimed.

    Attributes:
        thresholds: t_k, shape (K,).
        observed: frequency of scores <= t_k, shape (K,).
        claimed: claimed F(t_k), shape (K,).
    """

    AXIS: ClassVar[str] = "thresholds"

    thresholds: np.ndarray
    observed: np.ndarray
    claimed: np.ndarray

    @property
    def kind(self) -> str:
        return "equality"

    def place(self, k: int) -> str:
        return f"the threshold {self.thresholds[k]:.4g}"

    def rows(self) -> list[tuple[str, str]]:
        return [
            ("thresholds", f"{self.thresholds_used} of {self.used.size}"),
            ("scores", f"{self.games:,}"),
        ]


def law_of_score(
    counts: object,
    edges: object,
    cdf: Callable[[np.ndarray], object],
    failure_probability: float = 1e-3,
    *,
    tolerance: float = 0.02,
    name: str = "law of the score",
) -> LawComparison:
    """Check a histogram, on edges fixed before the games, against a claimed continuous distribution function.

    The number of scores <= t_k is binomial; Clopper-Pearson intervals at failure_probability / K hold for
    every count, so every threshold can refute. Only those with at least 25 scores on either side count
    towards a confirmation.

    Args:
        counts: K + 1 counts; entry i counts scores in (edges[i-1], edges[i]].
        edges: K increasing thresholds.
        cdf: maps thresholds, shape (K,), to claimed probabilities P(score <= t).
        failure_probability: for all thresholds together, in (0, 1).
        tolerance: what counts as equal, in probits, > 0.
        name: the claim in words.

    Examples:
        >>> from scipy.special import ndtr
        >>> counts, edges = [1587, 3413, 3413, 1587], [-1.0, 0.0, 1.0]
        >>> law_of_score(counts, edges, ndtr, tolerance=0.1).verdict
        'CONFIRMED'
        >>> law_of_score(counts, edges, lambda t: ndtr(t - 0.1)).verdict
        'REFUTED'
    """
    thresholds = increasing_vector("edges", edges)
    bins = finite_vector("counts", counts, thresholds.size + 1)
    total = float(bins.sum())
    bins, games = class_counts("counts", bins, "games", total)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    claimed = finite_vector("cdf(edges)", cdf(thresholds), thresholds.size)
    if ((claimed < 0) | (claimed > 1)).any() or (np.diff(claimed) < 0).any():
        raise ValueError("cdf(edges) leaves [0, 1] or falls; it must be a distribution function")
    below = np.cumsum(bins)[:-1]
    low_p, high_p = clopper_pearson(below, games, failure_probability, thresholds=thresholds.size)
    observed = below / games
    # A claim of 0 or 1 that the counts allow has no gap; inf - inf would have none that is a number.
    allowed = (low_p <= claimed) & (claimed <= high_p)
    certain = allowed & ((claimed == 0.0) | (claimed == 1.0))
    target = np.where(certain, 0.5, claimed)
    low = np.where(certain, -np.inf, ndtri(target) - ndtri(high_p))
    high = np.where(certain, np.inf, ndtri(target) - ndtri(low_p))
    rarest = np.minimum(below, games - below)
    enough = rarest >= LEAST_COUNT
    # Inside (0, 1), so that the error planned with is finite at empty thresholds too.
    inner = (below + 0.5) / (games + 1)
    density = np.exp(-0.5 * ndtri(inner) ** 2) / np.sqrt(2 * np.pi)
    error = np.sqrt(inner * (1 - inner) / games) / density
    with np.errstate(invalid="ignore"):
        estimate = np.where(certain, 0.0, ndtri(target) - ndtri(np.where(enough, observed, inner)))
    probit = float(-ndtri(failure_probability / (2 * thresholds.size)))
    half_width, detectable = widths_and_detectable(probit, error, low, estimate, high, rarest)
    return LawComparison(
        estimate=estimate,
        low=low,
        high=high,
        used=enough | ~allowed,
        standard_error=error,
        half_width=half_width,
        detectable=detectable,
        failure_probability=failure_probability,
        tolerance=margin,
        claim=name,
        thresholds=thresholds,
        observed=observed,
        claimed=claimed,
        games=games,
    )
