"""Intervals that hold at every number of games at once, so that a run may stop as soon as its verdict is known.

At each threshold the games of a world give x scores on its first side and y on its second, binomial counts of an unknown rate
p. The mixture

    M(p) = B(s + x, t + y) / (B(s, t) p^x (1 - p)^y)

is the mean over q of the likelihood ratio of q against p, with q of the distribution Beta(s, t): that of Jeffreys, s = t = 1/2, and
what earlier games have added to it. At the true rate it is a nonnegative martingale that begins at 1, and so is the product
over the two worlds, whose games are independent. By Ville's inequality it ever reaches 1 / r with probability at most r.
docs/statistics.md has the theorem and its proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, ndtr, ndtri, xlogy

from mipsim._roots import outer_root
from mipsim._validation import real_array
from mipsim.bands.comparison import NUMERICAL_FLOOR
from mipsim.bands.curve_band import CurveBand
from mipsim.tradeoff.base import AbstractTradeOff

_CELLS = 256  # of each rate; more only narrow the interval, whose ends are rounded outwards to an edge
_LEAST, _MOST = -39.0, 8.5  # Phi is exactly 0 and 1 in float64 there
_FAR = 4.0  # probits between the limit of a rate and the farthest edge: a rate beyond costs next to nothing
_ROUNDING = 1e-12  # of log M, for each game


def next_look(games: int, first: int, parts: int) -> int:
    """The next number of games at which games are looked at: `first` and up, `parts` in each doubling.

    It depends on nothing else, so that a run stops at the same game whatever plays it.

    `games`: that were played, >= 0; `first`: the first look, a multiple of `parts`; `parts`: looks in each doubling.

    >>> [next_look(games, 16, 4) for games in (0, 16, 17, 31, 32)]
    [16, 20, 20, 32, 40]
    """
    if games < first:
        return first
    step = first // parts << (games // first).bit_length() - 1
    return (games // step + 1) * step


@dataclass(frozen=True, eq=False)
class MixedRates:
    """K rates with the mixture martingale of their counts.
    >>> for earlier in (0, 2000):
    ...     rates = MixedRates(*np.array([[500], [500], [earlier], [earlier]]))
    ...     [ndtr(rates.limit(np.array([7.0]), upper=upper)).round(3).tolist() for upper in (False, True)]
    [[0.427], [0.573]]
    [[0.44], [0.56]]
    """

    count: np.ndarray  # games that count towards each rate, shape (K,)
    other: np.ndarray  # the other games
    # the same of earlier games, independent of these, which make the mixture narrower; 0 if there are none
    earlier_count: np.ndarray
    earlier_other: np.ndarray  # the other earlier games

    def __getitem__(self, chosen: np.ndarray) -> MixedRates:
        return MixedRates(*(getattr(self, name)[chosen] for name in self.__dataclass_fields__))

    @property
    def probit(self) -> np.ndarray:
        """Phi^-1 of the estimated rates, inside what float64 tells from 0 and 1, shape (K,)."""
        return np.clip(ndtri(self.count / (self.count + self.other)), _LEAST, _MOST)

    def log_mixture(self, z: np.ndarray) -> np.ndarray:
        """Log M of the hypothesis that the rate is Phi(z), shape (K, m); it rises with the distance from the estimate."""
        x, y, s, t = (getattr(self, name)[:, None] for name in self.__dataclass_fields__)
        s, t = s + 0.5, t + 0.5
        return betaln(s + x, t + y) - betaln(s, t) - xlogy(x, ndtr(z)) - xlogy(y, ndtr(-z))

    @property
    def rounding(self) -> np.ndarray:
        """What rounding may change of log M, shape (K, 1)."""
        games = self.count + self.other + self.earlier_count + self.earlier_other
        return _ROUNDING * (games[:, None] + 1.0)

    @property
    def least(self) -> np.ndarray:
        """The least log M over all rates, rounded down, shape (K,)."""
        return (self.log_mixture(self.probit[:, None]) - self.rounding)[:, 0]

    def limit(self, level: np.ndarray, *, upper: bool) -> np.ndarray:
        """The probit of the largest (least) rate with log M <= level, rounded outwards, shape (K,); infinite where every rate is allowed."""
        outer = np.full(self.count.size, _MOST if upper else _LEAST)
        allowed = level + self.rounding[:, 0]

        def excess(z: np.ndarray, index: np.ndarray) -> np.ndarray:
            return np.minimum(self[index].log_mixture(z[:, None])[:, 0] - allowed[index], 1e300)

        root = outer_root(excess, self.probit, outer)
        everything = excess(outer, np.arange(outer.size)) <= 0.0
        return np.where(everything, np.inf if upper else -np.inf, root)

    def edges(self, limit: np.ndarray, *, upper: bool) -> np.ndarray:
        """Edges of cells in probits from the estimated rate to its limit, shape (K, cells + 1)."""
        end = np.clip(limit, _LEAST, _MOST)[:, None]
        nearest = end - _FAR if upper else end + _FAR
        start = (np.maximum if upper else np.minimum)(self.probit[:, None], nearest)
        inner = start + (end - start) * np.linspace(0.0, 1.0, _CELLS)
        return np.concatenate([self.probit[:, None], inner], axis=1)


def mixed_rates(
    false_positives: np.ndarray, out_games: int, false_negatives: np.ndarray, in_games: int, earlier: object
) -> tuple[MixedRates, MixedRates] | None:
    """FPRs and FNRs with their mixtures, or None where `earlier` is.
    `false_positives`: of `out_games`, shape (K,); `out_games`: games of the world "out"; `false_negatives`: of
    `in_games`, shape (K,); `in_games`: games of the world "in"; `earlier`: false positives, true negatives, false
    negatives and true positives of earlier games, shape (4, K). Raises ValueError if `earlier` has another shape or a
    negative entry.

    >>> mixed_rates(np.array([5]), 10, np.array([5]), 10, [[1]])
    Traceback (most recent call last):
    ...
    ValueError: earlier_counts has shape (1, 1); it must have shape (4, 1) and entries >= 0
    """
    if earlier is None:
        return None
    counts = real_array("earlier_counts", earlier)
    if counts.shape != (4, false_positives.size) or (counts < 0).any():
        raise ValueError(
            f"earlier_counts has shape {counts.shape}; it must have shape {(4, false_positives.size)} and entries >= 0"
        )
    return (
        MixedRates(false_positives, out_games - false_positives, *counts[:2]),
        MixedRates(false_negatives, in_games - false_negatives, *counts[2:]),
    )


def mixture_level(failure_probability: float, thresholds: int) -> float:
    """What the logarithm of the product of both mixtures reaches at some threshold with at most the failure probability."""
    return math.log(thresholds / failure_probability)


def mixture_probits(out: MixedRates, inside: MixedRates, failure_probability: float) -> np.ndarray:
    """Half-widths of the intervals of `anytime_bounds` in standard errors, for many games, shape (K,)."""
    level = mixture_level(failure_probability, out.count.size)
    return np.sqrt(2.0 * (level - out.least - inside.least))


def anytime_bounds(
    out: MixedRates, inside: MixedRates, claim: AbstractTradeOff, failure_probability: float
) -> tuple[np.ndarray, np.ndarray]:
    """Intervals of c = Phi^-1(g(a)) - Phi^-1(b), simultaneous over K thresholds and over all numbers of games.

    They are the extrema of c over the rates (a, b) whose mixtures have a product below K / failure_probability. c falls in
    a and in b, so that only rates on a single side of the estimates matter for an end. There the mixture rises with the
    distance; on each cell of a the g of either end and the farthest b that the other end leaves bound c.

    `out`: the FPRs at K thresholds, counted up to now; `inside`: the FNRs; `claim`: the claimed trade-off function g; of
    a function that is known between bounds the end that widens the interval counts; `failure_probability`: chance that
    some interval ever misses its gap, in (0, 1). Returns (low, high), shape (K,), in probits; infinite where the counts
    or the claim say nothing.

    Source: Ville (1939); Robbins (1970); Howard, Ramdas, McAuliffe, Sekhon (2021) for beta-binomial mixtures.
    """
    low, high = (_end(out, inside, claim, failure_probability, lower=lower) for lower in (True, False))
    return low, high


def refutes_bound(
    out: MixedRates, inside: MixedRates, claim: AbstractTradeOff, failure_probability: float
) -> bool:
    """Whether some lower end of `anytime_bounds` is above 0: no attacker is as strong as this attacker, if the claim bounds all.

    Most looks are ended early, where at each threshold a point on or above the claimed curve is allowed.
    """
    level = mixture_level(failure_probability, out.count.size)
    count = out.count[:, None]
    larger = count + np.linspace(0.0, 4.0, 9) * np.sqrt(count + 1.0)
    near = ndtri(np.minimum(larger / (count + out.other[:, None]), 1.0))
    claimed = np.maximum(claim.probit_beta_bounds(ndtr(near))[0], inside.probit[:, None])
    if (out.log_mixture(near) + inside.log_mixture(claimed) < level).any(axis=1).all():
        return False
    return bool((_end(out, inside, claim, failure_probability, lower=True) > NUMERICAL_FLOOR).any())


def anytime_band(out: MixedRates, inside: MixedRates, failure_probability: float) -> CurveBand:
    """Bounds of FPR and FNR at K thresholds, simultaneous over them and over all numbers of games.
    `out`: the FPRs at K thresholds; `inside`: the FNRs; `failure_probability`: chance that some bound ever fails, in (0,
    1); half of it for each world.

    >>> rates = MixedRates(*np.array([[500], [500], [0], [0]]))
    >>> band = anytime_band(rates, rates, 0.001)
    >>> band.alpha_low.round(3).tolist(), band.alpha_high.round(3).tolist()
    ([0.425], [0.575])
    """
    level = np.full(out.count.size, mixture_level(failure_probability / 2.0, out.count.size))
    return CurveBand(*(ndtr(rates.limit(level, upper=u)) for rates in (out, inside) for u in (False, True)))


def _end(
    out: MixedRates, inside: MixedRates, claim: AbstractTradeOff, risk: float, *, lower: bool
) -> np.ndarray:
    """The lower or the upper end of `anytime_bounds`, shape (K,)."""
    level = mixture_level(risk, out.count.size)
    ends = out.limit(level - inside.least, upper=lower), inside.limit(level - out.least, upper=lower)
    edges, farther = out.edges(ends[0], upper=lower), inside.edges(ends[1], upper=lower)
    # The last cell reaches to the limit itself, which may lie beyond the last edge.
    far_edges = np.concatenate([edges[:, 1:-1], ends[0][:, None]], axis=1)
    left = level + out.rounding - out.log_mixture(edges[:, :-1])  # of the logarithm, for the other world
    costs = inside.log_mixture(farther) - inside.rounding
    place = np.stack([np.searchsorted(c, r, side="right") for c, r in zip(costs, left, strict=True)])
    reach = np.concatenate([farther[:, :-1], ends[1][:, None]], axis=1)
    far = np.take_along_axis(reach, np.minimum(place, reach.shape[1] - 1), axis=1)
    with np.errstate(invalid="ignore"):
        gap = claim.probit_beta_bounds(ndtr(far_edges))[0 if lower else 1] - far
    if lower:
        return np.where(np.isnan(gap), -np.inf, gap).min(axis=1)
    result = np.where(np.isnan(gap), np.inf, gap).max(axis=1)
    if claim.tpr_at(0.0) > 0.0:  # at a = 0 every b >= g(0) lies on the claimed curve
        result = np.where(ends[0] <= _LEAST, np.maximum(result, 0.0), result)
    return result
