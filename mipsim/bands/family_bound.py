"""One-sided lower bounds of a privacy parameter from scores, calibrated exactly for the hardest law of the scores."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache

import numpy as np
from scipy.special import betaincc, betainccinv, betaincinv, ndtr, ndtri

from mipsim._budget import check_budget
from mipsim._roots import least_whole
from mipsim._validation import class_counts, member, number
from mipsim.tradeoff.base import AbstractTradeOff
from mipsim.tradeoff.compose import ComposedTradeOff
from mipsim.tradeoff.convex_hull import ConvexHullTradeOff
from mipsim.tradeoff.sampled import SampledTradeOff

LEAST_RISK = 1e-3
"""Failure probabilities from here up are calibrated; below it bounds come from a band."""
_RANKS = 96  # of the "out" scores: neighbours are strongly correlated, more add little
_SHARE = 0.1  # of the failure probability: the level of the bound at a single threshold, before calibration
_FAILURES = 1_000  # so many draws of theta* would on average be beyond the critical value at the stated failure probability
# The first S and what P(theta* <= q) must be in a pilot, in failure probabilities; proposals of a pilot.
_FIRST, _ROOM, _PILOT = 4.0, 1.2, 2_000
# Cells of U_(i), up to so many probits of it; and the largest theta that is looked at.
_CELLS, _FAR, _MOST = 64, 8.0, 1e3
_APART = 1e-9  # of two levels between which none is looked for
_ONE = 1023 << 16  # the bits of 1.0, without the 36 last
_ROUNDING = 1e-9  # of probabilities of proposals, relative: quantiles and tails of SciPy are right to less
_UNLUCKY = 1e-3  # share of seeds whose failure probability, given the draws, may exceed the nominal value
_CHUNK = 1_024  # proposals at a time: what they need stays in the cache
_RATE = 1e-12  # of SciPy's beta quantiles, relative, of a rate or its complement; mpmath finds 2e-14
# of a part and of sums of two or three: ndtri and log are right to 2 or 3 eps
_PART = 8.0 * float(np.finfo(np.float64).eps)
_SAMPLED = 256.0 * float(np.finfo(np.float64).eps)  # of a rate: a quotient of sums of at most 98 terms
_TABLE = np.concatenate([[0.0], ndtr(np.linspace(-8.2, 8.2, 2**14)), [1.0]])  # 0.001 probits apart
_MOST_GAMES = 2**53  # ranks are computed in float64
_MOST_BOUNDS = 4_096  # that a family holds: some 4 MB
_SEED = 20_231_117  # any fixed number: a bound then depends on the counts alone

Part = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Family:
    """Trade-off functions g_theta that fall as theta grows, given by theta(a, b) = max over forms of A(a) + B(b).

    theta(a, b) is the least theta with g_theta(a) <= b: "the curve passes through (a, b) or below it". A and B do
    not increase; -inf where no theta is requested.
    """

    forms: tuple[tuple[Part, Part], ...]  # pairs (A, B), each a function of an array of rates
    # what was computed already: equal counts in other scores have the same bound
    bounds: dict[tuple[object, ...], float] = field(default_factory=dict, compare=False, repr=False)

    def least(self, alpha: np.ndarray, beta: np.ndarray) -> float:
        """The largest theta of tests with at most these rates, shape (K,) each, and at least 0: no smaller theta bounds them all.

        Examples:
            >>> round(gdp().least(np.array([0.5, 0.1]), np.array([0.4, 0.3])), 3)
            1.806
        """
        with np.errstate(invalid="ignore"):
            reach = [in_alpha(alpha) + in_beta(beta) for in_alpha, in_beta in self.forms]
        return max(0.0, float(np.fmax.reduce(reach, axis=None, initial=0.0)))


@cache
def gdp() -> Family:
    """mu-GDP: g_mu(a) = Phi(Phi^-1(1 - a) - mu), so that mu(a, b) = -Phi^-1(a) - Phi^-1(b)."""
    return Family(((_probit, _probit),))


def probit_gap(claim: AbstractTradeOff) -> Family:
    """A claimed curve f that is theta probits too high: g_theta(a) = Phi(Phi^-1(f(a)) - theta), which is f at theta = 0.

    theta(a, b) = Phi^-1(f(a)) - Phi^-1(b) is the gap; where it is above 0, f is no bound on power. Of a curve that is known
    between bounds the lower bound is f.
    """
    known = quickly(claim)
    return Family(((lambda rate: known.probit_beta(rate), _probit),))


@dataclass(frozen=True)
class TabulatedCurve:
    """A curve below a given curve, from a single table of it.

    Between the rates a_i and a_(i+1) it is the chord from f(a_(i+1)) to f(a_(i+2)). As f does not increase, the chord is at most f(a_(i+1)),
    which is at most f between the two rates. At 16,384 rates 0.001 probits apart it is as much as 0.001 probits too low.
    """

    alpha: np.ndarray  # the rates, increasing from 0 to 1, shape (n,)
    fnr: np.ndarray  # the curve there, shape (n,)

    @classmethod
    def below(cls, claim: AbstractTradeOff) -> TabulatedCurve:
        """Tabulate a curve, or its lower bound where it is known between bounds."""
        fnr = np.minimum(np.append(np.asarray(claim.beta(_TABLE))[1:], 0.0), 1.0 - _TABLE)
        return cls(_TABLE, np.minimum.accumulate(fnr))

    def beta(self, alpha: object) -> np.ndarray:
        """The curve at rates of any shape."""
        return np.interp(np.asarray(alpha, dtype=np.float64), self.alpha, self.fnr)

    def probit_beta(self, alpha: object) -> np.ndarray:
        """Phi^-1 of `beta`."""
        return ndtri(self.beta(alpha))

    def polygon(self) -> AbstractTradeOff:
        """The convex hull, as a trade-off function that can be composed."""
        return SampledTradeOff.from_points(
            self.alpha, 1.0 - self.alpha, self.fnr, 1.0 - self.fnr
        ).convexified()


def quickly(claim: AbstractTradeOff) -> AbstractTradeOff | TabulatedCurve:
    """A curve to be evaluated at many rates: the table of a composition, whose every evaluation takes a transform, or of a convex hull,
    whose every evaluation takes a search; else the curve itself.
    """
    if isinstance(claim, ComposedTradeOff):
        return TabulatedCurve.below(claim.at_accuracy(1e-4))
    return TabulatedCurve.below(claim) if isinstance(claim, ConvexHullTradeOff) else claim


def _probit(rate: np.ndarray) -> np.ndarray:
    return -ndtri(rate)


@cache
def total_variation() -> Family:
    """Advantage v: g_v(a) = max(0, 1 - v - a), so that v(a, b) = 1 - a - b."""
    return Family(((_from_half, _from_half),))


def _from_half(rate: np.ndarray) -> np.ndarray:
    return 0.5 - rate


def approximate_dp(delta: float) -> Family:
    """(epsilon, delta)-DP at a single delta: epsilon(a, b) = max of log((1 - delta - b) / a) and log((1 - delta - a) / b)."""
    return _approximate_dp(number("delta", delta, 0.0, 1.0))


@lru_cache(16)
def _approximate_dp(delta: float) -> Family:
    power = 1.0 - delta

    def rare(rate: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return -np.log(rate)

    def common(rate: np.ndarray) -> np.ndarray:
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(power - rate, 0.0))

    return Family(((rare, common), (common, rare)))


def delta_at(epsilon: float) -> Family:
    """(epsilon, delta)-DP at a single epsilon: delta(a, b) = max of 1 - b - e^epsilon a and 1 - a - e^epsilon b."""
    return _delta_at(number("epsilon", epsilon, 0.0, 700.0))


@lru_cache(16)
def _delta_at(epsilon: float) -> Family:
    ratio = math.exp(epsilon)

    def paid(rate: np.ndarray) -> np.ndarray:
        return 0.5 - ratio * rate

    return Family(((paid, _from_half), (_from_half, paid)))


def family_lower_bound(
    false_positives: object,
    out_games: int,
    false_negatives: object,
    in_games: int,
    family: Family,
    failure_probability: float,
) -> float:
    """The theta below which no curve g_theta of the family can lie on or below the trade-off of the two worlds.

    With probability at least 1 - failure_probability the true theta, for which b(t) >= g_theta(a(t)) at every
    threshold t with a(t) = P0(score > t) and b(t) = P1(score <= t), is at least the bound. The thresholds may be
    chosen after the scores, ties are allowed, and the law of the scores is arbitrary.

    A score with few values loses up to the spacing of the ranks, 0.08 probits at 10,000 games: if its values are known
    beforehand, fixed thresholds give more (`EmpiricalTradeOff`).

    Statistic. For ranks i (96 of 1..n0, evenly spaced in probits and fixed by n0 alone) and j, the pair (i, j) is *reached* if some threshold has
    at most i - 1 false positives and at most j - 1 false negatives. Each pair has a value v(i, j) =
    max over forms of A(a_i) + B(b_j) - sqrt(dA^2 + dB^2), where a_i, b_j are medians of the i-th and j-th smallest
    of n0 and n1 uniforms, and dA, dB what A and B lose on the way to a high quantile. The statistic T is the largest
    value of a reached pair. It falls in i and in j: A + B - sqrt(dA^2 + dB^2) = A - B' form by form, where a larger j
    lowers both B and B - dB, and d -> sqrt(dA^2 + d^2) changes by no more than d.

    Proof that the failure probability is right, for every law of the scores.

    1. Hardest law. Let U_1..U_n0 and V_1..V_n1 be independent uniforms, F and G their empirical distribution
       functions. Counts of false positives and negatives at all thresholds have jointly the law of n0 F(a(t)) and
       n1 G(b(t)) (quantile transform, also with atoms). As b(t) >= g_theta(a(t)) and G rises, every reached
       pair is reached by the curve's own pair (n0 F(a), n1 G(g_theta(a))) at a = a(t). So T is at most the T of the
       curve itself, over all a in (0, 1): no law under which the claim holds makes T stochastically larger.
    2. There, (i, j) is reached only if some a < U_(i) has g_theta(a) < V_(j), hence only if theta >= theta(U_(i), V_(j)).
       So P(T >= m) <= H(m, theta) = P(theta >= theta*), with theta* the least theta(U_(i), V_(j)) over the
       pairs with v(i, j) >= m; of these only the largest j of each i matters.
    3. Monte Carlo test (Dwass 1957, Barnard 1963). Draws of theta*, at m = the observed T, are needed up to some level q alone. Each of M
       proposals gives a draw with probability P(theta* <= q) / S, and then with the law of theta* given theta* <= q: see `_RareMinimum`.
       The bound is the k-th smallest draw, or q if there are fewer. It exceeds the true theta only if at most k - 1 of M proposals give
       a draw <= theta, each with probability h / S, where h = H(T, theta) is stochastically at least uniform over the games. With
       M >= C S / failure_probability their mean is at least x = C h / failure_probability, whatever S is. So the probability of at most
       k - 1 is at most 1, and for x >= k at most that of a Poisson variable of mean x (Anderson & Samuels 1967). Its integral over h
       in (0, 1) is at most failure_probability (k + E max(k - N, 0)) / C with N a Poisson variable of mean k: 9% less than stated.
    4. The seed of the draws is fixed, so that equal counts give equal bounds. k is the largest with
       P(Beta(k, M + 1 - k) > failure_probability / S) <= 1e-3: for each T, H(T, bound) is at most as stated for all seeds but a share of 1e-3.
    5. Rounding. v rises with B(b_j) and with B at the high quantile, which fall as rates rise. The observed T is computed from rates
       and sums rounded down in v, and compared with values rounded up: every pair with v(i, j) >= T is among those of step 2. The
       draws of theta* are rounded down. Probabilities of proposals are right to 1e-9, by which S is the larger.

    Args:
        false_positives: number of "out" scores above each threshold, any thresholds, shape (K,).
        out_games: n0 from 1 to 2^53, independent games.
        false_negatives: number of "in" scores at or below each threshold, shape (K,).
        in_games: n1 from 1 to 2^53, independent games.
        family: the curves, and the parameter that is bounded.
        failure_probability: in [1e-3, 1).

    Returns:
        The bound, in units of theta, at least 0.

    Examples:
        >>> t = np.linspace(-4.0, 4.0, 1000)
        >>> counts = np.round(1e4 * ndtr(-t)), 10_000, np.round(1e4 * ndtr(t - 1.0)), 10_000
        >>> round(family_lower_bound(*counts, gdp(), 0.05), 2)  # the mu of these scores is 1
        0.94
    """
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games, _MOST_GAMES)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games, _MOST_GAMES)
    if x.size != y.size:
        raise ValueError(f"false_negatives has {y.size} entries; it must have {x.size}, like false_positives")
    risk = number("failure_probability", failure_probability, 0.999 * LEAST_RISK, 1.0, high_open=True)
    member("family", family, Family, "a family of curves, as mipsim.bands.gdp() is")
    values = _Values(family, n0, n1, float(-ndtri(_SHARE * risk)))
    level = values.largest(x, y)
    if not level > -math.inf:
        return 0.0
    most = values.most(level)
    some = most > 0
    key = (_FAILURES, n0, n1, risk, most.tobytes())
    if key not in family.bounds:
        if len(family.bounds) >= _MOST_BOUNDS:
            family.bounds.clear()
        family.bounds[key] = max(0.0, _quantile(family, values.ranks[some], n0, most[some], n1, risk))
    return family.bounds[key]


class _Values:
    """The values v(i, j) of pairs of ranks, at 96 ranks i of the "out" scores."""

    def __init__(self, family: Family, n0: int, n1: int, probit: float) -> None:
        reach = -float(ndtri(0.5 / n0))
        spread = n0 * ndtr(np.linspace(-reach, reach, _RANKS)) + 0.5
        self.family, self.n1, self.level = family, n1, float(ndtr(probit))
        self.ranks = np.unique(np.clip(np.rint(spread), 1, n0).astype(np.int64))
        self.medians, self.quantiles = self._rates(self.ranks, n0)

    def _rates(self, rank: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
        return betaincinv(rank, n - rank + 1.0, 0.5), betaincinv(rank, n - rank + 1.0, self.level)

    def at(self, j: np.ndarray, side: float) -> np.ndarray:
        """v(i, j_i) rounded up (side 1) or down (-1), shape (ranks,); -inf where it says nothing."""
        # With the rates of the i as they are v is another statistic of the same kind: only what depends on j is compared.
        median, quantile = (
            rate - side * (_RATE * np.minimum(rate, 1.0 - rate) + _PART * rate)
            for rate in self._rates(j, self.n1)
        )
        best = np.full(self.ranks.size, -np.inf)
        for a_part, b_part in self.family.forms:
            a, b, a_far, b_far = (
                a_part(self.medians),
                b_part(median),
                a_part(self.quantiles),
                b_part(quantile),
            )
            with np.errstate(invalid="ignore"):
                result = a + b - np.hypot(a - a_far, b - b_far)
                rounding = _PART * (1.0 + abs(a) + abs(b) + abs(a_far) + abs(b_far))
                best = np.fmax(best, result + side * rounding)
        return best

    def largest(self, x: np.ndarray, y: np.ndarray) -> float:
        """The statistic, rounded down: the largest value of a reached pair, -inf if there is none."""
        order = np.argsort(x, kind="stable")
        # The least number of false negatives with at most so many false positives.
        least = np.minimum.accumulate(y[order])
        last = np.searchsorted(x[order], self.ranks - 1, side="right") - 1
        j = np.where(last >= 0, least[np.maximum(last, 0)] + 1, self.n1 + 1)
        result = self.at(np.minimum(j, self.n1), -1.0)
        return float(np.where(j <= self.n1, result, -np.inf).max())

    def most(self, level: float) -> np.ndarray:
        """For each rank i the largest j with v(i, j) >= level but for rounding, 0 if there is none."""
        low = np.zeros(self.ranks.size, dtype=np.int64)
        high = np.full(self.ranks.size, self.n1 + 1, dtype=np.int64)
        while (wide := high - low > 1).any():
            middle = np.where(wide, (low + high) // 2, 1)
            enough = self.at(middle, 1.0) >= level
            low, high = np.where(wide & enough, middle, low), np.where(wide & ~enough, middle, high)
        return low


def _quantile(family: Family, i: np.ndarray, n0: int, j: np.ndarray, n1: int, risk: float) -> float:
    """The k-th smallest draw of theta* = min over the pairs of theta(U_(i), V_(j)), of those up to a level; rounded down."""
    rare, rng = _RareMinimum(family, i, n0, j, n1), np.random.default_rng(_SEED)
    total = _FIRST * risk
    while True:
        check_budget()
        level, whole = rare.level(total)
        share = rare.draw(rng, _PILOT, level).size / _PILOT
        if share * whole >= _ROOM * risk or whole < 0.4 * total:
            break
        total *= 2.0
    proposals = math.ceil(_FAILURES * whole / risk)
    result = np.sort(rare.draw(rng, proposals, level))
    ranks = np.arange(1, _FAILURES + 1)
    chance = min(1.0, (1.0 - _ROUNDING) * risk / whole)
    k = int((betaincc(ranks, proposals + 1 - ranks, chance) <= _UNLUCKY).sum())  # rises with the rank
    return float(result[k - 1]) if result.size >= k else level


class _RareMinimum:
    """Draws of theta* on the event theta* <= q, by proposals of which each is such a draw with probability P(theta* <= q) / S.

    The event is the union over the pairs of {theta(U_(i), V_(j)) <= q}. The values of U_(i) are cut into cells, and in each cell V_(j)
    must be at least what it is on the curve at the cell's upper end: S is the sum over pairs and cells of the probability that both
    are so. A proposal takes a pair and a cell with their share of S, draws both rates given that, and is refused where
    theta(U_(i), V_(j)) > q after all. Then it draws the other order statistics given these two, and is accepted with probability
    1/N, where N pairs have theta <= q. Proof: an outcome of the event with N such pairs is proposed with its probability times N / S.

    Source: Adler, Blanchet, Liu (2012), "Efficient Monte Carlo for high excursions of Gaussian random fields".
    """

    def __init__(self, family: Family, i: np.ndarray, n0: int, j: np.ndarray, n1: int) -> None:
        self.family, self.i, self.n0, self.j, self.n1 = family, i, n0, j, n1
        self.columns, self.place = np.unique(j, return_inverse=True)
        ends = np.concatenate([[-np.inf], np.linspace(-_FAR, _FAR, _CELLS), [np.inf]])  # probits
        self.below, self.above = ndtr(ends[:-1]), ndtr(-ends[1:])  # P(U_(i) below a cell), and beyond it
        self.masses = np.where(ends[1:] <= 0.0, np.diff(ndtr(ends)), -np.diff(ndtr(-ends)))
        upper = _order_quantile(i[:, None], n0, ndtr(ends[1:]), ndtr(-ends[1:]))
        self.parts = [a_part(upper) for a_part, _ in family.forms]
        far = np.array([[-_FAR], [_FAR]])
        extremes = self._theta(
            *(_order_quantile(rank, n, ndtr(far), ndtr(-far)) for rank, n in ((i, n0), (j, n1)))
        )
        self.least, self.most = np.clip([extremes[1].min(), extremes[0].max()], -_MOST, _MOST).tolist()
        self.tails = cache(self._tails)  # searches for levels begin alike

    def _theta(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """theta(a, b), rounded down."""
        result = np.full(np.broadcast_shapes(a.shape, b.shape), -np.inf)
        for a_part, b_part in self.family.forms:
            x, y = a_part(a), b_part(b)
            result = np.maximum(result, x + y - _PART * (1.0 + abs(x) + abs(y)))
        return result

    def _tails(self, level: float) -> np.ndarray:
        """P(V_(j) at least what it is on the curve) at the upper end of each cell, shape (pairs, cells)."""

        def reached(place: np.ndarray) -> np.ndarray:
            rates = (
                part + b_part(_coarse(place)) for part, (_, b_part) in zip(self.parts, forms, strict=True)
            )
            return np.maximum.reduce(list(rates)) <= level

        forms, shape = self.family.forms, self.parts[0].shape
        with np.errstate(invalid="ignore"):
            place = least_whole(reached, np.zeros(shape, np.int64), np.full(shape, _ONE))
        return betaincc(self.j[:, None], self.n1 - self.j[:, None] + 1.0, _coarse(place - 1))

    def level(self, total: float) -> tuple[float, float]:
        """(q, S) with S from half of a total up to it; the largest q that matters where no S is so large."""
        low, high = self.least, self.most
        while True:
            middle = 0.5 * (low + high)
            result = float((self.masses * self.tails(middle)).sum())
            if 0.5 * total <= result <= total or high - low < _APART:
                return middle, result
            low, high = (middle, high) if result < total else (low, middle)

    def draw(self, rng: np.random.Generator, proposals: int, level: float) -> np.ndarray:
        """The accepted draws of theta*, rounded down, of so many proposals."""
        tails = self.tails(level)
        shares = np.cumsum((self.masses * tails).ravel())
        parts = [
            self._accepted(rng, min(_CHUNK, proposals - start), level, tails, shares / shares[-1])
            for start in range(0, proposals, _CHUNK)
        ]
        return np.concatenate(parts)

    def _accepted(
        self, rng: np.random.Generator, count: int, level: float, tails: np.ndarray, shares: np.ndarray
    ) -> np.ndarray:
        check_budget()
        pair, cell = np.divmod(np.searchsorted(shares, rng.random(count), side="right"), self.masses.size)
        x = rng.random(count) * self.masses[cell]
        u = _order_quantile(
            self.i[pair], self.n0, self.below[cell] + x, self.above[cell] + self.masses[cell] - x
        )
        rank = self.j[pair]
        v = betainccinv(rank, self.n1 - rank + 1.0, rng.random(count) * tails[pair, cell])
        some = np.flatnonzero(self._theta(u, v) <= level)
        pair, u, v = pair[some], u[some], v[some]
        a = _order_statistics(rng, self.i, self.n0, pair, u)
        b = _order_statistics(rng, self.columns, self.n1, self.place[pair], v)
        theta = self._theta(a, b[self.place])
        refused = _refused(rng.random(some.size), (theta <= level).sum(axis=0))
        return theta.min(axis=0, initial=np.inf)[~refused]


def _refused(draws: np.ndarray, several: np.ndarray) -> np.ndarray:
    """Which outcomes are refused, by uniform draws, so that an outcome that can be proposed in several ways is as likely as by
    a single way.
    """
    return draws * several >= 1.0


def _coarse(place: np.ndarray) -> np.ndarray:
    """The float64 at a place in a list of those from 0 to 1, at `_ONE`, neighbours of which are 2^-16 apart, relatively."""
    return (place << 36).view(np.float64)


def _order_quantile(rank: np.ndarray, n: int, below: object, above: object) -> np.ndarray:
    """The quantile of the rank-th smallest of n uniforms, by the smaller of the two tails, which add up to 1."""
    p, q = np.asarray(below, float), np.asarray(above, float)
    return np.where(p < q, betaincinv(rank, n - rank + 1.0, p), betainccinv(rank, n - rank + 1.0, q))


def _order_statistics(
    rng: np.random.Generator, rank: np.ndarray, n: int, known: np.ndarray, value: np.ndarray
) -> np.ndarray:
    """The rank-th smallest of n uniforms, shape (ranks, draws), jointly, given for each draw the value of a known uniform; rounded up.

    Those below it, and those above it, are partial sums of exponentials over their whole, each on its side.
    """
    shapes = np.diff(np.concatenate([[0], rank, [n + 1]]))
    sums = np.cumsum(rng.standard_gamma(shapes[:, None], (shapes.size, value.size)), axis=0)
    at = sums[known, np.arange(value.size)]
    share_above = (sums[:-1] - at) / (sums[-1] - at)
    below = np.arange(rank.size)[:, None] <= known
    result = np.where(below, sums[:-1] / at * value, value + (1.0 - value) * share_above)
    return np.minimum(result * (1.0 + _SAMPLED), 1.0)
