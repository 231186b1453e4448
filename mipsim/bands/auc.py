"""Exact intervals of the area under the ROC curve, from games that are paired at random."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mipsim._content_seed import content_generator
from mipsim._validation import class_counts
from mipsim.bands.clopper_pearson import clopper_pearson

_LISTED = 2**22  # games up to which the pairs are listed one by one
_MOST = 10**9  # games that NumPy's hypergeometric generator takes, less one


@dataclass(frozen=True)
class PairedGames:
    """Games of the two worlds in pairs, each game in one pair at most.

    Attributes:
        pairs: how many pairs there are, that is, games of the smaller world.
        above: pairs whose "in" score lies in a higher bin than the "out" score.
        same: pairs whose scores lie in one bin, between two neighbouring thresholds.
        heads: of them, those that a fair coin counts as `above` if their scores are equal.
    """

    pairs: int
    above: int
    same: int
    heads: int

    def interval(self, failure_probability: float, *, tied: bool = False) -> tuple[float, float]:
        """Interval of the AUC, P(in score > out score) + P(equal scores) / 2.

        Theorem. Each end is wrong with probability at most failure_probability / 2, for every number of games and every
        distribution of the scores. Proof. Games are independent, so that pairs formed without regard to them are too: the pairs
        with the higher "in" score are binomial, with the AUC as their probability if equal scores count by a fair coin. The count
        `above` is at most, and `above + same` at least, that of any order of the scores within bins. The rest is
        Clopper and Pearson's theorem. `pair_games` chooses the pairs and the coins at random in the sense of
        `mipsim._content_seed.content_generator`, from all counts. Its theorem bounds what this adds to the failure probability: nothing
        that matters where equal counts of two runs are unlikely; a score of two values and a hundred games may add a few hundredths.

        Args:
            failure_probability: of both ends together, in (0, 1).
            tied: whether scores in one bin are equal; then a fair coin decides each such pair. Else their order is unknown, and
                the ends allow for both.

        Examples:
            >>> [round(end, 3) for end in PairedGames(1000, 760, 0, 0).interval(0.05)]
            [0.732, 0.786]
        """
        least, most = self.above, self.above + self.same
        if tied:
            least = most = self.above + self.heads
        low = clopper_pearson([least], self.pairs, failure_probability)[0]
        high = clopper_pearson([most], self.pairs, failure_probability)[1]
        return float(low[0]), float(high[0])


def pair_games(
    false_positives: object, out_games: int, false_negatives: object, in_games: int
) -> PairedGames | None:
    """Pair each game of the smaller world with a different random game of the other; None from 10^9 games on.

    The counts decide the pairs and the coins, by `mipsim._content_seed.content_generator`, so that equal counts give equal intervals.

    Args:
        false_positives: number of "out" scores above each threshold, thresholds increasing, shape (K,).
        out_games: "out" games.
        false_negatives: number of "in" scores at or below each threshold, shape (K,).
        in_games: "in" games.

    Examples:
        >>> pair_games([0], 10, [10], 10), pair_games([0], 10, [0], 12)
        (PairedGames(pairs=10, above=0, same=10, heads=4), PairedGames(pairs=10, above=10, same=0, heads=0))
    """
    x, n0 = class_counts("false_positives", false_positives, "out_games", out_games)
    y, n1 = class_counts("false_negatives", false_negatives, "in_games", in_games)
    if max(n0, n1) >= _MOST:
        return None
    out, inside = -np.diff(np.concatenate([[n0], x, [0]])), np.diff(np.concatenate([[0], y, [n1]]))
    rng = content_generator("pairs of games", out, inside)
    few, many = (out, inside) if n0 <= n1 else (inside, out)
    if n0 + n1 <= _LISTED:
        bins = np.arange(few.size)
        one, other = np.repeat(bins, few), rng.permutation(np.repeat(bins, many))[: min(n0, n1)]
        higher, same = int((other > one).sum()), int((other == one).sum())
    else:
        higher = same = 0
        for place in np.flatnonzero(few):  # the partners of all games of one bin, without replacement
            partners = rng.multivariate_hypergeometric(many, int(few[place]), method="marginals")
            many = many - partners
            higher, same = higher + int(partners[place + 1 :].sum()), same + int(partners[place])
    pairs = min(n0, n1)
    # The coins come from the same generator: a seed made of the three numbers alone would repeat too often.
    heads = int(rng.binomial(same, 0.5))
    return PairedGames(pairs, higher if n0 <= n1 else pairs - higher - same, same, heads)
