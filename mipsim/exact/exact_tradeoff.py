"""The trade-off curve of an attack whose score has a known law."""

from collections.abc import Callable

import equinox as eqx
import numpy as np

from mipsim.exact.law import AbstractScoreLaw
from mipsim.tradeoff.base import AbstractTradeOff, rates
from mipsim.tradeoff.bounds import CurveBounds, lowered, raised


class ExactTradeOff(AbstractTradeOff):
    """The exact curve of the tests "score > threshold", for every FPR in [0, 1].

    Where the score has atoms the test randomises between two neighbouring thresholds, so the curve is linear between its
    vertices. It is the curve of one attack: it is convex where the score orders outputs as the likelihood ratio does.

    Args:
        law: the law of the score in the two worlds.

    Source: standard; Neyman & Pearson (1933) for randomised tests.

    Examples:
        >>> import mipsim as mi, numpy as np
        >>> data = mi.Bernoulli(np.linspace(0.25, 0.75, 200))
        >>> game = mi.FixedTarget(mi.EmpiricalMean(), data, n=100, target=data.easiest_target())
        >>> curve = game.exact(mi.CovarianceScore(data, n=100))
        >>> round(float(curve.beta(0.01)), 6), float(curve.tpr_at(1e-100))
        (0.6725, 2.73e-85)
        >>> curve.error_bound < 1e-3, curve.error_estimate < 1e-12
        (True, True)
    """

    law: AbstractScoreLaw = eqx.field(static=True)

    def __repr__(self) -> str:
        return f"ExactTradeOff({type(self.law).__name__}, error bound {self.error_bound:.2g})"

    @property
    def error_bound(self) -> float:
        """A proven bound e on the absolute error of FPR and FNR of every threshold test.

        The error of `beta(alpha)` is another thing: where the curve is steep, a small error of the FPR moves the FNR by more.
        `beta_bounds` has its bounds.
        """
        return self.law.error_bound

    @property
    def error_estimate(self) -> float:
        """What the error is likely to be, where the proof is weak: see `AbstractScoreLaw.error_estimate`."""
        return self.law.error_estimate

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        x = np.asarray(log_fpr, np.float64)
        low, high = (self._within(np.exp(end)) for end in (lowered(x), raised(x)))
        found = CurveBounds(high.log_fnr_low, low.log_fnr_high, low.log_tpr_low, high.log_tpr_high)
        return self._within(np.exp(x)).where(np.isneginf(x) | (x == 0.0), found)

    def rates_at(self, fpr: np.ndarray) -> CurveBounds:
        return self._within(fpr)

    def _within(self, fpr: np.ndarray) -> CurveBounds:
        """Both error rates of every threshold test, randomised on ties or not, are right to e, the law's error bound.

        A test that has an FPR of at most alpha in truth has one of at most alpha + e in the law, and the FNRs differ by at
        most e: the FNR lies between that of the law at alpha + e, less e, and that at alpha - e, plus e. Where alpha < e
        only 1 is known from above.
        """
        e = self.law.error_bound
        more, fewer = np.minimum(fpr + e, 1.0), np.maximum(fpr - e, 0.0)
        low, high = self._mixed(more, self.law.cdf, 0.0), self._mixed(fewer, self.law.cdf, 0.0)
        caught, least = self._mixed(more, self.law.sf, 1.0), self._mixed(fewer, self.law.sf, 1.0)
        low, caught = np.maximum(low - e, 0.0), np.minimum(caught + e, 1.0)
        high, least = np.minimum(high + e, 1.0), np.maximum(least - e, 0.0)
        unknown, last = fpr < e, fpr >= 1.0
        high, least = np.where(unknown, 1.0, high), np.where(unknown, 0.0, least)
        low, high = np.where(last, 0.0, low), np.where(last, 0.0, high)
        caught, least = np.where(last, 1.0, caught), np.where(last, 1.0, least)
        with np.errstate(divide="ignore"):
            logs = [np.log(v) for v in (low, high, least, caught)]
        return CurveBounds(lowered(logs[0]), raised(logs[1]), lowered(logs[2]), raised(logs[3]))

    def score_at(self, alpha: object) -> np.ndarray:
        """The threshold of the test at FPR `alpha` (any shape): the least x with P_out(score > x) <= alpha."""
        return self.law.threshold_at(rates("alpha", alpha))

    def _mixed(self, alpha: np.ndarray, tail: Callable[..., np.ndarray], last: float) -> np.ndarray:
        """The tail "in" of the randomised test at an FPR; `last`: that of the test below all atoms."""
        threshold, before, part = self._test(alpha)
        first = tail(threshold, inside=True)
        second = np.where(before < threshold, tail(before, inside=True), last)
        return np.where(part > 0.0, (1.0 - part) * first + part * second, first)

    def _test(self, alpha: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Threshold, the atom before it, and with which probability scores in between count as "in"."""
        threshold = self.law.threshold_at(alpha)
        before = self.law.previous(threshold)
        low = self.law.sf(threshold, inside=False)
        below_all = threshold == -np.inf
        high = np.where(before < threshold, self.law.sf(before, inside=False), np.where(below_all, 1.0, low))
        gap = high - low
        part = np.where(gap > 0.0, (alpha - low) / np.where(gap > 0.0, gap, 1.0), 0.0)
        return threshold, before, np.clip(part, 0.0, 1.0)
