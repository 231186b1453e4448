"""The part of a trade-off curve at small false-positive rates, as thinned counts of tilted games."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mipsim._printed import shown
from mipsim._validation import confidence_level, increasing_vector
from mipsim.bands.compare import compare_rates
from mipsim.bands.comparison import Comparison
from mipsim.bands.curve_band import CurveBand
from mipsim.bands.played import AbstractPlayedTradeOff
from mipsim.bands.scaled_rates import ScaledRates, rates_band
from mipsim.tradeoff.base import AbstractTradeOff


@dataclass(frozen=True, eq=False, repr=False)
class RareTradeOff(AbstractPlayedTradeOff):
    """Error rates at K thresholds, each a known multiple of the probability of a binomial count.

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

    @property
    def alpha(self) -> np.ndarray:
        return self.out.rate

    @property
    def beta(self) -> np.ndarray:
        return self.inside.rate

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
        return rates_band(self.out, self.inside, 1.0 - self.confidence)

    def compare(
        self,
        claim: AbstractTradeOff,
        tolerance: float | None = None,
        *,
        kind: str | None = None,
        finite_size: object = None,
    ) -> Comparison:
        """Compare the curve with a claimed curve at all thresholds; see `mipsim.bands.compare.compare_rates`.

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
