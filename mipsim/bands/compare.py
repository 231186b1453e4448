"""The verdict test: counts at fixed thresholds against a claimed trade-off function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from mipsim._validation import number
from mipsim.bands.comparison_base import (
    AbstractComparison,
    critical_probit,
    games_needed,
    widths_and_detectable,
)
from mipsim.bands.counts import class_counts
from mipsim.bands.gap_interval import gap_bounds, gap_standard_error, profile_deviance

if TYPE_CHECKING:  # at run time mipsim.tradeoff imports this package
    from mipsim.tradeoff.base import AbstractTradeOff

LEAST_COUNT = 25
"""Counts that each of the four cells of a threshold needs: below it the chi-square tail is not trusted."""


@dataclass(frozen=True, eq=False)
class Comparison(AbstractComparison):
    """An empirical trade-off curve held against a claimed one, threshold by threshold.

    The gap is c = Phi^-1(g(a)) - Phi^-1(b) at the same FPR a, with g the claimed curve and b the true FNR:
    an error in the local mu, positive where the attacker is stronger than claimed.

    Attributes:
        alpha, beta: observed FPR and FNR at the thresholds, shape (K,).
        p_value: 2 P(chi2_1 > D_k) of each threshold's profile deviance, shape (K,); 1 where it is not used.
            Bonferroni: the claim fails at K p_value < failure_probability.
        out_games, in_games: games played in each world.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> counts = [50000, 15866], 10**5, [15866, 50000], 10**5
        >>> found = compare_counts(*counts, GaussianTradeOff(1.0))
        >>> found.verdict, [round(end, 2) for end in found.interval]
        ('CONFIRMED', [-0.03, 0.03])
    """

    alpha: np.ndarray
    beta: np.ndarray
    p_value: np.ndarray
    out_games: int
    in_games: int

    @property
    def kind(self) -> str:
        """An equality, unless `verdict_for` is asked about another kind."""
        return "equality"

    @property
    def games(self) -> int:
        """Games of the smaller world."""
        return min(self.out_games, self.in_games)

    def games_to_confirm(self, tolerance: float | None = None) -> int | None:
        """Games per world after which a true claim would be confirmed here; None if unknown."""
        return games_needed(self, tolerance)

    @property
    def alpha_range(self) -> tuple[float, float]:
        """Least and largest observed FPR that the used thresholds cover; (nan, nan) if none is used."""
        seen = self.alpha[self.used]
        return (float(seen.min()), float(seen.max())) if seen.size else (math.nan, math.nan)

    def detectable_gap_at(self, alpha: float) -> float:
        """The gap that is detected with probability 0.9 at the FPR `alpha`; inf outside `alpha_range`."""
        a = number("alpha", alpha, 0.0, 1.0)
        low, high = self.alpha_range
        if not low <= a <= high:
            return math.inf
        order = np.argsort(self.alpha[self.used], kind="stable")
        at = ndtri(self.alpha[self.used])[order]
        return float(np.interp(ndtri(a), at, self.detectable_gaps[self.used][order]))

    def rows(self) -> list[tuple[str, str]]:
        """What was covered and how many games were played."""
        low, high = self.alpha_range
        return [
            ("FPR range", f"[{low:.3g}, {high:.3g}], {self.thresholds_used} of {self.used.size} thresholds"),
            ("games", f"{self.out_games:,} out, {self.in_games:,} in"),
            ("failure probability", f"{self.failure_probability:.3g}"),
        ]


def compare_counts(
    false_positives: object,
    out_games: int,
    false_negatives: object,
    in_games: int,
    claim: AbstractTradeOff,
    *,
    failure_probability: float = 1e-3,
    tolerance: float = 0.05,
    least_rate: float = 0.0,
) -> Comparison:
    """Compare counts at K thresholds, fixed before the games, with a claimed trade-off function.

    Per threshold the profile deviance D_k = min_a 2[n0 KL(a^||a) + n1 KL(b^||g(a))] gives p_k = 2 P(chi2_1 >
    D_k), and its inversion the interval of the gap; Bonferroni divides by all K. The factor 2 pads the
    chi-square approximation; thresholds with fewer than 25 counts in one of the four cells are not used.

    Args:
        false_positives: number of "out" scores above each threshold, shape (K,).
        out_games: "out" games played, n0.
        false_negatives: number of "in" scores at or below each threshold, shape (K,).
        in_games: "in" games played, n1.
        claim: the claimed curve g; 0 and 1 are allowed values of it.
        failure_probability: for all K thresholds together, in (0, 1).
        tolerance: what counts as equal, in probits, > 0.
        least_rate: the range that a confirmation is about: thresholds with an observed rate below this or above
            1 minus this, in [0, 0.5), can refute but need not be inside the tolerance. The intervals are
            simultaneous over all K, so that the choice costs nothing.

    Raises:
        ValueError: if counts are not whole or exceed the games, or another argument is outside its range.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> counts = [84134, 50000, 15866], 10**5, [2275, 15866, 50000], 10**5
        >>> same = compare_counts(*counts, GaussianTradeOff(1.0), tolerance=0.05)
        >>> same.verdict, round(same.smallest_tolerance, 3)
        ('CONFIRMED', 0.038)
        >>> compare_counts(*counts, GaussianTradeOff(1.1)).verdict
        'REFUTED'
    """
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    margin = number("tolerance", tolerance, 0.0, low_open=True)
    rarest = number("least_rate", least_rate, 0.0, 0.5, high_open=True)
    if not all(callable(getattr(claim, name, None)) for name in ("beta", "tpr_at", "probit_beta")):
        raise ValueError(
            f"claim is {type(claim).__name__}; it must be a trade-off function, e.g. GaussianTradeOff(1)"
        )
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games)
    if x.size != y.size:
        raise ValueError(f"false_negatives has {y.size} entries; it must have {x.size}, like false_positives")
    rarest_cell = np.minimum(np.minimum(x, n0 - x), np.minimum(y, n1 - y))
    enough = rarest_cell >= LEAST_COUNT
    used = enough & (np.minimum(x, n0 - x) >= rarest * n0) & (np.minimum(y, n1 - y) >= rarest * n1)
    estimate, low, high = np.full(x.size, np.nan), np.full(x.size, -np.inf), np.full(x.size, np.inf)
    p_value = np.ones(x.size)
    # Where frequencies are 0 or 1, the error that is planned with needs one a little inside.
    alpha, beta = (x + 0.5) / (n0 + 1), (y + 0.5) / (n1 + 1)
    alpha, beta = np.where(enough, x / n0, alpha), np.where(enough, y / n1, beta)
    if enough.any():
        cells = x[enough], n0, y[enough], n1
        # P(chi2_1 > D) = 2 Phi(-sqrt D)
        p_value[enough] = np.minimum(1.0, 4.0 * ndtr(-np.sqrt(profile_deviance(*cells, claim))))
        low[enough], high[enough] = gap_bounds(*cells, claim, critical_probit(risk, x.size) ** 2)
        estimate[enough] = claim.probit_beta(alpha[enough]) - ndtri(beta[enough])
    error = gap_standard_error(alpha, n0, beta, n1, claim)
    probit = critical_probit(risk, x.size)
    half_width, detectable = widths_and_detectable(probit, error, low, estimate, high, rarest_cell)
    return Comparison(
        estimate=estimate,
        low=low,
        high=high,
        used=used,
        standard_error=error,
        half_width=half_width,
        detectable=detectable,
        failure_probability=risk,
        tolerance=margin,
        claim=str(claim),
        alpha=x / n0,
        beta=y / n1,
        p_value=p_value,
        out_games=n0,
        in_games=n1,
    )
