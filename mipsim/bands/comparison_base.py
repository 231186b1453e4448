"""What every comparison of counts with a claim knows, and how a verdict follows from it."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from typing import Self

import numpy as np
from scipy.special import ndtri

from mipsim._printed import Printed, ceiling, shown, shown_risk
from mipsim._validation import choice, number
from mipsim._verdict import READINGS

CONFIRMED, REFUTED, INCONCLUSIVE = "CONFIRMED", "REFUTED", "INCONCLUSIVE"
KINDS = tuple(READINGS)
_ONE_SIDED = ("upper_bound_on_power", "ordering")
DIFFERS = {"upper_bound_on_power": "is stronger than", "ordering": "is weaker than"}
"""What is bounded in a single direction."""
NUMERICAL_FLOOR = 1e-9
"""A gap below this, in probits, may be rounding: it never refutes."""
POWER = 0.9
"""The probability with which a stated detectable gap is detected."""


def widths_and_detectable(
    probit: float | np.ndarray,
    error: np.ndarray,
    low: np.ndarray,
    estimate: np.ndarray,
    high: np.ndarray,
    rarest: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Half-widths, z se or the longer side of the interval, and detectable gaps, (half-width + z_p se) (1 + e).

    e = z_p / (2 sqrt m) for the rarest of the four cells, m counts: with probability 1 - POWER it holds z_p sqrt(m)
    fewer, and every width is then larger by the share e. Where there is no interval, z se is the plan.
    """
    power = float(ndtri(POWER))
    with np.errstate(invalid="ignore"):
        longer = np.fmax(high - estimate, estimate - low)
        half = np.where(np.isfinite(low) | np.isfinite(high), np.fmax(probit * error, longer), probit * error)
        result = (half + power * error) * (1.0 + power / (2.0 * np.sqrt(np.maximum(rarest, 1))))
    return half, result


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AbstractComparison(Printed):
    """Simultaneous intervals of a gap at K thresholds that were fixed before the games.

    `OrderingComparison` says where its intervals differ.

    Attributes:
        estimate: the gap at each threshold, shape (K,), in probits; nan where it is unknown.
        low, high: its simultaneous interval, shape (K,); (-inf, inf) at thresholds that are not used.
        used: which thresholds the gap, the interval and a confirmation are about, shape (K,), bool. Others have
            too few counts (infinite intervals), or rates outside the requested range (they can only refute).
        standard_error: of each estimate, shape (K,); inf where it is unknown.
        half_width: of each interval on its longer side, shape (K,): z se for many counts, planned where not used.
        detectable: the gap that each threshold detects with probability 0.9, shape (K,).
        failure_probability: chance that some interval misses the true gap.
        tolerance: what counts as equal, in probits, declared before the games.
        claim: the claim in words.
        games: of the smallest world.
        one_sided: gives (low, high), each alone with the failure probability, for claims in a single direction; by default
            the ends of the two-sided interval.
        finite_size: proven bound of the gap that the claim itself allows at the games' size, in probits; None if
            nothing was stated.
        law_contradicted: whether some interval excludes the exact law of this size that was given; None if none was.
        precision: of the user's functions that were played; empty if there were none.
    """

    estimate: np.ndarray
    low: np.ndarray
    high: np.ndarray
    used: np.ndarray
    standard_error: np.ndarray
    half_width: np.ndarray
    detectable: np.ndarray
    failure_probability: float
    tolerance: float
    claim: str
    games: int
    one_sided: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    finite_size: float | None = None
    law_contradicted: bool | None = None
    precision: str = ""

    @property
    @abstractmethod
    def kind(self) -> str:
        """The kind of claim that `verdict` is about, an entry of `KINDS`."""

    @abstractmethod
    def place(self, k: int) -> str:
        """Where threshold k is, in words."""

    @abstractmethod
    def rows(self) -> list[tuple[str, str]]:
        """Name and value of what `print` shows below the verdict, beyond the gap and the tolerance."""

    @property
    def thresholds_used(self) -> int:
        """How many of the K thresholds had counts enough."""
        return int(self.used.sum())

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

    @cached_property
    def deciding(self) -> int | None:
        """The threshold that decides: where a gap is most clearly outside, or else has least room to be confirmed; None if none says anything."""
        low, high = self._ends
        outside, farthest = {
            "upper_bound_on_power": (low, high),
            "ordering": (-high, -low),
        }.get(self.kind, (np.fmax(low, -high), np.fmax(high, -low)))
        if self.verdict == REFUTED:
            return int(np.argmax(outside))
        return int(np.argmax(np.where(self.used, farthest, -np.inf))) if self.thresholds_used else None

    @property
    def deciding_interval(self) -> tuple[float, float]:
        """The interval of the gap at the deciding threshold, its ends one-sided where the claim is; (-inf, inf) if there is none."""
        if self.deciding is None:
            return -math.inf, math.inf
        low, high = self._ends
        return float(low[self.deciding]), float(high[self.deciding])

    @property
    def _ends(self) -> tuple[np.ndarray, np.ndarray]:
        return self.one_sided_ends if self.kind in _ONE_SIDED else (self.low, self.high)

    @property
    def smallest_tolerance(self) -> float:
        """The least tolerance at which the intervals would confirm an equality; inf if there is none."""
        low, high = self.interval
        return max(abs(low), abs(high))

    @property
    def verdict(self) -> str:
        """CONFIRMED, REFUTED or INCONCLUSIVE, by the logic of this comparison's own kind."""
        return self.verdict_for(self.kind)

    def verdict_for(self, kind: str) -> str:
        """The verdict on a claim of the given kind, about the true gap c at every threshold.

        Every end below is simultaneous over all thresholds. REFUTED is wrong with at most the failure probability,
        and so is CONFIRMED. h is `finite_size` (0 where none was stated), T the tolerance; a floor of 1e-9 probits for
        rounding is part of every "outside".

        | kind | says | REFUTED | CONFIRMED |
        |---|---|---|---|
        | equality | c = 0 | an interval excludes 0, also within T | all used intervals inside +-T, none excludes 0 |
        | equivalence | abs(c) <= T | an interval is outside +-T | all used intervals inside +-T |
        | limit, nothing stated | c tends to 0; here abs(c) <= T | an interval is outside +-T (says: at this size) | as an equality: an interval that excludes 0 is INCONCLUSIVE, since it is a finite-size error or a false limit |
        | limit, h stated | abs(c) <= h at this size, proven | an interval is outside +-h | all used intervals inside +-T, none outside +-h |
        | limit, exact law stated | the law of this size is known; abs(c) <= T | an interval is outside +-T | all used intervals inside +-T; a gap that the law explains does not count against it |
        | upper_bound_on_power | c <= h: no attacker is stronger | a lower end, one-sided, above h | no upper end, one-sided, above max(T, h), at used thresholds; about the attack that played (about all only if it is optimal) |
        | ordering | c >= -h: not weaker | an upper end, one-sided, below -h | no lower end, one-sided, below -max(T, h) |

        Games that contradict the exact law of their own size (`law_contradicted`) decide nothing: INCONCLUSIVE.
        """
        choice("kind", kind, KINDS)
        if self.law_contradicted:
            return INCONCLUSIVE
        allowed = self.finite_size or 0.0
        some = self.thresholds_used > 0
        if kind in _ONE_SIDED:
            low, high = self.one_sided_ends
            gap, end = (low, high) if kind == "upper_bound_on_power" else (-high, -low)
            refuted = bool((gap > allowed + NUMERICAL_FLOOR).any())
            confirmed = some and bool((end[self.used] <= max(self.tolerance, allowed)).all())
            return REFUTED if refuted else CONFIRMED if confirmed else INCONCLUSIVE
        inside = self.smallest_tolerance <= self.tolerance
        if kind == "equality":
            refuted = self.excludes(0.0)
            unexplained = refuted
        elif kind == "equivalence":
            refuted = unexplained = self.excludes(self.tolerance)
        elif self.finite_size is not None:
            refuted = unexplained = self.excludes(allowed)
        else:
            refuted = self.excludes(self.tolerance)
            unexplained = self.law_contradicted is None and self.excludes(0.0)
        return REFUTED if refuted else CONFIRMED if inside and not unexplained else INCONCLUSIVE

    @cached_property
    def one_sided_ends(self) -> tuple[np.ndarray, np.ndarray]:
        """(low, high), shape (K,): each end alone has the whole failure probability, over all thresholds."""
        return (self.low, self.high) if self.one_sided is None else self.one_sided()

    def at_thresholds(self, stronger: np.ndarray, weaker: np.ndarray) -> Self:
        """The comparison by some of the thresholds; the others decide nothing.

        Args:
            stronger: where the attacker may be seen to be stronger than claimed, bool of shape (K,).
            weaker: where he may be seen to be weaker.

        Examples:
            >>> from mipsim.bands import compare_counts
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> result = compare_counts([50_000, 900], 10**5, [15_866, 85_000], 10**5, GaussianTradeOff(1.0), tolerance=0.1)
            >>> first = np.array([True, False])
            >>> result.verdict, result.at_thresholds(first, first).verdict
            ('REFUTED', 'CONFIRMED')
        """

        def ends(low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return np.where(stronger, low, -np.inf), np.where(weaker, high, np.inf)

        low, high = ends(self.low, self.high)
        used = self.used & stronger & weaker
        return replace(self, low=low, high=high, used=used, one_sided=lambda: ends(*self.one_sided_ends))

    def excludes(self, allowed: float) -> bool:
        """Whether the interval at some threshold lies wholly outside +-allowed, rounding aside."""
        beyond = allowed + NUMERICAL_FLOOR
        return bool(((self.low > beyond) | (self.high < -beyond)).any())

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
        return f'<b style="color:{colour}">{self.verdict}</b> {READINGS[self.kind]}: {escape(self.claim)}'

    def _gap_lines(self) -> list[tuple[str, str]]:
        """The gap where it decides, and over all thresholds: the second may hold 0 where the first does not."""
        if self.deciding is None:
            return [("gap", "no threshold has games enough to say anything")]
        (low, high), estimate = self.deciding_interval, self.estimate[self.deciding]
        known = "" if math.isnan(estimate) else f"{estimate:+.4g} probits, "
        ends = "one-sided ends" if self.kind in _ONE_SIDED else "interval"
        lines = [
            (
                "gap",
                f"{known}{ends} {shown((low, high), sign='+')} probits at {self.place(self.deciding)}, which decides",
            )
        ]
        if self.thresholds_used:
            lines.append(
                (
                    "range over FPR",
                    f"gaps of all used thresholds within {shown(self.interval, sign='+')}",
                )
            )
        return lines

    def _lines(self) -> list[tuple[str, str]]:
        low, high = self._ends
        ends = {"upper_bound_on_power": high, "ordering": -low}.get(self.kind)
        least = (
            max(0.0, float(ends[self.used].max()))
            if ends is not None and self.thresholds_used
            else self.smallest_tolerance
        )
        confirmed = f" (smallest that would be confirmed: {ceiling(least)})" if math.isfinite(least) else ""
        lines = [*self._gap_lines(), ("tolerance", f"{self.tolerance:.4g}{confirmed}")]
        if math.isfinite(self.detectable_gap):
            lines.append(("detectable gap", f"{self.detectable_gap:.4g} with probability {POWER}"))
        lines += [
            *self.rows(),
            *([("your functions", f"in {self.precision}")] if self.precision else []),
            ("failure probability", shown_risk(self.failure_probability)),
        ]
        if self.finite_size is not None:
            lines.append(
                ("finite size", f"gaps up to {ceiling(self.finite_size)} probits are allowed, as stated")
            )
        if self.law_contradicted is not None:
            result = "CONTRADICTED by the games: law or game is wrong" if self.law_contradicted else "agrees"
            lines.append(("exact law of this size", result))
        if self.verdict == INCONCLUSIVE and (needed := self.games_to_confirm()) is not None:
            lines.append(("games to confirm", f"about {needed:,} per world, if the claim is true"))
        return lines
