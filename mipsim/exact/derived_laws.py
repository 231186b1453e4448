"""Laws made from other laws: a target that takes part with some probability, and an increasing function of the score."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import fsum, log

import jax
import numpy as np

from mipsim._roots import least_float
from mipsim.forms.score import on_arrays
from mipsim.tradeoff.bounds import CurveBounds, lowered, raised
from mipsim.tradeoff.score_law import AbstractScoreLaw, Thresholds

Scalar = Callable[[jax.Array], jax.Array]
_FAR = 1e300  # scores are sought between -1e300 and 1e300
_LINK_ROUNDING = 2.0**-49  # of the value: a link that falls by less has only been rounded
# Scores of either sign and any size at which a link must be seen to increase.
_CHECKED = np.concatenate([-np.geomspace(1e6, 1e-6, 60), [0.0], np.geomspace(1e-6, 1e6, 60)])
Map = Callable[[np.ndarray], np.ndarray]
_ROUNDING = 16.0 * 2.0**-52  # of weights, logarithms and sums of probabilities


@dataclass(frozen=True)
class MixedLaw(AbstractScoreLaw):
    """A single "out" world and several "in" worlds, a random one of which is played."""

    laws: tuple[AbstractScoreLaw, ...]  # with the same "out" law
    # of their "in" laws; what they miss of 1 is the chance of the "out" law itself: the target takes no part
    weights: tuple[float, ...]

    @property
    def _parts(self) -> list[tuple[float, AbstractScoreLaw, bool]]:
        """(Chance, law, its world) of all that the world "in" is a mixture of."""
        parts = [(weight, law, True) for weight, law in zip(self.weights, self.laws, strict=True)]
        rest = 1.0 - fsum(self.weights)
        return [*parts, (rest, self.laws[0], False)] if rest > 0.0 else parts

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        return self._mixed(lambda law, world: law.log_tail(threshold, inside=world, upper=upper), inside)

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        return self._mixed(
            lambda law, world: law.log_tail_with_ties(threshold, inside=world, upper=upper), inside
        )

    def _mixed(self, tail: Callable[[AbstractScoreLaw, bool], np.ndarray], inside: bool) -> np.ndarray:
        if not inside:
            return tail(self.laws[0], False)
        terms = [log(weight) + tail(law, world) for weight, law, world in self._parts]
        return np.minimum(np.logaddexp.reduce(terms), 0.0)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        if not inside:
            return self.laws[0].tail_bounds(threshold, inside=False)
        parts = [
            (log(weight), law.tail_bounds(threshold, inside=world)) for weight, law, world in self._parts
        ]
        ends = [np.logaddexp.reduce([weight + part[k] for weight, part in parts]) for k in range(4)]
        low, high = ([end + sign * _ROUNDING for end in ends] for sign in (-1.0, 1.0))
        return CurveBounds(lowered(low[0]), raised(high[1]), lowered(low[2]), raised(high[3]))

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        if any(law.around(log_fpr[:0], log_rest[:0]) is None for law in self.laws):
            return None
        return self.laws[0].around(log_fpr, log_rest)

    def whole(self) -> AbstractScoreLaw:
        return replace(self, laws=tuple(law.whole() for law in self.laws))

    def sharper(self) -> AbstractScoreLaw | None:
        laws = [result for law in self.laws if (result := law.sharper()) is not None]
        return replace(self, laws=tuple(laws)) if len(laws) == len(self.laws) else None

    def others(self, low: np.ndarray, high: np.ndarray, *, inside: bool) -> np.ndarray | None:
        """The larger of both worlds', which share the values; several laws may not share them."""
        law, *more = self.laws
        if more:
            return None
        parts = [law.others(low, high, inside=world) for world in {False, inside}]
        known = [part for part in parts if part is not None]
        return np.max(known, axis=0) if len(known) == len(parts) else None

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Means over the laws, with what rounding makes of their tails."""
        if not inside:
            return self.laws[0].bends(low, high, inside=False)
        bend, error = np.zeros(np.shape(low)), np.full(np.shape(low), _ROUNDING)
        for weight, law, world in self._parts:
            if (part := law.bends(low, high, inside=world)) is None:
                return None
            share = weight * (1.0 + _ROUNDING)
            bend, error = bend + share * part[0], error + share * part[1]
        return bend, error

    def log_ratios(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """Means over the laws; that of the "out" law to itself is 1."""
        ends: list[tuple[np.ndarray, np.ndarray]] = []
        for weight, law, world in self._parts:
            part = law.log_ratios(low, high) if world else (np.zeros(np.shape(low)),) * 2
            if part is None:
                return None
            ends.append((log(weight) + part[0], log(weight) + part[1]))
        least, most = (np.logaddexp.reduce(each) for each in zip(*ends, strict=True))
        return least - _ROUNDING, most + _ROUNDING

    def auc_bounds(self) -> tuple[float, float] | None:
        """A mean over the laws; against a score of the same world it is 1/2."""
        least = most = 0.0
        for weight, law, world in self._parts:
            if (part := law.auc_bounds() if world else (0.5, 0.5)) is None:
                return None
            least, most = least + weight * part[0], most + weight * part[1]
        return max(0.0, least - _ROUNDING), min(1.0, most + _ROUNDING)

    def support(self) -> np.ndarray | None:
        each = [result for law in self.laws if (result := law.support()) is not None]
        return np.unique(np.concatenate(each)) if len(each) == len(self.laws) else None

    def unordered(self, threshold: Thresholds) -> np.ndarray:
        return np.any([law.unordered(threshold) for law in self.laws], axis=0)

    def threshold_at(self, alpha: object) -> np.ndarray:
        return self.laws[0].threshold_at(alpha)

    @property
    def error_bound(self) -> float:
        """The worst of the laws', as of any mean of probabilities, and rounding."""
        return min(1.0, max(law.error_bound for law in self.laws) + _ROUNDING)

    @property
    def relative_error(self) -> float:
        return max(law.relative_error for law in self.laws) + _ROUNDING

    @property
    def least_rate(self) -> float:
        return max(law.least_rate for law in self.laws)


def mixed_with_out(law: AbstractScoreLaw, inclusion: float) -> AbstractScoreLaw:
    """The law of a score when the target takes part with probability `inclusion` in (0, 1] only."""
    return law if inclusion == 1.0 else MixedLaw((law,), (inclusion,))


@dataclass(frozen=True)
class _LawOfBase(AbstractScoreLaw):
    """A law whose errors are those of another; so are its tails where a member does not say otherwise."""

    base: AbstractScoreLaw

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        return self.base.log_tail(threshold, inside=inside, upper=upper)

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        return self.base.log_tail_with_ties(threshold, inside=inside, upper=upper)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        return self.base.tail_bounds(threshold, inside=inside)

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        return self.base.around(log_fpr, log_rest)

    def whole(self) -> AbstractScoreLaw:
        return replace(self, base=self.base.whole())

    def sharper(self) -> AbstractScoreLaw | None:
        base = self.base.sharper()
        return None if base is None else replace(self, base=base)

    def others(self, low: np.ndarray, high: np.ndarray, *, inside: bool) -> np.ndarray | None:
        return self.base.others(low, high, inside=inside)

    def bends(
        self, low: np.ndarray, high: np.ndarray, *, inside: bool
    ) -> tuple[np.ndarray, np.ndarray] | None:
        return self.base.bends(low, high, inside=inside)

    def auc_bounds(self) -> tuple[float, float] | None:
        return self.base.auc_bounds()

    def threshold_at(self, alpha: object) -> np.ndarray:
        return self.base.threshold_at(alpha)

    def support(self) -> np.ndarray | None:
        return self.base.support()

    def unordered(self, threshold: Thresholds) -> np.ndarray:
        return self.base.unordered(threshold)

    @property
    def error_bound(self) -> float:
        """The base's."""
        return self.base.error_bound

    @property
    def relative_error(self) -> float:
        return self.base.relative_error

    @property
    def least_rate(self) -> float:
        return self.base.least_rate


@dataclass(frozen=True)
class AssumedLaw(_LawOfBase):
    """A law that holds, as do its bounds, if what is assumed does.
    `assumed`: what is assumed, in words.

    >>> from mipsim.exact.gaussian import NormalLaw
    >>> law = AssumedLaw(NormalLaw(np.array([0.0, 1.0]), np.ones(2)), "the score is linear, as declared")
    >>> law.assumed, float(law.sf(0.0, inside=False))
    ('the score is linear, as declared', 0.5)
    """

    assumed: str = ""  # pyright: ignore[reportIncompatibleMethodOverride] - a property

    @property
    def kind(self) -> str:
        return self.base.kind


@dataclass(frozen=True)
class LinkedLaw(_LawOfBase):
    """The law of link(T) for a strictly increasing link of a score T, whose law is the base.

    Its bounds hold for scores as the link computes them in float64, where that is increasing.

    >>> from mipsim.exact.gaussian import NormalLaw
    >>> law = LinkedLaw(NormalLaw(np.array([0.0, 1.0]), np.ones(2)), np.exp, np.log)
    >>> print(law.sf(1.0, inside=False), law.threshold_at(0.5))
    0.5 1.0
    """

    link: Map  # T -> score, elementwise on float64 arrays
    unlink: Map  # score -> T; -inf and inf for scores that no T reaches
    lowest: float = -np.inf  # link(-inf): no score is below it

    def log_tail(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        x = np.asarray(threshold, float)
        result = self.base.log_tail(self.unlink(x), inside=inside, upper=upper)
        return np.where(x < self.lowest, 0.0 if upper else -np.inf, result)

    def log_tail_with_ties(self, threshold: Thresholds, *, inside: bool, upper: bool) -> np.ndarray:
        x = np.asarray(threshold, float)
        result = self.base.log_tail_with_ties(self.unlink(x), inside=inside, upper=upper)
        return np.where(x <= self.lowest, 0.0 if upper else -np.inf, result)

    def tail_bounds(self, threshold: Thresholds, *, inside: bool) -> CurveBounds:
        x = np.asarray(threshold, float)
        below = CurveBounds(*(np.full(x.shape, end) for end in (-np.inf, -np.inf, 0.0, 0.0)))
        return below.where(x < self.lowest, self.base.tail_bounds(self.unlink(x), inside=inside))

    def around(self, log_fpr: np.ndarray, log_rest: np.ndarray) -> tuple[np.ndarray, ...] | None:
        result = self.base.around(log_fpr, log_rest)
        return None if result is None else tuple(self.link(x) for x in result)

    def others(self, low: np.ndarray, high: np.ndarray, *, inside: bool) -> np.ndarray | None:
        return self.base.others(self.unlink(low), self.unlink(high), inside=inside)

    def unordered(self, threshold: Thresholds) -> np.ndarray:
        return self.base.unordered(self.unlink(np.asarray(threshold, float)))

    def support(self) -> np.ndarray | None:
        result = self.base.support()
        return None if result is None else np.unique(self.link(result))

    def threshold_at(self, alpha: object) -> np.ndarray:
        return self.link(self.base.threshold_at(alpha))


def by_bisection(link: Map, low: float, high: float) -> Map:
    """The inverse of an increasing link on [low, high]: the largest float64 with link <= score; -inf below it and inf above.

    A NaN of the link far out is taken as too large for positive and too small for negative numbers.
    """

    def unlink(score: np.ndarray) -> np.ndarray:
        def above(x: np.ndarray) -> np.ndarray:
            value = link(x)
            return np.where(np.isnan(value), x > 0.0, value > score)

        first = least_float(above, *(np.full(score.shape, end) for end in (low, high)))
        result = np.nextafter(first, -np.inf)
        ends = link(np.array([low, high]))
        ends = np.where(np.isnan(ends), [-np.inf, np.inf], ends)
        return np.where(score < ends[0], -np.inf, np.where(score >= ends[1], np.inf, result))

    return unlink


def linked(law: AbstractScoreLaw, link: Scalar) -> AbstractScoreLaw:
    """The law of link(T) for T of a given law; `link` is a strictly increasing JAX function of a number.

    That it increases is a premise: it is checked at 121 points from -1e6 to 1e6, and the bound of the law stands and falls with it
    elsewhere. Where float64 makes the link constant over an interval, the law is that of the score as computed.
    """
    mapped = on_arrays(link)
    at = mapped(_CHECKED)
    known = np.isfinite(at)
    falls = np.flatnonzero(np.diff(at[known]) < -_LINK_ROUNDING * np.abs(at[known][1:]))
    if falls.size or known.sum() < 2:
        k = int(falls[0]) if falls.size else 0
        x = np.append(_CHECKED[known], [np.nan, np.nan])
        raise ValueError(f"the link falls between {x[k]:g} and {x[k + 1]:g}; it must increase")
    origin = float(at[_CHECKED == 0.0][0])
    off, size = np.abs(at - (origin + _CHECKED)), np.maximum(np.abs(_CHECKED), abs(origin))
    if known.all() and (off <= 1e-12 * size).all():
        shift = origin  # T + shift needs no search
        return law if shift == 0.0 else LinkedLaw(law, lambda t: t + shift, lambda x: x - shift)
    lowest = float(mapped(np.array([-np.inf]))[0])
    search = by_bisection(mapped, -_FAR, _FAR)
    if not np.isfinite(lowest):
        return LinkedLaw(law, mapped, search)
    return LinkedLaw(law, mapped, lambda x: np.where(x <= lowest, -np.inf, search(x)), lowest)
