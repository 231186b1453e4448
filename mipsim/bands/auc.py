"""Intervals of the area under the ROC curve: games paired at random, or all pairs where equal data are likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, gammaln, xlog1py, xlogy

from mipsim._content_seed import content_generator
from mipsim._validation import class_counts
from mipsim.bands.clopper_pearson import clopper_pearson

_LISTED = 2**22  # games up to which the pairs are listed individually
_MOST = 10**9  # games that NumPy's hypergeometric generator takes, less 1
_RANDOM, _ALL, _TIES = 0.65, 0.31, 0.02
"""Shares of the failure probability of an end: for pairs at random, for all pairs, and for the probability of equal scores in these."""
_REPEATED = 1e-5  # largest probability of the data, as a share of the failure probability of the pairs
_LAST_DIGITS = 1e-8  # to which a tail of a binomial distribution is computed at least
# and a mean square of what is above a level, and so much more for each term: logarithms of factorials cancel
_SQUARE_DIGITS = (1e-4, 1e-11)
_ROUNDING = 1e-12  # by which means and ends are moved outward
_LEVELS = 64  # at which a mean excess is tried


@dataclass(frozen=True)
class PairedGames:
    """Games of the two worlds in pairs, each game in at most 1 pair.

    Attributes:
        pairs: how many pairs there are, that is, games of the smaller world.
        above: pairs whose "in" score lies in a higher bin than the "out" score.
        same: pairs whose scores lie in the same bin, between two neighbouring thresholds, in an order that is not known.
        heads: of the pairs of equal scores, those that a fair coin counts as `above`.
        mean_above: mean of `above` over all ways to form the pairs.
        mean_same: mean of `same`.
        mean_equal: mean of the pairs of equal scores.
        log_probability: logarithm of the largest probability that any distribution of the scores gives to the counts.
    """

    pairs: int
    above: int
    same: int
    heads: int
    mean_above: float
    mean_same: float
    mean_equal: float = 0.0
    log_probability: float = -math.inf

    def interval(self, failure_probability: float) -> tuple[float, float]:
        """Interval of the AUC, P(in score > out score) + P(equal scores) / 2.

        Theorem. Each end is wrong with probability at most r = failure_probability / 2, for every number of games and every
        distribution of the scores, also a discrete distribution with few values. The hash that chooses the pairs is modelled as
        a random function, and the statement holds for all functions but a share of 1e-8, for every distribution that was fixed
        before the function.

        Proof, for the lower end; the upper end is the mirror image. Games are independent, so that pairs formed without regard to them
        are too. The pairs with the higher "in" score are S, binomial of m pairs, with the AUC as their probability if equal scores
        count by a fair coin. The counts used here are at most S, whatever the order of scores within bins.

        1. Pairs at random. Clopper and Pearson's theorem at 0.65 r. `pair_games` takes the pairs and coins from a hash of the data. No
        law gives data a probability above p = exp(`log_probability`), and this end is used only where p <= 1e-5 x 0.65 r. By Bennett's
        inequality the sum of P(data) over data that are wrong exceeds its mean by 2% with probability below 1e-8.

        2. All pairs. The mean U of S over all ways to form the pairs is a function of the counts alone, with no random choice. For every h,
        E (U - h)_+ <= E (S - h)_+ (Jensen), so that P(U >= x) <= E (S - h)_+ / (x - h), which rises with the AUC. The end is the AUC at
        which the best h makes this 0.31 r.

        3. All pairs, equal scores known to be equal. Let each pair of S count 0, 1/2 or 1. By 2 the probability t of equal scores is above its
        lower end T but for 0.02 r. The variance of a term is then a (1 - a) - t / 4 <= v = a (1 - a) - T / 4, with a the AUC, and no term exceeds 1. So
        E (U - h)_+^2 <= E (S - h)_+^2 <= E (S' - h)_+^2 (Jensen; Bentkus), where the terms of S' are 1 and a - v / (1 - a), with mean a and
        variance v. P(U >= x) is at most E (S' - h)_+^2 / (x - h)^2. The end is the AUC at which this, or the bound by 2, is 0.31 r. Where a
        candidate a in [T / 2, 1 - T / 2] is above the true AUC, its bound holds for the truth too: with the same t, or with 2 (1 - a) if that is less, terms of mean
        a are stochastically larger than those of the truth.

        The choice among the three may depend on the data: 0.65 r x 1.02 + 0.31 r + 0.02 r < r.

        Args:
            failure_probability: of both ends together, in (0, 1). A fair coin decides pairs of equal scores; of pairs in the
                same bin whose order is not known the ends allow for both.

        Source: Clopper and Pearson, Biometrika 26 (1934); Hoeffding, JASA 58 (1963), section 5a, for the mean over all pairs; Bentkus,
            Annals of Probability 32 (2004), for the mean excess and its square.

        Examples:
            >>> [round(end, 3) for end in PairedGames(1000, 760, 0, 0, 760.0, 0.0).interval(0.05)]
            [0.73, 0.788]
            >>> [round(end, 3) for end in PairedGames(1000, 760, 0, 0, 760.0, 0.0, 0.0, -9.0).interval(0.05)]
            [0.722, 0.796]
        """
        if self.log_probability > math.log(_REPEATED * _RANDOM * 0.5 * failure_probability):
            half = 0.5 * self.mean_equal
            ties = _all_pairs_end(self.mean_equal, self.pairs, 0.5 * _TIES * failure_probability)
            most = self.mean_above + self.mean_same + half
            low, high = (
                _all_pairs_end(mean, self.pairs, 0.5 * _ALL * failure_probability, ties)
                for mean in (self.mean_above + half, self.pairs - most)
            )
            return low, 1.0 - high
        least = self.above + self.heads
        most = least + self.same
        low = clopper_pearson([least], self.pairs, _RANDOM * failure_probability)[0]
        high = clopper_pearson([most], self.pairs, _RANDOM * failure_probability)[1]
        return float(low[0]), float(high[0])


def _all_pairs_end(mean: float, pairs: int, level: float, ties: float = 0.0) -> float:
    """An AUC at which a mean of all pairs so large has at most this probability, by the best mean excess, or its square.
    `mean`: of the pairs that count; `pairs`: games of the smaller world; `ties`: lower bound of the probability that a
    pair counts 1/2.

    >>> round(_all_pairs_end(60.0, 100, 0.0125), 3), _all_pairs_end(0.0, 100, 0.0125)
    (0.471, 0.0)
    >>> round(_all_pairs_end(60.0, 100, 0.0125, ties=0.4), 3)
    0.494
    """
    mean *= 1.0 - _ROUNDING

    def tail(auc: float) -> float:
        first, last = min(math.floor(pairs * auc), math.ceil(mean) - 1), math.ceil(mean) - 1
        h = np.unique(np.linspace(first, last, _LEVELS).astype(np.int64)).astype(float)
        # E (S - h)_+ = m a P(Binomial(m - 1, a) >= h) - h P(S > h)
        some = np.where(h > 0.0, betainc(np.maximum(h, 1.0), pairs - h, auc), 1.0) * (1.0 + _LAST_DIGITS)
        excess = pairs * auc * some - h * betainc(h + 1.0, pairs - h, auc) * (1.0 - _LAST_DIGITS)
        return float((excess / (mean - h)).min())

    def least_tail(auc: float) -> float:
        if 2.0 * auc < ties:  # no such distribution
            return 0.0
        if ties == 0.0 or 2.0 * auc > 2.0 - ties:
            return tail(auc)
        return min(tail(auc), _tail_by_squares(mean, pairs, auc, auc * (1.0 - auc) - 0.25 * ties))

    if mean <= 0.0 or tail(low := level * mean / pairs) > level:  # Markov's inequality, h = 0
        return 0.0
    high = mean / pairs
    if least_tail(high) <= level:
        return high
    # A level that is lower by rounding, so that the tail at the root is below the true tail.
    from scipy.optimize import brentq  # a fourth of a second: not when the library is imported

    end = float(brentq(lambda auc: least_tail(auc) - level * (1.0 - _LAST_DIGITS), low, high, xtol=1e-15))  # pyright: ignore[reportArgumentType]
    end *= 1.0 - _ROUNDING
    return end if least_tail(end) <= level else low


def _tail_by_squares(x: float, terms: int, mean: float, variance: float) -> float:
    """Bound of P(S >= x) for `terms` terms of [0, 1] with this mean and at most this variance: the best E (S' - h)_+^2 / (x - h)^2.
    >>> round(_tail_by_squares(60.0, 100, 0.5, 0.25), 4), round(_tail_by_squares(60.0, 100, 0.5, 0.125), 4)
    (0.074, 0.0099)
    """
    if variance <= 0.0:
        return 1.0
    high = 1.0 - mean
    p, q = variance / (variance + high**2), high**2 / (variance + high**2)
    low, step = mean - variance / high, high + variance / high  # a term is low + step * Bernoulli(p)
    x = (x - terms * low) / step
    last, average = min(math.ceil(x), terms) - 1, terms * p  # rounding may put x above all values
    if last < math.floor(average):
        return 1.0
    h = np.unique(np.linspace(math.floor(average), last, _LEVELS).astype(np.int64)).astype(float)
    j = h + 1.0
    # With b(k) the probabilities of the binomial B, k q b(k) - (k + 1) q b(k + 1) = (k - average) b(k), which sums by parts.
    chance = np.exp(
        gammaln(terms + 1.0)
        - gammaln(j + 1.0)
        - gammaln(terms - j + 1.0)
        + xlogy(j, p)
        + xlog1py(terms - j, -p)
    )
    above = np.where(j < terms, betainc(j + 1.0, np.maximum(terms - j, 1.0), p), 0.0)  # P(B > j)
    first = j * q * chance  # E (B - average) 1{B >= j}
    second = (j - average) * first + q * ((terms - j) * p * chance + average * above)
    squares = second + 2.0 * (average - h) * first + (average - h) ** 2 * betainc(j, terms - j + 1.0, p)
    digits = _SQUARE_DIGITS[0] + _SQUARE_DIGITS[1] * terms
    return float((squares * (1.0 + digits) / (x - h) ** 2).min())


def _log_largest_probability(counts: np.ndarray) -> float:
    """Logarithm of the multinomial probability of counts at their own frequencies, which no other frequencies exceed."""
    n = counts.sum()
    return float(gammaln(n + 1.0) + (xlogy(counts, counts / n) - gammaln(counts + 1.0)).sum())


def pair_games(
    false_positives: object,  # number of "out" scores above each threshold, thresholds increasing, shape (K,)
    out_games: int,  # "out" games
    false_negatives: object,  # number of "in" scores at or below each threshold, shape (K,)
    in_games: int,  # "in" games
    # those that were chosen after the scores, shape (K,): then they are data as well
    thresholds: np.ndarray | None = None,
    tied: np.ndarray | bool = False,  # in which of the K + 1 bins scores are equal, or whether in all
) -> PairedGames | None:
    """Pair each game of the smaller world with a different random game of the other; None from 10^9 games on.

    The data decide the pairs and the coins, by `mipsim._content_seed.content_generator`, so that equal data give equal intervals.

    >>> pair_games([0], 10, [10], 10, tied=np.array([True, False]))
    PairedGames(pairs=10, above=0, same=0, heads=4, mean_above=0.0, mean_same=0.0, mean_equal=10.0, log_probability=0.0)
    >>> pair_games([0], 10, [10], 10).same, pair_games([0], 10, [0], 12).above
    (10, 10)
    """
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games)
    if max(n0, n1) >= _MOST:
        return None
    out, inside = -np.diff(np.concatenate([[n0], x, [0]])), np.diff(np.concatenate([[0], y, [n1]]))
    rng = content_generator("pairs of games", out, inside, np.empty(0) if thresholds is None else thresholds)
    tied = np.broadcast_to(tied, out.shape)
    few, many = (out, inside) if n0 <= n1 else (inside, out)
    if n0 + n1 <= _LISTED:
        bins = np.arange(few.size)
        item, other = np.repeat(bins, few), rng.permutation(np.repeat(bins, many))[: min(n0, n1)]
        higher, same, equal = (
            int(some.sum())
            for some in (other > item, (other == item) & ~tied[item], (other == item) & tied[item])
        )
    else:
        higher = same = equal = 0
        for place in np.flatnonzero(few):  # the partners of all games of the same bin, without replacement
            partners = rng.multivariate_hypergeometric(many, int(few[place]), method="marginals")
            many = many - partners
            higher += int(partners[place + 1 :].sum())
            same += 0 if tied[place] else int(partners[place])
            equal += int(partners[place]) if tied[place] else 0
    pairs = min(n0, n1)
    # The coins come from the same generator: a seed made of the three numbers alone would repeat too often.
    heads = int(rng.binomial(equal, 0.5))
    every = max(n0, n1)  # of n0 n1 pairs of games, pairs / (n0 n1) = 1 / every of each kind are in a mean
    return PairedGames(
        pairs,
        higher if n0 <= n1 else pairs - higher - same - equal,
        same,
        heads,
        int((inside * (np.cumsum(out) - out)).sum()) / every,
        int((inside * out)[~tied].sum()) / every,
        int((inside * out)[tied].sum()) / every,
        _log_largest_probability(out) + _log_largest_probability(inside),
    )
