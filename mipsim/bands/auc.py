"""Intervals of the area under the ROC curve: games paired at random, or all pairs where equal data are likely."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betainc, gammaln, xlogy

from mipsim._content_seed import content_generator
from mipsim._validation import class_counts
from mipsim.bands.clopper_pearson import clopper_pearson

_LISTED = 2**22  # games up to which the pairs are listed one by one
_MOST = 10**9  # games that NumPy's hypergeometric generator takes, less one
_RANDOM, _ALL = 0.7, 0.28  # shares of a failure probability for pairs at random and for all pairs
_REPEATED = 1e-5  # largest probability of the data, as a share of the failure probability of the pairs
_LAST_DIGITS = 1e-8  # to which a tail of a binomial distribution is computed at least
_ROUNDING = 1e-12  # by which means and ends are moved outward
_LEVELS = 64  # at which a mean excess is tried


@dataclass(frozen=True)
class PairedGames:
    """Games of the two worlds in pairs, each game in one pair at most.

    Attributes:
        pairs: how many pairs there are, that is, games of the smaller world.
        above: pairs whose "in" score lies in a higher bin than the "out" score.
        same: pairs whose scores lie in one bin, between two neighbouring thresholds.
        heads: of them, those that a fair coin counts as `above` if their scores are equal.
        mean_above: mean of `above` over all ways to form the pairs.
        mean_same: mean of `same`.
        log_probability: logarithm of the largest probability that any distribution of the scores gives to the counts.
    """

    pairs: int
    above: int
    same: int
    heads: int
    mean_above: float
    mean_same: float
    log_probability: float = -math.inf

    def interval(self, failure_probability: float, *, tied: bool = False) -> tuple[float, float]:
        """Interval of the AUC, P(in score > out score) + P(equal scores) / 2.

        Theorem. Each end is wrong with probability at most r = failure_probability / 2, for every number of games and every
        distribution of the scores, also one of few values. The hash that chooses the pairs is modelled as a random function, and
        the statement holds for all functions but a share of 1e-8, for every distribution that was fixed before the function.

        Proof, for the lower end; the upper one is the mirror image. Games are independent, so that pairs formed without regard to them
        are too. The pairs with the higher "in" score are S, binomial of m pairs, with the AUC as their probability if equal scores
        count by a fair coin. The counts used here are at most S, whatever the order of scores within bins.

        1. Pairs at random. Clopper and Pearson's theorem at 0.7 r. `pair_games` takes the pairs and coins from a hash of the data. No
        law gives data a probability above p = exp(`log_probability`), and this end is used only where p <= 1e-5 x 0.7 r. By Bennett's
        inequality the sum of P(data) over data that are wrong exceeds its mean by 2% with probability below 1e-8.

        2. All pairs. The mean U of S over all ways to form the pairs is a function of the counts alone, with no random choice. For every h,
        E (U - h)_+ <= E (S - h)_+ (Jensen), so that P(U >= x) <= E (S - h)_+ / (x - h), which rises with the AUC. The end is the AUC at
        which the best h makes this 0.28 r.

        Either may be used for whatever reason: 0.7 r x 1.02 + 0.28 r < r.

        Args:
            failure_probability: of both ends together, in (0, 1).
            tied: whether scores in one bin are equal; then a fair coin decides each such pair. Else their order is unknown, and
                the ends allow for both.

        Source: Clopper and Pearson, Biometrika 26 (1934); Hoeffding, JASA 58 (1963), section 5a, for the mean over all pairs; Bentkus,
            Annals of Probability 32 (2004), for the mean excess.

        Examples:
            >>> [round(end, 3) for end in PairedGames(1000, 760, 0, 0, 760.0, 0.0).interval(0.05)]
            [0.73, 0.788]
            >>> [round(end, 3) for end in PairedGames(1000, 760, 0, 0, 760.0, 0.0, -9.0).interval(0.05)]
            [0.721, 0.796]
        """
        if self.log_probability > math.log(_REPEATED * _RANDOM * 0.5 * failure_probability):
            half = 0.5 * self.mean_same if tied else 0.0
            least, most = self.mean_above + half, self.mean_above + self.mean_same - half
            level = 0.5 * _ALL * failure_probability
            return _all_pairs_end(least, self.pairs, level), 1.0 - _all_pairs_end(
                self.pairs - most, self.pairs, level
            )
        least, most = self.above, self.above + self.same
        if tied:
            least = most = self.above + self.heads
        low = clopper_pearson([least], self.pairs, _RANDOM * failure_probability)[0]
        high = clopper_pearson([most], self.pairs, _RANDOM * failure_probability)[1]
        return float(low[0]), float(high[0])


def _all_pairs_end(mean: float, pairs: int, level: float) -> float:
    """The largest AUC at which a mean of all pairs so large has at most this probability, by the best mean excess.

    Examples:
        >>> round(_all_pairs_end(60.0, 100, 0.0125), 3), _all_pairs_end(0.0, 100, 0.0125)
        (0.471, 0.0)
    """
    mean *= 1.0 - _ROUNDING

    def tail(auc: float) -> float:
        first, last = min(math.floor(pairs * auc), math.ceil(mean) - 1), math.ceil(mean) - 1
        h = np.unique(np.linspace(first, last, _LEVELS).astype(np.int64)).astype(float)
        # E (S - h)_+ = m a P(Binomial(m - 1, a) >= h) - h P(S > h)
        some = np.where(h > 0.0, betainc(np.maximum(h, 1.0), pairs - h, auc), 1.0) * (1.0 + _LAST_DIGITS)
        excess = pairs * auc * some - h * betainc(h + 1.0, pairs - h, auc) * (1.0 - _LAST_DIGITS)
        return float((excess / (mean - h)).min())

    if mean <= 0.0 or tail(low := level * mean / pairs) > level:  # Markov's inequality, h = 0
        return 0.0
    high = mean / pairs
    if tail(high) <= level:
        return high
    # A level that is lower by rounding, so that the tail at the root is below the true one.
    from scipy.optimize import brentq  # a fourth of a second: not when the library is imported

    end = float(brentq(lambda auc: tail(auc) - level * (1.0 - _LAST_DIGITS), low, high, xtol=1e-15))  # pyright: ignore[reportArgumentType]
    end *= 1.0 - _ROUNDING
    return end if tail(end) <= level else low


def _log_largest_probability(counts: np.ndarray) -> float:
    """Logarithm of the multinomial probability of counts at their own frequencies, which no other frequencies exceed."""
    n = counts.sum()
    return float(gammaln(n + 1.0) + (xlogy(counts, counts / n) - gammaln(counts + 1.0)).sum())


def pair_games(
    false_positives: object,
    out_games: int,
    false_negatives: object,
    in_games: int,
    thresholds: np.ndarray | None = None,
) -> PairedGames | None:
    """Pair each game of the smaller world with a different random game of the other; None from 10^9 games on.

    The data decide the pairs and the coins, by `mipsim._content_seed.content_generator`, so that equal data give equal intervals.

    Args:
        false_positives: number of "out" scores above each threshold, thresholds increasing, shape (K,).
        out_games: "out" games.
        false_negatives: number of "in" scores at or below each threshold, shape (K,).
        in_games: "in" games.
        thresholds: those that were chosen after the scores, shape (K,): then they are data as well.

    Examples:
        >>> pair_games([0], 10, [10], 10)
        PairedGames(pairs=10, above=0, same=10, heads=4, mean_above=0.0, mean_same=10.0, log_probability=0.0)
        >>> pair_games([0], 10, [0], 12)
        PairedGames(pairs=10, above=10, same=0, heads=0, mean_above=10.0, mean_same=0.0, log_probability=0.0)
    """
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games)
    if max(n0, n1) >= _MOST:
        return None
    out, inside = -np.diff(np.concatenate([[n0], x, [0]])), np.diff(np.concatenate([[0], y, [n1]]))
    rng = content_generator("pairs of games", out, inside, np.empty(0) if thresholds is None else thresholds)
    few, many = (out, inside) if n0 <= n1 else (inside, out)
    if n0 + n1 <= _LISTED:
        bins = np.arange(few.size)
        item, other = np.repeat(bins, few), rng.permutation(np.repeat(bins, many))[: min(n0, n1)]
        higher, same = int((other > item).sum()), int((other == item).sum())
    else:
        higher = same = 0
        for place in np.flatnonzero(few):  # the partners of all games of one bin, without replacement
            partners = rng.multivariate_hypergeometric(many, int(few[place]), method="marginals")
            many = many - partners
            higher, same = higher + int(partners[place + 1 :].sum()), same + int(partners[place])
    pairs = min(n0, n1)
    # The coins come from the same generator: a seed made of the three numbers alone would repeat too often.
    heads = int(rng.binomial(same, 0.5))
    every = max(n0, n1)  # of n0 n1 pairs of games, pairs / (n0 n1) = 1 / every of each kind are in a mean
    return PairedGames(
        pairs,
        higher if n0 <= n1 else pairs - higher - same,
        same,
        heads,
        int((inside * (np.cumsum(out) - out)).sum()) / every,
        int((inside * out).sum()) / every,
        _log_largest_probability(out) + _log_largest_probability(inside),
    )
