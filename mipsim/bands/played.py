"""What every played trade-off curve has, its rates at thresholds and a simultaneous band around them; and the curve of tilted games."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim._printed import Printed, shown
from mipsim._validation import confidence_level, increasing_vector
from mipsim.bands.compare import compare_rates
from mipsim.bands.comparison import Comparison
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.scaled_rates import ScaledRates
from mipsim.tradeoff.base import AbstractTradeOff, answered, rates
from mipsim.tradeoff.display import PRINTED_FPRS, DisplayedCurve

KNOWN_IN_PARTS = {
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


class AbstractPlayedTradeOff(Printed, DisplayedCurve):
    """Error rates of played games at K thresholds; its members say how they were counted."""

    thresholds: np.ndarray
    out: ScaledRates
    inside: ScaledRates
    out_games: int
    in_games: int
    confidence: float

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
            instead = KNOWN_IN_PARTS.get(name)
            known = instead is not None and hasattr(type(self), instead)
            hint = f"; games tell it up to an interval or a bound, which is {instead}()" if known else ""
            if name == "tradeoff":
                hint = "; it is the curve already: leave out .tradeoff(...), whose place is after play"
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}{hint}")

    @abstractmethod
    def _band(self) -> CurveBand: ...

    @cached_property
    def curve_band(self) -> CurveBand:
        """The band, simultaneous over both worlds and all thresholds."""
        return self._band()

    def band(self, alpha: object) -> tuple[np.ndarray, np.ndarray]:
        """(lower, upper) bounds of the FNR at each FPR `alpha` (any shape, in [0, 1]), simultaneous over all.

        The curve meant is that of the tests "score > t", equal scores by lot: linear between the FPRs of these tests, as that of
        `ExactTradeOff`.

        Examples:
            >>> import mipsim as mi
            >>> curve = mi.EmpiricalTradeOff.from_counts([0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000)
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
            >>> curve = mi.EmpiricalTradeOff.from_counts([0, 1], [5000, 1587], 10_000, [1587, 5000], 10_000)
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

    def _tpr_lines(self) -> list[tuple[str, str]]:
        ends = zip(PRINTED_FPRS, *self._tpr(np.asarray(PRINTED_FPRS)), strict=True)
        return [(f"TPR at FPR {fpr:g}", shown((low, high))) for fpr, low, high in ends]

    @abstractmethod
    def _if_wide(self, fpr: float, low: float, high: float) -> str:
        """What narrows the interval of the TPR at this rate; empty if it is narrow enough."""

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


@dataclass(frozen=True, eq=False, repr=False)
class RareTradeOff(AbstractPlayedTradeOff):
    """The part of a trade-off curve at small false-positive rates: error rates at K thresholds, each a known multiple of the probability of a binomial count.

    A game of the tilted law is accepted with probability (weight / bound of the weight), so that the accepted games of N
    are Binomial(N, P(score > t) / B): every interval for counts applies, scaled by B.

    Attributes:
        thresholds: increasing, in units of the score, shape (K,).
        out: the false-positive rates P_out(score > t).
        inside: the false-negative rates P_in(score <= t).
        games: games played in each world, all tilts together.
        confidence: of the band, in [0.5, 1).
        manifest: what was played (plain JSON types).

    Source: Bucklew (2004), "Introduction to rare event simulation", for the tilting; Clopper & Pearson (1934).

    Examples:
        >>> import mipsim as mi
        >>> data = mi.Gaussian(0.0, 1.0, d=50)
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=50, target=[2.0] * 50)
        >>> curve = mi.play_rare(game, mi.CovarianceScore(data, n=50), games=2000, false_positive_rates=[1e-6, 1e-3])
        >>> low, high = curve.out.bounds(1e-9)
        >>> bool((low < [1e-3, 1e-6]).all() and (high > [1e-3, 1e-6]).all())  # Gaussian scores: planned exactly
        True
        >>> curve.compare(mi.GaussianTradeOff(2.0), tolerance=0.3).verdict
        'CONFIRMED'
    """

    thresholds: np.ndarray
    out: ScaledRates
    inside: ScaledRates
    games: int
    confidence: float = 0.999
    manifest: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        t = increasing_vector("thresholds", self.thresholds)
        for name, result in (("out", self.out), ("inside", self.inside)):
            if result.count.size != t.size:
                raise ValueError(
                    f"{name} has {result.count.size} rates; it must have a rate per threshold, {t.size}"
                )
        confidence_level(self.confidence)
        for name, value in (("thresholds", t), ("out_games", self.games), ("in_games", self.games)):
            object.__setattr__(self, name, value)

    def _if_wide(self, fpr: float, low: float, high: float) -> str:
        """At a rate in (0, 1/5] without a threshold on each of its sides whose FPR is known to be within a factor of 1.5."""
        if not 0.0 < fpr <= 0.2:
            return ""
        least, most = self.out.bounds((1.0 - self.confidence) / 2.0)
        below, above = (least > fpr / 1.5) & (most <= fpr), (least >= fpr) & (most < 1.5 * fpr)
        if below.any() and above.any():
            return ""
        return (
            f"the TPR interval at FPR {fpr:g} is wide: pass false_positive_rates=[{0.8 * fpr:.3g}, {1.25 * fpr:.3g}] to play_rare, "
            "and more games if it stays wide; game.exact(attack) may know it at once"
        )

    def _band(self) -> CurveBand:
        """The scaled Clopper-Pearson band, simultaneous over both worlds and all thresholds."""
        return CurveBand.of(self.out, self.inside, 1.0 - self.confidence)

    def compare(
        self,
        claim: AbstractTradeOff,
        tolerance: float | None = None,
        *,
        kind: str | None = None,
        finite_size: object = None,
    ) -> Comparison:
        """Compare the curve with a claimed curve at all thresholds; see `mipsim.bands.compare_counts`.

        Args:
            claim: the claimed trade-off function.
            tolerance: what counts as equal, in probits, > 0; by default the smaller of 0.02 and 2% of the claim's mu.
            kind: as in `mipsim.bands.compare_counts`.
            finite_size: as in `mipsim.bands.compare_counts`.
        """
        return compare_rates(
            self.out,
            self.inside,
            claim,
            failure_probability=1.0 - self.confidence,
            tolerance=tolerance,
            finite_size=finite_size,
            kind=kind,
        )

    def _lines(self) -> list[tuple[str, str]]:
        (low, high), (below, above) = (r.bounds((1.0 - self.confidence) / 2) for r in (self.out, self.inside))
        rows = zip(self.alpha, low, high, 1 - above, 1 - below, strict=True)
        return [
            ("games", f"{self.games:,} in each world"),
            *((f"FPR {a:.3g}", f"{shown((b, c))}, TPR {shown((p, q))}") for a, b, c, p, q in rows),
        ]

    def _title(self) -> str:
        return f"trade-off at {self.thresholds.size} rare rates by tilted games, confidence {self.confidence:.9g}"
