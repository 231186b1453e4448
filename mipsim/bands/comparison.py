"""A played curve held against a claim or against another played curve: intervals of their gap, and the verdict that follows."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Self

import numpy as np

from mipsim._printed import Printed, at_most, ceiling, enough, floor, shown, shown_risk
from mipsim._validation import choice, number
from mipsim._verdict import READINGS

CONFIRMED, REFUTED, INCONCLUSIVE = "CONFIRMED", "REFUTED", "INCONCLUSIVE"
KINDS = tuple(READINGS)
_DIFFERS = {"upper_bound_on_power": "is stronger than", "ordering": "is weaker than"}
"""Kinds that bound the gap in a single direction, and what a confirmation says of it there."""
NUMERICAL_FLOOR = 1e-9
"""A gap below this, in probits, may be rounding: it never refutes."""
POWER = 0.9
"""The probability with which a stated detectable gap is detected."""
BETWEEN_CURVES = {
    "ordering": "the first curve has at most the FNR of the second at every FPR",
    "upper_bound_on_power": "the first curve has at least the FNR of the second at every FPR",
    "equality": "the two curves are equal at every FPR",
}
"""What may be claimed of two played curves."""
LEAST_COUNT = 25
"""Counts that each of the four cells of a threshold needs for a confirmation to speak about it.

The intervals hold for every count, so that rarer thresholds can refute; they are only too wide to confirm anything."""
THRESHOLDS_READ = 256
"""Thresholds that are read of each of two played curves; a chord over dz bends by mu dz^2 / 8 probits."""
_UNSEPARATED = "no threshold has scores of the same world on both sides; give edges between the values that the score takes"


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
        return _UNSEPARATED
    return f"{out_games:,} and {in_games:,} games are too few for {alpha.size} thresholds"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AbstractComparison(Printed):
    """Simultaneous intervals of a gap at K thresholds that were fixed before the games.

    `OrderingComparison` says where its intervals differ.

    Attributes:
        alpha: FPR at each threshold, shape (K,).
        estimate: the gap at each threshold, shape (K,), in probits; nan where it is unknown.
        low, high: its simultaneous interval, shape (K,); (-inf, inf) at thresholds that are not used.
        tested: which thresholds can refute, shape (K,), bool.
        used: which thresholds the gap, the interval and a confirmation are about, shape (K,), bool. Others have
            too few counts (infinite intervals), or rates outside the requested range (they can only refute).
        standard_error: of each estimate, shape (K,); inf where it is unknown.
        half_width: of each interval on its longer side, shape (K,): z se for many counts, planned where not used.
        detectable: the gap that each threshold detects with probability 0.9, shape (K,).
        failure_probability: chance that some interval misses the true gap.
        tolerance: what counts as equal, in probits, declared before the games.
        claim: the claim in words.
        games: of the smallest world.
        kind: the kind of claim that `verdict` is about, an entry of `KINDS`.
        one_sided: gives (low, high), each alone with the failure probability, for claims in a single direction; by default
            the ends of the two-sided interval.
        precision: of the user's functions that were played; empty if there were none.
    """

    alpha: np.ndarray
    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    tested: np.ndarray
    used: np.ndarray
    standard_error: np.ndarray
    half_width: np.ndarray
    detectable: np.ndarray
    failure_probability: float
    tolerance: float
    claim: str
    games: int
    kind: str = "equality"
    one_sided: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    precision: str = ""

    @property
    def _silence(self) -> str:
        """Why no threshold says anything; empty where that is not known."""
        return ""

    @abstractmethod
    def _rows(self) -> list[tuple[str, str]]:
        """Name and value of what `print` shows below the verdict, beyond the gap and the tolerance."""

    @property
    def thresholds_used(self) -> int:
        """How many of the K thresholds had counts enough."""
        return int(self.used.sum())

    @property
    def alpha_range(self) -> tuple[float, float]:
        """Least and largest FPR that a confirmation is about; (nan, nan) if there is none."""
        seen = self.alpha[self.used]
        return (float(seen.min()), float(seen.max())) if seen.size else (math.nan, math.nan)

    @property
    def gap(self) -> float:
        """The estimated gap of the largest absolute value over the used thresholds; nan if none is used."""
        seen = self.estimate[self.used]
        return float(seen[np.abs(seen).argmax()]) if seen.size else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """The range over the thresholds: it holds the gaps at all used thresholds at once; (-inf, inf) if none is used."""
        if not self.thresholds_used:
            return -math.inf, math.inf
        return float(self.low[self.used].min()), float(self.high[self.used].max())

    @property
    def smallest_tolerance(self) -> float:
        """The least tolerance at which the intervals would confirm an equality; inf if there is none."""
        low, high = self.interval
        return max(abs(low), abs(high))

    @cached_property
    def one_sided_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), shape (K,): each end alone has the whole failure probability, over all thresholds."""
        return (self.low, self.high) if self.one_sided is None else self.one_sided()

    def _ends(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        return self.one_sided_ends if kind in _DIFFERS else (self.low, self.high)

    def _outside(self, kind: str) -> tuple[np.ndarray, np.ndarray]:
        """(how far the gap lies outside of a claim of this kind at least, at most), shape (K,), in probits."""
        low, high = self._ends(kind)
        return {"upper_bound_on_power": (low, high), "ordering": (-high, -low)}.get(
            kind, (np.fmax(low, -high), np.fmax(high, -low))
        )

    @property
    def verdict(self) -> str:
        """CONFIRMED, REFUTED or INCONCLUSIVE, by the logic of this comparison's own kind."""
        return self.verdict_for(self.kind)

    def verdict_for(self, kind: str) -> str:
        """The verdict on a claim of the given kind, about the true gap c at every threshold.

        Every end below is simultaneous over all thresholds. REFUTED is wrong with at most the failure probability,
        and so is CONFIRMED. T is the tolerance; a floor of 1e-9 probits for rounding is part of every "outside".

        | kind | says | REFUTED | CONFIRMED |
        |---|---|---|---|
        | equality | c = 0 | an interval excludes 0, also within T | all used intervals inside +-T, none excludes 0 |
        | equivalence | abs(c) <= T | an interval is outside +-T | all used intervals inside +-T |
        | upper_bound_on_power | c <= 0: no attacker is stronger | a lower end above 0 | no upper end above T, at used thresholds; about the attack that played (about all only if it is optimal) |
        | ordering | c >= 0: not weaker | an upper end below 0 | no lower end below -T |

        Ends of orders are one-sided, each with the whole failure probability.
        """
        choice("kind", kind, KINDS)
        refuted = self.excludes(self.tolerance if kind == "equivalence" else 0.0, kind)
        _, most = self._outside(kind)
        confirmed = self.thresholds_used > 0 and bool((most[self.used] <= self.tolerance).all())
        return REFUTED if refuted else CONFIRMED if confirmed else INCONCLUSIVE

    def excludes(self, allowed: float, kind: str = "equality") -> bool:
        """Whether the interval at some tested threshold lies wholly outside of what a claim of this kind allows, rounding aside."""
        least, _ = self._outside(kind)
        return bool((least[self.tested] > allowed + NUMERICAL_FLOOR).any())

    @cached_property
    def deciding(self) -> int | None:
        """The threshold that decides: where a gap is most clearly outside, or else has least room to be confirmed; None if none says anything."""
        least, most = self._outside(self.kind)
        if self.verdict == REFUTED:
            return int(np.argmax(np.where(self.tested, least, -np.inf)))
        return int(np.argmax(np.where(self.used, most, -np.inf))) if self.thresholds_used else None

    @property
    def deciding_interval(self) -> tuple[float, float]:
        """The interval of the gap at the deciding threshold, its ends one-sided where the claim is; (-inf, inf) if there is none."""
        if self.deciding is None:
            return -math.inf, math.inf
        low, high = self._ends(self.kind)
        return float(low[self.deciding]), float(high[self.deciding])

    @property
    def detectable_gaps(self) -> np.ndarray:
        """Per threshold, the gap that is detected with probability 0.9, shape (K,); inf where not used."""
        return np.where(self.used, self.detectable, np.inf)

    @property
    def detectable_gap(self) -> float:
        """The gap that is detected with probability 0.9 at the best used threshold; inf if none is used."""
        return float(self.detectable_gaps.min())

    def games_to_confirm(self, tolerance: float | None = None) -> int | None:
        """Games per world after which a true claim would be confirmed at these thresholds; None if unknown.

        At so many twice the widest half-width, falling as 1 / sqrt(games), fits the tolerance. Without a usable threshold
        the narrowest is planned for: it is the first to become usable.

        Args:
            tolerance: in probits, > 0; the comparison's own by default.
        """
        wanted = number("tolerance", self.tolerance if tolerance is None else tolerance, 0.0, low_open=True)
        used = self.used if self.thresholds_used else np.ones_like(self.used)
        widths = self.half_width[used & np.isfinite(self.half_width)]
        if not widths.size:
            return None
        width = widths.max() if self.thresholds_used else widths.min()
        return math.ceil(self.games * float(2.0 * width / wanted) ** 2)

    def _title(self) -> str:
        return f"{self.verdict} {READINGS[self.kind]}: {self.claim}"

    def _html_title(self) -> str:
        colour = {CONFIRMED: "#1b7837", REFUTED: "#b2182b", INCONCLUSIVE: "#7f6000"}[self.verdict]
        rest = escape(self._title().removeprefix(str(self.verdict)))
        return f'<b style="color:{colour}">{self.verdict}</b>{rest}'

    def _gap_at(self, ends: str, unknown: str = "") -> tuple[str, str]:
        """The line of the gap where it decides; `ends` tells what is known of it, `unknown` that it has no estimate."""
        assert self.deciding is not None
        estimate = self.estimate[self.deciding]
        known = [unknown if math.isnan(estimate) else f"{estimate:+.4g} probits", ends]
        return (
            "gap",
            f"{', '.join(filter(None, known))} at FPR {self.alpha[self.deciding]:.3g}, which decides",
        )

    def _gap_lines(self) -> list[tuple[str, str]]:
        """The gap where it decides, and over all thresholds: the second may hold 0 where the first does not."""
        if self.deciding is None:
            why = f": {self._silence}" if self._silence else ""
            return [("gap", f"no threshold has games enough to say anything{why}")]
        ends = "one-sided ends" if self.kind in _DIFFERS else "interval"
        lines = [self._gap_at(f"{ends} {shown(self.deciding_interval, sign='+')} probits")]
        if self.thresholds_used:
            over = f"gaps of all used thresholds within {shown(self.interval, sign='+')}"
            lines.append(("range over FPR", over))
        return lines

    def _lines(self) -> list[tuple[str, str]]:
        _, most = self._outside(self.kind)
        least = max(0.0, float(most[self.used].max())) if self.thresholds_used else math.inf
        digits = enough(least, self.tolerance)
        confirmed = (
            f" (smallest that would be confirmed: {ceiling(least, digits)})" if math.isfinite(least) else ""
        )
        lines = [*self._gap_lines(), ("tolerance", f"{self.tolerance:.{digits}g}{confirmed}")]
        if math.isfinite(self.detectable_gap):
            lines.append(("detectable gap", f"{self.detectable_gap:.4g} with probability {POWER}"))
        lines += [
            *self._rows(),
            *([("your functions", f"in {self.precision}")] if self.precision else []),
            ("failure probability", shown_risk(self.failure_probability)),
        ]
        if self.verdict == INCONCLUSIVE and (needed := self.games_to_confirm()) is not None:
            lines.append(("games to confirm", f"about {needed:,} per world, if the claim is true"))
        return lines

    def _wrong(self) -> str:
        return f"wrong with probability at most {shown_risk(self.failure_probability)}"


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Comparison(AbstractComparison):
    """An empirical trade-off curve compared with a claimed curve, threshold by threshold.

    The gap is c = Phi^-1(g(a)) - Phi^-1(b) at the same FPR a, with g the claimed curve and b the true FNR:
    an error in the local mu, positive where the attacker is stronger than claimed.

    Attributes:
        alpha, beta: observed FPR and FNR at the thresholds, shape (K,).
        out_games, in_games: games played in each world.
        anytime: whether the intervals hold at every number of games at once.

    Examples:
        >>> import mipsim as mi
        >>> curve = mi.EmpiricalTradeOff([0, 1], [50000, 15866], 10**5, [15866, 50000], 10**5)
        >>> result = curve.compare(mi.GaussianTradeOff(1.0), tolerance=0.05)
        >>> result.verdict, [round(end, 2) for end in result.interval]
        ('CONFIRMED', [-0.03, 0.03])
    """

    beta: np.ndarray
    out_games: int
    in_games: int
    anytime: bool = False

    def at_thresholds(self, stronger: np.ndarray, weaker: np.ndarray) -> Self:
        """The comparison by some of the thresholds; the others decide nothing.

        Args:
            stronger: where the attacker may be seen to be stronger than claimed, bool of shape (K,).
            weaker: where he may be seen to be weaker.

        Examples:
            >>> import mipsim as mi
            >>> curve = mi.EmpiricalTradeOff([0, 2], [50_000, 900], 10**5, [15_866, 85_000], 10**5)
            >>> result = curve.compare(mi.GaussianTradeOff(1.0), tolerance=0.1)
            >>> first = np.array([True, False])
            >>> result.verdict, result.at_thresholds(first, first).verdict
            ('REFUTED', 'CONFIRMED')
        """

        def ends(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.where(stronger, low, -np.inf), np.where(weaker, high, np.inf)

        low, high = ends(self.low, self.high)
        used = self.used & stronger & weaker
        return replace(self, low=low, high=high, used=used, one_sided=lambda: ends(*self.one_sided_ends))

    def games_to_confirm(self, tolerance: float | None = None) -> int | None:
        """As for every comparison; None also where no threshold separates any scores."""
        return super().games_to_confirm(tolerance) if some_separate(self.alpha, self.beta) else None

    def _meaning(self, kind: str) -> str:
        """What a confirmation of this kind states, in words."""
        low, high = self.alpha_range
        many = self.thresholds_used
        where = (
            f"an observed FPR of {low:.3g}"
            if many == 1
            else f"{many} observed FPRs from {floor(low, 3)} to {ceiling(high, 3)}"
        )
        return (
            f"at {where}, this attack {_DIFFERS.get(kind, 'differs from')} the claim by {at_most(self.tolerance)} probits; "
            f"{self._wrong()}. Other FPRs and other attacks are not covered"
        )

    def _gap_lines(self) -> list[tuple[str, str]]:
        lines = super()._gap_lines()
        return [("means", self._meaning(self.kind)), *lines] if self.verdict == CONFIRMED else lines

    @property
    def _silence(self) -> str:
        few = min(self.out_games, self.in_games) < 2 * LEAST_COUNT  # than the four cells of a threshold need
        if self.thresholds_used or (some_separate(self.alpha, self.beta) and not few):
            return ""
        return why_silent(self.alpha, self.beta, self.out_games, self.in_games)

    def _rows(self) -> list[tuple[str, str]]:
        if self._silence:
            return []
        used = f"{self.thresholds_used} of {self.used.size} thresholds"
        rows = [("games", f"{self.out_games:,} out, {self.in_games:,} in")]
        if self.thresholds_used:
            rows.insert(0, ("FPR range", f"{shown(self.alpha_range, 3)}, {used}"))
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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class OrderingComparison(AbstractComparison):
    """The gap Phi^-1(second FNR) - Phi^-1(first FNR) at the same FPR, positive where the first attack is stronger.

    The intervals are those of `mipsim.bands.compare_curves`. At the tested thresholds they are simultaneous and have a single end. At the
    cells each end fails with the failure probability at its own cell: neither both ends of a cell nor the ends of two cells
    hold at once with it. What holds for all used cells is this. For a number T that was fixed before the games, the outermost
    end is within T with at most the failure probability if some gap of the range is beyond T. So the outermost end bounds all
    gaps of a range that was fixed before the games, with the same probability; the range that is used ends where an estimated
    FNR is too small.

    Attributes:
        alpha: FPRs, shape (M,): first the observed FPRs of the tested thresholds, then the middles of the cells of FPRs that a
            confirmation is about.
        interval: the outermost ends over the used cells, each of which alone has the failure probability.
        detectable: of a tested threshold; inf at the cells, since they refute nothing.
        kind: an entry of `BETWEEN_CURVES`.
        independent: whether the games of the two curves were declared independent.
    """

    independent: bool = False

    def _title(self) -> str:
        return f"{self.verdict}: {self.claim}"

    def verdict_for(self, kind: str) -> str:
        """REFUTED where the gap at a tested threshold is outside of the claim; CONFIRMED where it is within the tolerance in all used cells.

        Raises:
            ValueError: for an equality where an order was claimed: the ends at the thresholds are those of a single direction.
        """
        if choice("kind", kind, tuple(BETWEEN_CURVES)) == "equality" != self.kind:
            raise ValueError(
                f"kind is 'equality', but this comparison is of {self.kind!r}; it must be made for an equality"
            )
        return super().verdict_for(kind)

    @property
    def deciding_interval(self) -> tuple[float, float]:
        """What holds of the gap with the failure probability, ends that the claim does not need being infinite.

        Where the claim is refuted it is about the threshold that decides; else about all used cells at once. For an equality it is
        symmetric: the larger of two ends that each have the failure probability bounds the absolute value with the same probability.
        """
        if self.verdict == REFUTED:
            return super().deciding_interval
        low, high = self.interval
        either = max(-low, high)
        return {"ordering": (low, math.inf), "upper_bound_on_power": (-math.inf, high)}.get(
            self.kind, (-either, either)
        )

    @property
    def detectable_gaps(self) -> np.ndarray:
        """Per threshold, the gap that refutes the claim with probability 0.9, shape (M,); inf where it cannot."""
        end = {"ordering": self.high, "upper_bound_on_power": self.low}.get(self.kind)
        refutes = self.tested if end is None else self.tested & np.isfinite(end)
        return np.where(refutes, self.detectable, np.inf)

    def _gap_lines(self) -> list[tuple[str, str]]:
        if self.deciding is None or self.verdict == REFUTED:
            return super()._gap_lines()[:1]
        low, high = self.alpha_range
        means = (
            f"at every FPR from {ceiling(low, 3)} to {floor(high, 3)}, the first attack {_DIFFERS.get(self.kind, 'differs from')} the second by "
            f"{at_most(self.tolerance)} probits; {self._wrong()}. Curves are straight between thresholds; other FPRs are not covered"
        )
        within = f"all gaps within {shown(self.deciding_interval, sign='+')} probits"
        lines = [self._gap_at("", "no estimate"), ("range over FPR", within)]
        return [("means", means), *lines] if self.verdict == CONFIRMED else lines

    def _rows(self) -> list[tuple[str, str]]:
        read = f"curves straight between the thresholds read, {THRESHOLDS_READ} at most"
        runs = "are independent, as stated" if self.independent else "may depend on each other"
        return [
            ("FPR range", f"{shown(self.alpha_range, 3)}, {read}"),
            ("games", f"at least {self.games:,} per world; the two runs {runs}"),
        ]
