"""What every played trade-off curve has: its rates at thresholds, and a simultaneous band around them."""

import warnings
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mipsim._printed import Printed, shown
from mipsim.bands.curve_band import CurveBand
from mipsim.tradeoff.base import answered, rates
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
    out_games: int
    in_games: int
    confidence: float

    @property
    @abstractmethod
    def alpha(self) -> np.ndarray:
        """Observed FPR at each threshold, shape (K,)."""

    @property
    @abstractmethod
    def beta(self) -> np.ndarray:
        """Observed FNR at each threshold, shape (K,)."""

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
