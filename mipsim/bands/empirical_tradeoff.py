"""The trade-off curve of an attack as counts, and what holds of it with a stated confidence."""

from __future__ import annotations

import math
import warnings
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Never, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincc

from mipsim._printed import Printed, at_least, shown
from mipsim._validation import (
    choice,
    class_counts,
    confidence_level,
    increasing_vector,
    number,
    refuse_labels,
    score_vector,
    scores_by_name,
    whole,
)
from mipsim.bands.anytime import MixedRates, anytime_band, anytime_bounds, mixed_rates
from mipsim.bands.auc import PairedGames, pair_games
from mipsim.bands.clopper_pearson import clopper_pearson
from mipsim.bands.compare import LARGEST, check_claim, compare_rates
from mipsim.bands.comparison import BETWEEN_CURVES, Comparison, OrderingComparison, why_silent
from mipsim.bands.counted_rates import CountedRates
from mipsim.bands.curve_band import CurveBand, are_single, just_below
from mipsim.bands.duembgen_wellner import duembgen_wellner
from mipsim.bands.family_bound import (
    LEAST_RISK,
    Family,
    approximate_dp,
    delta_at,
    family_lower_bound,
    gdp,
    probit_gap,
    total_variation,
)
from mipsim.bands.gap_interval import critical_probits, gap_bounds
from mipsim.bands.ordering import compare_curves
from mipsim.tradeoff.base import AbstractTradeOff, answered, rates
from mipsim.tradeoff.display import PRINTED_FPRS, DisplayedCurve
from mipsim.tradeoff.gaussian import GaussianTradeOff

_LEAST_RATE = 0.01
_NAMED = {
    "ordering": "this curve has at most the FNR of the other at every FPR",
    "upper_bound_on_power": "this curve has at least the FNR of the other at every FPR",
    "equality": "this curve and the other are equal at every FPR",
}
_FREE = "the thresholds were chosen after the scores; compare needs thresholds fixed beforehand"
_FEW = 64
"""Values of raw scores that have a cell of their own."""
_WIDE = 0.5  # width of an interval of a TPR from which it says little
_TIMES = 10.0  # the same of an upper end over the lower end, or over the FPR, which a blind guess has
_RARE = 0.02  # FPRs below this ask for very many games
_SILENT = 0.999
"""An interval of the advantage or the AUC that is wider says nothing, and says why."""
_STEPS = 0.1
"""What the steps of a curve add to the interval of its advantage where its score takes few values; hundreds of thresholds add less."""

_KNOWN_IN_PARTS = {
    "tpr": "tpr_interval",
    "mu": "mu_lower_bound",
    "tpr_at": "tpr_interval",
    "tpr_bounds": "tpr_interval",
    "advantage": "advantage_interval",
    "auc": "auc_interval",
    "epsilon": "epsilon_lower_bound",
    "eta": "eta_lower_bound",
    "least_mu": "mu_lower_bound",
}
"""What only a curve that is known everywhere has -> what a played curve reports in its place, with its uncertainty."""


@dataclass(frozen=True, eq=False, repr=False)
class Counts:
    """What games counted at K thresholds.
    >>> counts = Counts(np.array([0, 1]), np.array([5, 2]), 10, np.array([1, 6]), 12)
    >>> counts.out.rate.tolist(), counts.inside.rate.round(2).tolist()
    ([0.5, 0.2], [0.08, 0.5])
    """

    thresholds: np.ndarray
    false_positives: np.ndarray
    out_games: int
    false_negatives: np.ndarray
    in_games: int

    def __post_init__(self) -> None:
        thresholds = increasing_vector("thresholds", self.thresholds)
        x, n0 = class_counts("false_positives", self.false_positives, "out_games", self.out_games)
        y, n1 = class_counts("false_negatives", self.false_negatives, "in_games", self.in_games)
        for name, counts in (("false_positives", x), ("false_negatives", y)):
            if counts.size != thresholds.size:
                raise ValueError(
                    f"{name} has {counts.size} entries; it must have an entry per threshold, {thresholds.size}"
                )
        if (np.diff(x) > 0).any():
            raise ValueError("false_positives rise with the threshold; they must not increase")
        if (np.diff(y) < 0).any():
            raise ValueError("false_negatives fall as the threshold rises; they must not decrease")
        for name, value in zip(self.__dataclass_fields__, (thresholds, x, n0, y, n1), strict=False):
            object.__setattr__(self, name, value)

    @cached_property
    def out(self) -> CountedRates:
        """The FPRs at the thresholds."""
        return CountedRates(self.false_positives, self.out_games)

    @cached_property
    def inside(self) -> CountedRates:
        """The FNRs at the thresholds."""
        return CountedRates(self.false_negatives, self.in_games)

    @property
    def _counts(self) -> tuple[np.ndarray, int, np.ndarray, int]:
        return self.false_positives, self.out_games, self.false_negatives, self.in_games


@dataclass(frozen=True, eq=False, repr=False)
class EmpiricalTradeOff(Counts, Printed, DisplayedCurve):
    """Counts of false positives and false negatives at K thresholds, fixed before the games unless stated otherwise.

    The `band` holds at all thresholds at once with `confidence`. The `advantage_interval` and the `auc_interval` each hold with
    `confidence` by itself. Lower bounds (`..._lower_bound`) are one-sided: each holds with `confidence` by itself, with all of the
    failure probability on its side. Games must be independent.

    Attributes:
        thresholds: increasing, in units of the score, shape (K,).
        false_positives: number of "out" scores above each threshold, shape (K,), int64.
        out_games: "out" games played.
        false_negatives: number of "in" scores at or below each threshold, shape (K,), int64.
        in_games: "in" games played.
        confidence: of the band, in [0.5, 1).
        free_thresholds: whether the thresholds were chosen after the scores; the band then holds at all thresholds.
        tied: whether all scores between two neighbouring thresholds are equal, as they are where the thresholds are all scores.
        finer_counts: (thresholds, false positives, false negatives) at more thresholds, increasing and fixed before the games, for the advantage, the
            AUC and comparisons of two played curves; None if there are no more.
        earlier_counts: if not None, every interval and bound holds at all numbers of games at once, so that the games may have been ended
            because of what they showed (`mipsim.bands.anytime_bounds`): what earlier, independent games counted at each threshold, false positives and
            true negatives, false negatives and true positives, shape (4, K), which makes the intervals narrower; zeros if there were none.
        precision: of the user's functions that were played, "float32" or "float64"; empty if there were none.

    Source: Dong, Roth, Su (2022), section 2.1, for the curve; Clopper & Pearson (1934) for the intervals.

    Examples:
        >>> curve = EmpiricalTradeOff([0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000)
        >>> print(curve)
        empirical trade-off at 2 thresholds, confidence 0.999
          FPR range         [0.158, 0.5]
          games             10,000 out, 10,000 in
          advantage         [0.3091, 0.7089]
          AUC               [0.5722, 0.8793]
          if tied           advantage [0.3091, 0.3728], AUC [0.7142, 0.7431]: scores between two thresholds may lie in any order, unless they tie
          TPR at FPR 0.001  [0, 0.5184]
          TPR at FPR 0.01   [0, 0.5184]
          TPR at FPR 0.1    [0, 0.5184]
          mu                at least 0.9334
    """

    confidence: float = 0.999
    free_thresholds: bool = False
    tied: bool = False
    finer_counts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
    earlier_counts: np.ndarray | None = None
    precision: str = ""

    if TYPE_CHECKING:  # counts may be given in any form

        def __init__(
            self,
            thresholds: ArrayLike,
            false_positives: ArrayLike,
            out_games: int,
            false_negatives: ArrayLike,
            in_games: int,
            confidence: float = 0.999,
            free_thresholds: bool = False,
            tied: bool = False,
            finer_counts: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
            earlier_counts: np.ndarray | None = None,
            precision: str = "",
        ) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "confidence", confidence_level(self.confidence))
        _, mixed = self.finest, self._mixed  # which checks the counts of both
        if mixed is not None and self.free_thresholds:
            raise ValueError("earlier_counts is given for free_thresholds; it must be None for these")

    @cached_property
    def finest(self) -> Counts:
        """The counts at the most thresholds that are known."""
        if self.finer_counts is None:
            return self
        thresholds, above, below = self.finer_counts
        return Counts(thresholds, above, self.out_games, below, self.in_games)

    @property
    def alpha(self) -> np.ndarray:
        """Observed FPR at each threshold, shape (K,)."""
        return self.out.rate

    @property
    def beta(self) -> np.ndarray:
        """Observed FNR at each threshold, shape (K,)."""
        return self.inside.rate

    if not TYPE_CHECKING:  # a type checker shall find unknown names itself

        def __getattr__(self, name: str) -> Any:
            instead = _KNOWN_IN_PARTS.get(name)
            known = instead is not None and hasattr(type(self), instead)
            hint = f"; games tell it up to an interval or a bound, which is {instead}()" if known else ""
            if name == "tradeoff":
                hint = "; it is the curve already: leave out .tradeoff(...), whose place is after play"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @classmethod
    def from_scores(
        cls,
        *unnamed: Never,
        out_scores: object = None,
        in_scores: object = None,
        confidence: float = 0.999,
        thresholds: int = 4096,
        **others: Never,
    ) -> EmpiricalTradeOff:
        """Build the curve from raw scores (higher = "in"), whose thresholds nobody fixed beforehand.

        The thresholds are the scores themselves, all or the rarest and evenly spread ones; of the 64 values that most scores share also the
        next lower numbers, so that ties have a cell of their own. The band is that of
        Duembgen and Wellner, which holds at every threshold at once, however it was chosen. The scores are given by name:
        other libraries take (labels, scores), which would be read as two worlds without a word.

        Args:
            *unnamed: nothing; what comes without its name is refused.
            out_scores: scores of games in the world "out", shape (games,).
            in_scores: scores of games in the world "in", shape (games,); all scores together must take two values at least. Where some
                are infinite all are replaced by their ranks from 0, which have the same curve; the thresholds are then ranks.
            confidence: of the band, in [0.5, 1 - 2e-9].
            thresholds: the most that are stored, >= 2.
            **others: nothing; scikit-learn's y_true and y_score are refused likewise.

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> scores = {"out_scores": rng.normal(size=9000), "in_scores": rng.normal(2.0, size=9000)}
            >>> curve = EmpiricalTradeOff.from_scores(**scores)
            >>> curve.mu_lower_bound() < 2.0 < curve.mu_lower_bound() + 0.3
            True
        """
        scores_by_name("from_scores", unnamed, others, out_scores, in_scores)
        out = np.sort(score_vector("out_scores", out_scores))
        inside = np.sort(score_vector("in_scores", in_scores))
        refuse_labels(out_scores=out, in_scores=inside)
        number("confidence", confidence_level(confidence), 0.5, 1.0 - 2e-9)
        most = whole("thresholds", thresholds, 2)
        places = np.unique(np.concatenate([out, inside]))
        if places.size == 1:
            raise ValueError(
                f"out_scores and in_scores all equal {places[0]:g}; a constant score has no threshold: its advantage is 0 "
                "and its AUC 1/2"
            )
        if np.isinf(places[[0, -1]]).any():  # ranks have the same curve, and thresholds are finite
            out, inside = (np.searchsorted(places, own).astype(np.float64) for own in (out, inside))
            places = np.arange(places.size, dtype=np.float64)
        tied = places.size <= most
        # A value that many scores have, with the next lower number: ties have a cell of their own. The band holds at any threshold.
        held = np.searchsorted(np.sort(np.concatenate([out, inside])), places, side="right")
        times = np.diff(held, prepend=0)
        atoms = places[np.argsort(-times, kind="stable")[: min(_FEW, most // 4)]]
        atoms = atoms[(times[np.searchsorted(places, atoms)] > 1) | (places.size <= _FEW)]
        room = most - 2 * atoms.size
        if places.size > room:
            ends = np.unique(np.geomspace(1, places.size, max(room // 4, 1)).astype(np.int64)) - 1
            even = np.linspace(0, places.size - 1, room - 2 * (room // 4)).astype(np.int64)
            places = places[np.unique(np.concatenate([ends, even, places.size - 1 - ends]))]
        places = np.unique(np.concatenate([places, atoms, just_below(atoms)]))
        above = out.size - np.searchsorted(out, places, side="right")
        below = np.searchsorted(inside, places, side="right")
        return cls(places, above, out.size, below, inside.size, confidence, free_thresholds=True, tied=tied)

    def fixed_rates(self) -> tuple[CountedRates, CountedRates]:
        """(FPRs, FNRs) at all thresholds that are known.

        Raises:
            ValueError: unless the thresholds and the numbers of games were fixed before the games.
        """
        if self.free_thresholds:
            raise ValueError(_FREE)
        if self.earlier_counts is not None:
            raise ValueError(
                "a curve's games may have been ended by what they showed; compare needs two curves of numbers of games fixed beforehand"
            )
        return self.finest.out, self.finest.inside

    @cached_property
    def _mixed(self) -> tuple[MixedRates, MixedRates] | None:
        return mixed_rates(*self._counts, self.earlier_counts)

    @cached_property
    def curve_band(self) -> CurveBand:
        """The band, simultaneous over both worlds and all thresholds: Clopper-Pearson, or free of thresholds."""
        single = are_single(self.thresholds)
        if self._mixed is not None:
            return replace(anytime_band(*self._mixed, 1.0 - self.confidence), single=single)
        return CurveBand(*self._bounds(0.5 * (1.0 - self.confidence)), single=single)

    def _bounds(self, risk: float) -> Iterator[np.ndarray]:
        """Lower and upper bounds of the FPRs, then of the FNRs, which fail with this probability in each world."""
        for world in (self.out, self.inside):
            yield from (
                duembgen_wellner(world.count, world.games, risk)
                if self.free_thresholds
                else world.bounds(risk)
            )

    def band(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds of the FNR at each FPR `alpha` (any shape, in [0, 1]), simultaneous over all.

        The curve meant is that of the tests "score > t", equal scores by lot: linear between the FPRs of these tests, as that of
        `ExactTradeOff`.

        Examples:
            >>> import mipsim as mi
            >>> curve = mi.EmpiricalTradeOff([0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000)
            >>> [bound.round(3).tolist() for bound in curve.band([0.1, 0.2, 0.6])]
            [[0.482, 0.146, 0.0], [1.0, 0.518, 0.172]]
        """
        return answered(alpha, self.curve_band.at(rates("alpha", alpha)))

    def tpr_interval(self, fpr: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds of the attack's TPR at each FPR `fpr` (any shape, in [0, 1]): 1 minus the `band` of the FNR.

        All intervals hold at once, at every FPR, but with probability 1 - `confidence`. An interval can be narrow only where thresholds lie
        close to the rate on both sides: for a single FPR take `tradeoff(thresholds=1024)`, or give `play` edges on both sides of it.

        Warns:
            UserWarning: at the first rate whose interval is wide, with what narrows it.

        Examples:
            >>> import mipsim as mi
            >>> curve = mi.EmpiricalTradeOff([0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000)
            >>> [bound.round(3).tolist() for bound in curve.tpr_interval([0.2, 0.6])]
            [[0.482, 0.828], [0.854, 1.0]]
        """
        at = rates("fpr", fpr)
        low, high = self._tpr(at)
        advice = (self._if_wide(*ends) for ends in zip(at.ravel(), low.ravel(), high.ravel(), strict=True))
        if first := next(filter(None, advice), ""):
            warnings.warn(first, stacklevel=2)
        return answered(fpr, (low, high))

    def _tpr(self, fpr: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The intervals, without a warning."""
        low, high = self.curve_band.at(fpr)
        return 1.0 - high, 1.0 - low

    def advantage_interval(self) -> tuple[float, float]:
        """Interval of the attack's largest TPR - FPR over all thresholds; warns where it is [0, 1], with the reason.

        Where there are `finer_counts`, half of the failure probability goes to the band at the thresholds and half to the band of Dvoretzky,
        Kiefer and Wolfowitz with Massart's constant, which holds at all of them: the interval is what both leave.

        Source: Massart (1990), "The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality".

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> edges, few, games = np.linspace(-4.0, 5.0, 400), np.arange(0, 400, 25), 100_000
            >>> scores = np.sort(rng.normal([[0.0], [1.0]], size=(2, games)))
            >>> below = np.stack([np.searchsorted(own, edges, "right") for own in scores])
            >>> counts = edges, games - below[0], below[1]
            >>> for finer in (None, counts):  # the advantage is 0.3829
            ...     own = EmpiricalTradeOff(
            ...         edges[few], counts[1][few], games, counts[2][few], games, 0.99, finer_counts=finer
            ...     )
            ...     print([round(end, 3) for end in own.advantage_interval()])
            [0.37, 0.557]
            [0.37, 0.401]
        """
        return self._checked(self._advantage_interval)

    @cached_property
    def _advantage_interval(self) -> tuple[float, float]:
        finest, risk = self.finest, 1.0 - self.confidence
        if self._mixed is not None or finest.thresholds.size <= self.thresholds.size:
            return self.curve_band.advantage_interval()
        ends: list[np.ndarray] = []
        for rate, games in ((finest.out.rate, self.out_games), (finest.inside.rate, self.in_games)):
            # fails in a world with probability risk / 4
            away = math.sqrt(math.log(8.0 / risk) / (2.0 * games))
            ends += [np.maximum(rate - away, 0.0), np.minimum(rate + away, 1.0)]
        bands = (
            CurveBand.from_counts(*self._counts, risk / 2.0, are_single(self.thresholds)),
            CurveBand(*ends, single=are_single(finest.thresholds)),
        )
        lows, highs = zip(*(band.advantage_interval() for band in bands), strict=True)
        low, high = sorted((max(lows), min(highs)))  # they may cross, with a probability below `risk`
        return low, high

    def auc_interval(self) -> tuple[float, float]:
        """Interval of the area under the attack's ROC curve, equal scores counted half.

        The games are paired at random, which gives an exact interval; see `mipsim.bands.auc.PairedGames`. Where scores lie between two
        fixed thresholds their order is unknown: of a score with few thresholds the interval is as wide as the steps of its
        curve, however many the games. Warns where it is [0, 1], with the reason. From 10^9 games on it is that of the band.

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> scores = {"out_scores": rng.normal(size=1000), "in_scores": rng.normal(1.0, size=1000)}
            >>> [round(end, 2) for end in EmpiricalTradeOff.from_scores(**scores, confidence=0.95).auc_interval()]
            [0.72, 0.78]
        """
        return self._checked(self._auc_interval())

    def _auc_interval(self, *, tied: bool = False) -> tuple[float, float]:
        if self._paired is None:
            return self.curve_band.intervals_of_ties()[1] if tied else self.curve_band.auc_interval()
        paired = self._pairs(all_tied=True) if tied else self._paired
        assert paired is not None
        return paired.interval(1.0 - self.confidence)

    @cached_property
    def _paired(self) -> PairedGames | None:
        if self._mixed is not None:
            return None  # the interval of the pairs holds for a fixed number of games
        return self._pairs(all_tied=self.tied)

    def _pairs(self, *, all_tied: bool) -> PairedGames | None:
        chosen, finest = self.thresholds if self.free_thresholds else None, self.finest
        return pair_games(*finest._counts, chosen, are_single(finest.thresholds) | all_tied)

    def _checked(self, interval: tuple[float, float]) -> tuple[float, float]:
        if interval[1] - interval[0] > _SILENT:
            warnings.warn(f"the interval is [0, 1]: {self._silence}", stacklevel=3)
        return interval

    @property
    def _silence(self) -> str:
        return why_silent(self.alpha, self.beta, self.out_games, self.in_games)

    def advantage_lower_bound(self) -> float:
        """A one-sided lower bound of the attack's largest TPR - FPR, >= 0; some test has at least this advantage."""
        return self._lower_bound(total_variation())

    def mu_lower_bound(self) -> float:
        """The mechanism is not mu-GDP for any mu below this, >= 0; one-sided, for every law of the scores.

        Free thresholds: calibrated, see `mipsim.bands.family_lower_bound` (confidences above 0.999: Duembgen-Wellner).
        Fixed ones: the best of K one-sided proven bounds of the local mu, Phi^-1(1 - a) - Phi^-1(b), which is the gap to
        blind guessing; see `mipsim.bands.gap_interval.gap_bounds`.

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> scores = {"out_scores": rng.normal(size=1000), "in_scores": rng.normal(0.5, size=1000)}
            >>> round(EmpiricalTradeOff.from_scores(**scores, confidence=0.95).mu_lower_bound(), 1)
            0.4
        """
        return self._mu_lower_bound

    @cached_property
    def _mu_lower_bound(self) -> float:
        if self.free_thresholds:
            return self._lower_bound(gdp())
        blind = GaussianTradeOff(0.0)
        if self._mixed is not None:
            return max(0.0, float(anytime_bounds(*self._mixed, blind, 1.0 - self.confidence)[0].max()))
        probits = critical_probits(1.0 - self.confidence, self.thresholds.size, 1)
        return max(0.0, float(gap_bounds(self.out, self.inside, blind, probits)[0].max()))

    def epsilon_lower_bound(self, delta: float) -> float:
        """The mechanism is not (epsilon, delta)-DP for any epsilon below this, >= 0; `delta` in [0, 1]; one-sided.

        Examples:
            >>> curve = EmpiricalTradeOff([0], [1000], 10_000, [1000], 10_000)
            >>> round(curve.epsilon_lower_bound(1e-5), 2)  # log 9 = 2.197 for ever more games
            2.1
        """
        return self._lower_bound(approximate_dp(delta))

    def delta_lower_bound(self, epsilon: float) -> float:
        """The mechanism is not (epsilon, delta)-DP for any delta below this, >= 0; `epsilon` in [0, 700]; one-sided.

        Examples:
            >>> curve = EmpiricalTradeOff([0], [1000], 10_000, [1000], 10_000)
            >>> round(curve.delta_lower_bound(1.0), 2)  # 0.9 - e 0.1 = 0.628 for ever more games
            0.59
        """
        return self._lower_bound(delta_at(epsilon))

    def tpr_lower_bound(self, fpr: float) -> float:
        """The attack has at least this TPR at an FPR of `fpr` in (0, 1), equal scores by lot as in the `band`; one-sided, >= 0.

        Proof. Let k be the largest count with P(Binomial(out_games, fpr) <= k) <= r / 2, where r is the failure probability. With the scores in
        order, equal ones by lot, the test "above the (k + 1)-th highest out score" has an FPR above `fpr` with probability at most r / 2. Its
        threshold does not depend on the "in" scores: their number below it is binomial, and Clopper and Pearson's bound fails with probability
        at most r / 2. Lots decide only among scores that are equal for certain; else the next threshold above stands in, which has
        no larger TPR. Where games may end because of what they show, the bound is that of the `band`.

        Examples:
            >>> rng = np.random.default_rng(0)
            >>> guesses = {"out_scores": rng.random(10_000) < 0.1, "in_scores": rng.random(10_000) < 0.9}
            >>> curve = EmpiricalTradeOff.from_scores(**guesses)
            >>> round(curve.tpr_lower_bound(0.05), 2)  # half of 0.9 for ever more games
            0.38
        """
        q, risk = number("fpr", fpr, 0.0, 1.0, low_open=True, high_open=True), 1.0 - self.confidence
        if self._mixed is not None:
            return max(0.0, (1.0 - float(self.curve_band.upper(q))) * (1.0 - 1e-15))
        # The binomial quantile without scipy.stats, whose import takes half a second.
        n, least = self.out_games, 0.5 * risk * (1.0 - 1e-9)
        most = bisect_left(range(n), True, key=lambda k: bool(betaincc(k + 1, n - k, q) >= least)) - 1
        if most < 0:
            return 0.0
        x = np.concatenate([[self.out_games], self.false_positives, [0]])
        y = np.concatenate([[0], self.false_negatives, [self.in_games]])
        above = int((x > most).sum())  # the first end of a cell with so few
        missed = int(y[above])
        if are_single(self.thresholds)[above - 1]:
            place, tied = most - int(x[above]) + 1, int(x[above - 1] - x[above])
            cell = slice(above - 1, above + 1)  # the lots of equal counts are equal
            rng = np.random.default_rng([self.out_games, self.in_games, *x[cell], *y[cell]])
            missed -= int(rng.binomial(missed - int(y[above - 1]), rng.beta(place, tied + 1 - place)))
        return max(0.0, 1.0 - float(clopper_pearson([missed], self.in_games, risk)[1][0]))

    def gap_lower_bound(self, claim: AbstractTradeOff) -> float:
        """How far below `claim` the curve passes at least, in probits, >= 0; one-sided. Above 0 the claim is no bound on power."""
        check_claim("claim", claim)
        return self._lower_bound(probit_gap(claim))

    def eta_lower_bound(self) -> float:
        """Some test guesses the world right with probability at least 1/2 + this; one-sided."""
        return 0.5 * self.advantage_lower_bound()

    def _lower_bound(self, family: Family) -> float:
        """Calibrated over all thresholds where they are free and a simulation can do it, else from the one-sided band."""
        risk = 1.0 - self.confidence
        if not self.free_thresholds or risk < 0.999 * LEAST_RISK:
            return family.least(self._upper_band.alpha_high, self._upper_band.beta_high)
        return family_lower_bound(*self._counts, family, risk)

    @cached_property
    def _upper_band(self) -> CurveBand:
        """Upper bounds of both rates with the whole risk on that side, for lower bounds of what leaks; lower ones are 0.

        At fixed thresholds: one-sided Clopper-Pearson, risk / (2 K) each. At free ones: the upper ends of the
        Duembgen-Wellner bands at the full risk in each world. Proof: let p be the chance that a given side of
        such a band fails somewhere. Failing above rises and failing below falls in each independent score, so by
        Harris' inequality both happen with chance at most p^2, and risk >= 2 p - p^2 gives 1 - p >= sqrt(1 - risk); the
        worlds are independent: both sides hold with chance at least 1 - risk.
        """
        if self._mixed is not None:
            return self.curve_band
        # At fixed thresholds the upper end of a two-sided interval at this risk fails with half of it.
        _, fpr, _, fnr = self._bounds(1.0 - self.confidence)
        nothing = np.zeros_like(fpr)
        return CurveBand(nothing, fpr, nothing, fnr)

    @overload
    def compare(
        self,
        claim: AbstractTradeOff,
        tolerance: float | None = None,
        *,
        kind: str | None = None,
        least_rate: float = _LEAST_RATE,
    ) -> Comparison: ...

    @overload
    def compare(
        self,
        claim: EmpiricalTradeOff,
        tolerance: float | None = None,
        *,
        kind: str | None = None,
        least_rate: float = _LEAST_RATE,
        independent: bool = False,
    ) -> OrderingComparison: ...

    def compare(
        self,
        claim: AbstractTradeOff | EmpiricalTradeOff,
        tolerance: float | None = None,
        *,
        kind: str | None = None,
        least_rate: float = _LEAST_RATE,
        independent: bool = False,
    ) -> Comparison | OrderingComparison:
        """Compare the curve with a claimed curve or with that of another attack.

        Two played curves are held against each other by `mipsim.bands.compare_curves`: is this attack no weaker than the other
        ("ordering", the default), no stronger ("upper_bound_on_power"), or the same ("equality")? Their games may be the same ones, unless you say `independent`.

        Args:
            claim: the claimed trade-off function, or a played curve; many thresholds (1024) tell two of these apart best.
            tolerance: what counts as equal, in probits, > 0; by default the smaller of 0.02 and 2% of the claim's mu.
            kind: what the claim says: "equality", "upper_bound_on_power" (no attacker is stronger), "ordering" (this attacker is
                no weaker) or "equivalence" (equal to the tolerance); by default "equality". A true bound is refuted as an equality
                wherever the attacker is weaker.
            least_rate: a confirmation is about thresholds whose error rates lie between this and 1 minus this, in
                [0, 0.5); rarer ones can only refute. All intervals are simultaneous, so that the choice costs nothing. 0 asks for all, and needs many more games.
            independent: for two played curves: whether their games are independent, as those of runs with different seeds are; then
                fewer games confirm.

        Examples:
            >>> from mipsim.tradeoff import GaussianTradeOff
            >>> counts = [0, 1], [500_000, 158_655], 10**6, [158_655, 500_000], 10**6
            >>> EmpiricalTradeOff(*counts).compare(GaussianTradeOff(1.0)).verdict
            'CONFIRMED'
            >>> attacker = EmpiricalTradeOff([0], [500_000], 10**6, [158_655], 10**6)
            >>> print(attacker.compare(GaussianTradeOff(1.5), kind="upper_bound_on_power"))
            CONFIRMED as an upper bound on power: GaussianTradeOff(mu=1.5)
              means                at an observed FPR of 0.5, this attack is stronger than the claim by at most 0.02 probits; wrong with probability at most 0.001. Other FPRs and other attacks are not covered
              gap                  -0.5 probits, one-sided ends [-0.5062, -0.4938] probits at FPR 0.5, which decides
              range over FPR       gaps of all used thresholds within [-0.5066, -0.4934]
              tolerance            0.02 (smallest that would be confirmed: 0)
              detectable gap       0.009114 with probability 0.9
              FPR range            [0.5, 0.5], 1 of 1 thresholds
              games                1,000,000 out, 1,000,000 in
              failure probability  0.001
        """
        if isinstance(claim, EmpiricalTradeOff):
            requested = "ordering" if kind is None else choice("kind", kind, tuple(BETWEEN_CURVES))
            margin = LARGEST if tolerance is None else tolerance
            result = compare_curves(
                self, claim, kind=requested, tolerance=margin, least_rate=least_rate, independent=independent
            )
            both = " and ".join(sorted({self.precision, claim.precision} - {""}))
            return replace(result, claim=_NAMED[requested], precision=both)
        if independent:
            raise ValueError("independent is True, but claim is no played curve; it must be False then")
        if self.free_thresholds:
            raise ValueError(_FREE)
        result = compare_rates(
            self.out,
            self.inside,
            claim,
            failure_probability=1.0 - self.confidence,
            tolerance=tolerance,
            least_rate=least_rate,
            kind=kind,
            mixed=self._mixed,
        )
        return replace(result, precision=self.precision)

    def _lines(self) -> list[tuple[str, str]]:
        inside = [float(a) for a in self.alpha if 0.0 < a < 1.0]
        reach = shown((min(inside), max(inside)), 3) if inside else "no threshold has an FPR inside (0, 1)"
        (a_low, a_high), (u_low, u_high) = self._advantage_interval, self._auc_interval()
        tied, _ = self.curve_band.intervals_of_ties()
        rows = zip(PRINTED_FPRS, *self._tpr(np.asarray(PRINTED_FPRS)), strict=True)
        more: list[tuple[str, str]] = []
        if max(a_high - a_low, u_high - u_low) > _SILENT:
            more = [("why [0, 1]", self._silence)]
        elif _STEPS < a_high - tied[1] < 1.0:
            text = f"advantage {shown(tied)}, AUC {shown(self._auc_interval(tied=True))}"
            more = [
                ("if tied", f"{text}: scores between two thresholds may lie in any order, unless they tie")
            ]
        return [
            ("FPR range", reach),
            ("games", f"{self.out_games:,} out, {self.in_games:,} in"),
            *([("your functions", f"in {self.precision}")] if self.precision else []),
            *([] if self._mixed is None else [("holds", "at every number of games at once")]),
            ("advantage", shown((a_low, a_high))),
            ("AUC", shown((u_low, u_high))),
            *(
                [("", 'scores are mostly lower in the world "in": is their sign right?')]
                if u_high < 0.5
                else []
            ),
            *more,
            *((f"TPR at FPR {fpr:g}", shown((low, high))) for fpr, low, high in rows),
            ("mu", at_least(self.mu_lower_bound())),
        ]

    def _if_wide(self, fpr: float, low: float, high: float) -> str:
        """Where it says little; an upper end of 1 is to be expected where the lower end is large."""
        if high - low < _WIDE and (fpr == 0.0 or high <= _TIMES * max(low, fpr)):
            return ""
        if self.free_thresholds:
            return f"the TPR interval at FPR {fpr:g} is {shown((low, high))}: more scores narrow it"
        if (self.curve_band.alpha_low > fpr).any():
            finer = ", or take tradeoff(thresholds=1024)" if self.thresholds.size < 1024 else ""
            how = f"play more games{finer}"
        else:
            how = "no threshold is known to have a larger FPR: give play lower edges, or play more games"
        rare = "; at rare FPRs game.exact(attack) needs no games" if 0.0 < fpr < _RARE else ""
        return f"the TPR interval at FPR {fpr:g} is {shown((low, high))}: {how}{rare}"

    def _title(self) -> str:
        return f"empirical trade-off at {self.thresholds.size} thresholds, confidence {self.confidence:.9g}"

    def _columns(self) -> dict[str, np.ndarray]:
        """FPR and FNR at each threshold, and the band of the FNR at that FPR."""
        lower, upper = self.band(np.clip(self.alpha, 0.0, 1.0))
        columns = {
            "threshold": self.thresholds,
            "alpha": self.alpha,
            "beta": self.beta,
            "tpr": 1.0 - self.beta,
        }
        return {**columns, "beta_low": lower, "beta_high": upper}

    def _facts(self) -> dict[str, Any]:
        games = {"out_games": int(self.out_games), "in_games": int(self.in_games)}
        return {"curve": self._title(), **games, "confidence": float(self.confidence)}

    def _html_picture(self) -> str:
        from mipsim.bands.drawing import picture, with_claim

        return picture(with_claim(self, None), "trade-off curve with its band")
