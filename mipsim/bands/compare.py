"""The verdict test: counts at fixed thresholds against a claimed trade-off function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from mipsim._printed import at_most, ceiling, floor, shown, shown_risk
from mipsim._validation import choice, class_counts, number
from mipsim.bands.anytime import MixedRates, anytime_bounds, mixed_rates, mixture_probits
from mipsim.bands.comparison_base import (
    CONFIRMED,
    DIFFERS,
    KINDS,
    NUMERICAL_FLOOR,
    READINGS,
    REFUTED,
    AbstractComparison,
    widths_and_detectable,
)
from mipsim.bands.equality_tolerance import check_claim, equality_tolerance
from mipsim.bands.gap_interval import critical_probits, gap_bounds, gap_standard_error
from mipsim.bands.scaled_rates import ScaledRates
from mipsim.tradeoff.base import AbstractTradeOff

LEAST_COUNT = 25
"""Counts that each of the four cells of a threshold needs for a confirmation to speak about it.

The intervals hold for every count, so that rarer thresholds can refute; they are only too wide to confirm anything."""

UNSEPARATED = "no threshold has scores of the same world on both sides; give edges between the values that the score takes"


def some_separate(*rates: np.ndarray) -> bool:
    """Whether some threshold has scores of the same world on both of its sides, by each world's rates; if none has, more games
    show nothing.
    """
    return any(bool(((rate > 0.0) & (rate < 1.0)).any()) for rate in rates)


def why_silent(alpha: np.ndarray, beta: np.ndarray, out_games: int, in_games: int) -> str:
    """Why counts say nothing, where they say nothing: there are hardly any, or no threshold separates any.
    >>> why_silent(np.array([0.5]), np.array([0.5]), 10, 10)
    '10 and 10 games are too few for 1 thresholds'
    """
    if min(out_games, in_games) >= LEAST_COUNT and not some_separate(alpha, beta):
        return UNSEPARATED
    return f"{out_games:,} and {in_games:,} games are too few for {alpha.size} thresholds"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(AbstractComparison):
    """An empirical trade-off curve compared with a claimed curve, threshold by threshold.

    The gap is c = Phi^-1(g(a)) - Phi^-1(b) at the same FPR a, with g the claimed curve and b the true FNR:
    an error in the local mu, positive where the attacker is stronger than claimed.

    Attributes:
        alpha, beta: observed FPR and FNR at the thresholds, shape (K,).
        out_games, in_games: games played in each world.
        requested_kind: the kind of claim that was requested, or None for what follows from `finite_size`.
        anytime: whether the intervals hold at every number of games at once.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> counts = [50000, 15866], 10**5, [15866, 50000], 10**5
        >>> result = compare_counts(*counts, GaussianTradeOff(1.0), tolerance=0.05)
        >>> result.verdict, [round(end, 2) for end in result.interval]
        ('CONFIRMED', [-0.03, 0.03])
    """

    alpha: np.ndarray
    beta: np.ndarray
    out_games: int
    in_games: int
    requested_kind: str | None = None
    anytime: bool = False

    @property
    def kind(self) -> str:
        """The requested kind; else a limit if something was stated about the games' finite size, else an equality."""
        if self.requested_kind is not None:
            return self.requested_kind
        stated = self.finite_size is not None or self.law_contradicted is not None
        return "limit" if stated else "equality"

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

    @property
    def separates(self) -> bool:
        """Whether some threshold has scores of the same world on either side of it."""
        return some_separate(self.alpha, self.beta)

    def games_to_confirm(self, tolerance: float | None = None) -> int | None:
        """As for every comparison; None also where no threshold separates any scores."""
        return super().games_to_confirm(tolerance) if self.separates else None

    def place(self, k: int) -> str:
        return f"FPR {self.alpha[k]:.3g}"

    def _meaning(self, kind: str) -> str:
        """What a confirmation of this kind states, in words."""
        low, high = self.alpha_range
        most = self.tolerance
        if kind in DIFFERS:
            most = max(most, self.finite_size or 0.0)
        size = ", at this size" if kind == "limit" else ""
        many = self.thresholds_used
        where = (
            f"an observed FPR of {low:.3g}"
            if many == 1
            else f"{many} observed FPRs from {floor(low, 3)} to {ceiling(high, 3)}"
        )
        return (
            f"at {where}, this attack "
            f"{DIFFERS.get(kind, 'differs from')} the claim by {at_most(most)} probits{size}; "
            f"wrong with probability at most {shown_risk(self.failure_probability)}. Other FPRs and other attacks are not covered"
        )

    def _gap_lines(self) -> list[tuple[str, str]]:
        lines = super()._gap_lines()
        return [("means", self._meaning(self.kind)), *lines] if self.verdict == CONFIRMED else lines

    def rows(self) -> list[tuple[str, str]]:
        low, high = self.alpha_range
        few = min(self.out_games, self.in_games) < 2 * LEAST_COUNT  # than the four cells of a threshold need
        if not self.thresholds_used and (few or not self.separates):
            return [("why", why_silent(self.alpha, self.beta, self.out_games, self.in_games))]
        used = f"{self.thresholds_used} of {self.used.size} thresholds"
        rows = [("games", f"{self.out_games:,} out, {self.in_games:,} in")]
        if self.thresholds_used:
            rows.insert(0, ("FPR range", f"{shown((low, high), 3)}, {used}"))
        elif self.verdict != REFUTED:
            rows.insert(0, ("FPR range", used))
        if self.anytime:
            rows.append(("holds", "at every number of games at once"))
        if self.kind == "equality" and self.verdict == REFUTED:
            bound = "upper_bound_on_power"
            verdict = self.verdict_for(bound)
            means = f": {self._meaning(bound)}" if verdict == CONFIRMED else ""
            rows.append(("as a bound", f"{verdict} {READINGS[bound]}{means}"))
        return rows


def compare_counts(
    false_positives: object,
    out_games: int,
    false_negatives: object,
    in_games: int,
    claim: AbstractTradeOff,
    *,
    failure_probability: float = 1e-3,
    tolerance: float | None = None,
    least_rate: float = 0.0,
    finite_size: object = None,
    kind: str | None = None,
    earlier_counts: np.ndarray | None = None,
) -> Comparison:
    """Compare counts at K thresholds, fixed before the games, with a claimed trade-off function.

    Each threshold has a proven interval of its gap, see `mipsim.bands.gap_interval.gap_bounds`; Bonferroni divides the
    failure probability over all K, and over the two ends where the claim is not one-sided.

    Args:
        false_positives: number of "out" scores above each threshold, shape (K,).
        out_games: "out" games played, n0, independent.
        false_negatives: number of "in" scores at or below each threshold, shape (K,).
        in_games: "in" games played, n1, independent.
        claim: the claimed curve g; 0 and 1 are allowed values of it.
        failure_probability: for all K thresholds together, in (0, 1).
        tolerance: what counts as equal, in probits, > 0; by default the smaller of 0.02 and 2% of the claim's own mu.
        least_rate: the range that a confirmation is about: thresholds with an observed rate below this or above
            1 minus this, in [0, 0.5), can refute but need not be inside the tolerance. The intervals are
            simultaneous over all K, so that the choice costs nothing.
        finite_size: for a claim about n -> infinity, what is *proven* about the law at the n that was played: a number
            h with |gap| <= h, in probits; or the exact law at this n, a trade-off function or a pair (low, high)
            that brackets it. It separates errors of finite n from those of finitely many games.
        kind: what the claim says, an entry of `mipsim.bands.comparison_base.KINDS`: "equality", "equivalence" (equal to the
            tolerance), "limit", "upper_bound_on_power" (no attacker is stronger) or "ordering" (this attacker is no weaker); by default "equality", or "limit" with a
            `finite_size`. A true bound is refuted as an equality wherever the attacker is weaker.
        earlier_counts: if given, the intervals hold at every number of games at once, see `mipsim.bands.anytime_bounds`: what
            earlier, independent games counted, false positives and true negatives, false negatives and true positives, shape (4, K); zeros if there were none.

    Raises:
        ValueError: if counts are not whole or exceed the games, another argument is outside its range, or the
            tolerance is left to a claim whose mu is about 0.

    Examples:
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> counts = [84134, 50000, 15866], 10**5, [2275, 15866, 50000], 10**5
        >>> same = compare_counts(*counts, GaussianTradeOff(1.0), tolerance=0.05)
        >>> same.verdict, round(same.smallest_tolerance, 3)
        ('CONFIRMED', 0.037)
        >>> compare_counts(*counts, GaussianTradeOff(1.1)).verdict
        'REFUTED'

        A limit of mu = 1.02 that the law at this n has not reached, and the same without that knowledge:

        >>> limit, here = GaussianTradeOff(1.02), GaussianTradeOff(1.0)
        >>> many = [5 * 10**7], 10**8, [15_865_525], 10**8
        >>> compare_counts(*many, limit, tolerance=0.05, finite_size=here).verdict
        'CONFIRMED'
        >>> compare_counts(*many, limit, tolerance=0.05).verdict_for("limit")
        'INCONCLUSIVE'
    """
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games)
    if x.size != y.size:
        raise ValueError(f"false_negatives has {y.size} entries; it must have {x.size}, like false_positives")
    return compare_rates(
        ScaledRates.plain(x, n0),
        ScaledRates.plain(y, n1),
        claim,
        failure_probability=failure_probability,
        tolerance=tolerance,
        least_rate=least_rate,
        finite_size=finite_size,
        kind=kind,
        mixed=mixed_rates(x, n0, y, n1, earlier_counts),
    )


def compare_rates(
    out: ScaledRates,
    inside: ScaledRates,
    claim: AbstractTradeOff,
    *,
    failure_probability: float = 1e-3,
    tolerance: float | None = None,
    least_rate: float = 0.0,
    finite_size: object = None,
    kind: str | None = None,
    mixed: tuple[MixedRates, MixedRates] | None = None,
) -> Comparison:
    """Hold FPRs `out` and FNRs `inside`, at K thresholds fixed before the games, against a claimed curve.

    Args:
        out: the FPRs; where any of the four cells has fewer than 25 games a threshold can refute, not confirm.
        inside: the FNRs at the same thresholds.
        claim: the claimed trade-off function.
        failure_probability: for all K thresholds together, in (0, 1).
        tolerance: as in `compare_counts`.
        least_rate: as in `compare_counts`.
        finite_size: as in `compare_counts`.
        kind: as in `compare_counts`.
        mixed: the same rates with their mixtures, for intervals that hold at every number of games at once.

    Examples:
        >>> from scipy.special import ndtr
        >>> from mipsim.tradeoff import GaussianTradeOff
        >>> q = 1000 * ndtr(-4.0) / 1e-3  # 1000 tilted games that are accepted with probability Phi(-4) / B
        >>> out = ScaledRates([round(q)], [1000], [1e-3], [False])
        >>> inside = ScaledRates([1587], [10_000], [1.0], [True])
        >>> result = compare_rates(out, inside, GaussianTradeOff(3.0), tolerance=0.25)
        >>> result.verdict, [round(end, 2) for end in result.interval]
        ('CONFIRMED', [-0.15, 0.16])
    """
    risk = number("failure_probability", failure_probability, 0.0, 1.0, low_open=True, high_open=True)
    rarest = number("least_rate", least_rate, 0.0, 0.5, high_open=True)
    check_claim("claim", claim)
    requested_kind = None if kind is None else choice("kind", kind, KINDS)
    margin = (
        equality_tolerance(claim) if tolerance is None else number("tolerance", tolerance, 0.0, low_open=True)
    )
    k = out.count.size
    if inside.count.size != k:
        raise ValueError(f"inside has {inside.count.size} rates; it must have {k}, like out")
    cells = np.minimum(out.rarest_cell, inside.rarest_cell)
    enough = cells >= LEAST_COUNT
    used = enough.copy()
    for rate in (out.rate, inside.rate):
        used &= np.minimum(rate, 1.0 - rate) >= rarest

    def bounds(curve: AbstractTradeOff, sides: int = 2) -> tuple[np.ndarray, np.ndarray]:
        if mixed is not None:  # both ends hold at once; a single end would be no narrower
            return anytime_bounds(*mixed, curve, risk)
        return gap_bounds(out, inside, curve, critical_probits(risk, k, sides))

    low, high = bounds(claim)
    estimate = np.full(k, np.nan)
    claimed = np.mean(claim.beta_bounds(out.rate[enough]), axis=0)
    estimate[enough] = ndtri(claimed) - inside.probit[enough]
    error = gap_standard_error(out, inside, claim)
    probit = critical_probits(risk, k, 2)[0] if mixed is None else mixture_probits(*mixed, risk)
    half_width, detectable = widths_and_detectable(probit, error, low, estimate, high, cells)
    allowance, law = _finite_size(finite_size)
    contradicted = None
    if law is not None:
        above, below = (bounds(curve) for curve in law)
        contradicted = bool((above[0] > NUMERICAL_FLOOR).any() or (below[1] < -NUMERICAL_FLOOR).any())
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
        claim=repr(claim),
        games=int(min(out.games.min(), inside.games.min())),
        one_sided=partial(bounds, claim, 1),
        finite_size=allowance,
        law_contradicted=contradicted,
        alpha=out.rate,
        beta=inside.rate,
        out_games=int(out.games.min()),
        in_games=int(inside.games.min()),
        requested_kind=requested_kind,
        anytime=mixed is not None,
    )


def _finite_size(stated: Any) -> tuple[float | None, tuple[AbstractTradeOff, AbstractTradeOff] | None]:
    """The allowance, or the two curves that bracket the exact law."""
    if stated is None:
        return None, None
    if isinstance(stated, (int, float, np.integer, np.floating)) and not isinstance(stated, bool):
        return number("finite_size", float(stated), 0.0), None
    pair: Any = stated if isinstance(stated, (tuple, list)) else (stated, stated)
    if len(pair) != 2:
        raise ValueError(
            f"finite_size has {len(pair)} entries; it must be a number, a curve or a pair (low, high)"
        )
    low, high = pair
    check_claim("finite_size", low)
    check_claim("finite_size", high)
    grid = np.linspace(0.0, 1.0, 1001)
    if (bad := low.beta(grid) > high.beta(grid) + 1e-12).any():  # by more than rounding
        raise ValueError(
            f"finite_size brackets no law: its low curve is above its high curve at FPR {grid[bad][0]:.3g}"
        )
    return None, (low, high)
