"""The literal game by enumeration of all records, places and sub-samples: the gold standard."""

import itertools
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

Law = dict[tuple[int, ...], float]


def literal_sums(p: Sequence[float], n: int, target: Sequence[int] | None, chosen: int | None = None) -> Law:
    """The law of the column sums of Bernoulli records, by brute force.

    Args:
        p: success probabilities, d of them.
        n: the number of records.
        target: replaces a uniformly chosen record; None = the "out" world.
        chosen: how many of the n rows are sampled without replacement; None = all.

    Returns:
        The probability of each vector of sums.
    """
    d, law = len(p), defaultdict(float)
    subsets = list(itertools.combinations(range(n), n if chosen is None else chosen))
    for bits in itertools.product((0, 1), repeat=n * d):
        records = np.array(bits).reshape(n, d)
        weight = math.prod(
            p[j] if records[i, j] else 1 - p[j] for i, j in itertools.product(range(n), range(d))
        )
        for place in range(n):
            played = records.copy()
            if target is not None:
                played[place] = target
            for subset in subsets:
                total = tuple(int(s) for s in played[list(subset)].sum(axis=0))
                law[total] += weight / (n * len(subsets))
    return dict(law)


def random_target_sums(p: Sequence[float], n: int, member: bool) -> Law:
    """The joint law of (*target, *column sums) of the random-target game, by brute force."""
    d, law = len(p), defaultdict(float)
    for bits in itertools.product((0, 1), repeat=(n + 1) * d):
        records = np.array(bits).reshape(n + 1, d)  # the last record is the fresh draw
        weight = math.prod(
            p[j] if records[i, j] else 1 - p[j] for i, j in itertools.product(range(n + 1), range(d))
        )
        total = tuple(int(s) for s in records[:n].sum(axis=0))
        for place in range(n):
            target = records[place] if member else records[n]
            law[(*(int(z) for z in target), *total)] += weight / n
    return dict(law)


def total_variation(first: Law, second: Law) -> float:
    """Half the sum of the absolute differences."""
    return 0.5 * sum(abs(first.get(k, 0.0) - second.get(k, 0.0)) for k in set(first) | set(second))
