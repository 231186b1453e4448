"""Laws made from other laws: a target drawn with some probability, and an increasing function of the score."""

from collections.abc import Callable
from dataclasses import dataclass
from math import log, log1p

import numpy as np

from mipsim.exact.law import AbstractScoreLaw, Thresholds

Map = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class DrawnLaw(AbstractScoreLaw):
    """The law of a score when the target enters with probability `drawn`: P_in = drawn Q_in + (1 - drawn) P_out.

    Attributes:
        base: the law with the target among the rows surely.
        drawn: in (0, 1].

    Examples:
        >>> from mipsim.exact.gaussian import NormalLaw
        >>> law = DrawnLaw(NormalLaw(np.array([0.0, 2.0]), np.ones(2)), 0.5)
        >>> print(law.sf(1.0, inside=True).round(4))  # (0.8413 + 0.1587) / 2
        0.5
    """

    base: AbstractScoreLaw
    drawn: float

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score > threshold)."""
        return self._mixed(self.base.logsf, threshold, inside)

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score <= threshold)."""
        return self._mixed(self.base.logcdf, threshold, inside)

    def threshold_at(self, alpha: object) -> np.ndarray:
        """As of the base: the "out" world is the same."""
        return self.base.threshold_at(alpha)

    def previous(self, threshold: Thresholds) -> np.ndarray:
        """As of the base."""
        return self.base.previous(threshold)

    @property
    def error_bound(self) -> float:
        """The base's."""
        return self.base.error_bound

    @property
    def error_estimate(self) -> float:
        """The base's."""
        return self.base.error_estimate

    def _mixed(self, function: Callable[..., np.ndarray], threshold: Thresholds, inside: bool) -> np.ndarray:
        out = function(threshold, inside=False)
        if not inside or self.drawn == 1.0:
            return function(threshold, inside=inside)
        return np.logaddexp(log1p(-self.drawn) + out, log(self.drawn) + function(threshold, inside=True))


@dataclass(frozen=True)
class MixedLaw(AbstractScoreLaw):
    """Laws with one "out" world and several "in" worlds, of which chance picks one.

    Attributes:
        laws: with the same "out" law.
        weights: of their "in" laws, summing to 1.

    Examples:
        >>> from mipsim.exact.gaussian import NormalLaw
        >>> near, far = (NormalLaw(np.array([0.0, m]), np.ones(2)) for m in (-1.0, 1.0))
        >>> print(MixedLaw((near, far), (0.5, 0.5)).sf(0.0, inside=True).round(6))
        0.5
    """

    laws: tuple[AbstractScoreLaw, ...]
    weights: tuple[float, ...]

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score > threshold)."""
        if not inside:
            return self.laws[0].logsf(threshold, inside=False)
        return self._mixed([law.logsf(threshold, inside=True) for law in self.laws])

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(score <= threshold)."""
        if not inside:
            return self.laws[0].logcdf(threshold, inside=False)
        return self._mixed([law.logcdf(threshold, inside=True) for law in self.laws])

    def threshold_at(self, alpha: object) -> np.ndarray:
        """From the common "out" law."""
        return self.laws[0].threshold_at(alpha)

    def previous(self, threshold: Thresholds) -> np.ndarray:
        """From the common "out" law."""
        return self.laws[0].previous(threshold)

    @property
    def error_bound(self) -> float:
        """The worst of the laws'."""
        return max(law.error_bound for law in self.laws)

    @property
    def error_estimate(self) -> float:
        """The worst of the laws'."""
        return max(law.error_estimate for law in self.laws)

    def _mixed(self, logs: list[np.ndarray]) -> np.ndarray:
        terms = [log(weight) + value for weight, value in zip(self.weights, logs, strict=True)]
        return np.minimum(np.logaddexp.reduce(terms), 0.0)


@dataclass(frozen=True)
class LinkedLaw(AbstractScoreLaw):
    """The law of link(T) for a strictly increasing link of a score T.

    Attributes:
        base: the law of T.
        link: T -> score, elementwise on float64 arrays.
        unlink: score -> T; -inf and inf for scores that no T reaches.
        lowest: link(-inf): no score is below it.

    Examples:
        >>> from mipsim.exact.gaussian import NormalLaw
        >>> law = LinkedLaw(NormalLaw(np.array([0.0, 1.0]), np.ones(2)), np.exp, np.log)
        >>> print(law.sf(1.0, inside=False), law.threshold_at(0.5))
        0.5 1.0
    """

    base: AbstractScoreLaw
    link: Map
    unlink: Map
    lowest: float = -np.inf

    def logsf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(T > unlink(threshold))."""
        x = np.asarray(threshold, float)
        return np.where(x < self.lowest, 0.0, self.base.logsf(self.unlink(x), inside=inside))

    def logcdf(self, threshold: Thresholds, *, inside: bool) -> np.ndarray:
        """Log P(T <= unlink(threshold))."""
        x = np.asarray(threshold, float)
        return np.where(x < self.lowest, -np.inf, self.base.logcdf(self.unlink(x), inside=inside))

    def threshold_at(self, alpha: object) -> np.ndarray:
        """Link of the base's."""
        return self.link(self.base.threshold_at(alpha))

    def previous(self, threshold: Thresholds) -> np.ndarray:
        """Link of the base's previous atom; before the lowest score there is none."""
        x = np.asarray(threshold, float)
        return np.where(x <= self.lowest, -np.inf, self.link(self.base.previous(self.unlink(x))))

    @property
    def error_bound(self) -> float:
        """The base's."""
        return self.base.error_bound

    @property
    def error_estimate(self) -> float:
        """The base's."""
        return self.base.error_estimate


def by_bisection(link: Map, low: float, high: float) -> Map:
    """The inverse of an increasing link on [low, high], to the last digit; -inf below it and inf above.

    Examples:
        >>> cube_root = by_bisection(lambda x: x**3, -10.0, 10.0)
        >>> print(cube_root(np.array([8.0, -1e9])).round(12))
        [  2. -inf]
    """

    def unlink(score: np.ndarray) -> np.ndarray:
        a, b = np.full(score.shape, low), np.full(score.shape, high)
        for _ in range(80):
            middle = 0.5 * (a + b)
            above = link(middle) > score
            a, b = np.where(above, a, middle), np.where(above, middle, b)
        found = 0.5 * (a + b)
        ends = link(np.array([low, high]))
        return np.where(score < ends[0], -np.inf, np.where(score >= ends[1], np.inf, found))

    return unlink
