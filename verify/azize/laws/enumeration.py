"""The fixed-target game by enumeration of every data set: the gold standard at small sizes."""

from collections.abc import Callable
from itertools import combinations

import numpy as np

Array = np.ndarray
LARGEST = 2**20
"""The most data sets that are enumerated."""


def bernoulli_data_sets(p: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Every data set of n Bernoulli(p) records, shape (2^(n d), n, d), and its probability.
    Raises ValueError if there are more than 2^20 of them.

    >>> sets, probability = bernoulli_data_sets(np.array([0.5]), 2)
    >>> sets.shape, float(probability.sum())
    ((4, 2, 1), 1.0)
    """
    cells = n * p.shape[0]
    if 2**cells > LARGEST:
        raise ValueError(f"n d = {cells}; at most {int(np.log2(LARGEST))} cells can be enumerated")
    sets = ((np.arange(2**cells)[:, None] >> np.arange(cells)) & 1).reshape(-1, n, p.shape[0])
    probability = np.where(sets == 1, p, 1 - p).prod(axis=(1, 2))
    return sets.astype(float), probability


def mean_game(p: Array, n: int, target: Array, kept: int | None = None) -> tuple[Array, Array, Array]:
    """Outputs of the (sub-sampled) empirical mean, shape (m, d), with their probabilities out and in, each of shape (m,).
    `p`: Bernoulli parameters, shape (d,); `n`: records; `target`: z*, shape (d,); any real point; `kept`: k rows sampled
    without replacement; None keeps all n.

    >>> outputs, out, inside = mean_game(np.array([0.5]), 2, np.array([1.0]))
    >>> print(outputs.ravel(), out, inside)
    [0.  0.5 1. ] [0.25 0.5  0.25] [0.  0.5 0.5]
    """
    sets, probability = bernoulli_data_sets(p, n)
    rows = list(combinations(range(n), n if kept is None else kept))
    outputs, weights_out, weights_in = [], [], []
    for chosen in rows:
        outputs.append(sets[:, list(chosen)].mean(axis=1))
        weights_out.append(probability / len(rows))
        weights_in.append(np.zeros_like(probability))
        for place in range(n):
            replaced = sets.copy()
            replaced[:, place] = target
            outputs.append(replaced[:, list(chosen)].mean(axis=1))
            weights_out.append(np.zeros_like(probability))
            weights_in.append(probability / (len(rows) * n))
    merged, index = np.unique(np.round(np.concatenate(outputs), 12), axis=0, return_inverse=True)
    worlds = (np.concatenate(weights) for weights in (weights_out, weights_in))
    out, inside = (np.bincount(index.ravel(), weights, len(merged)) for weights in worlds)
    return merged, out, inside


def roc_vertices(score: np.ndarray, out: np.ndarray, inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(FPR, TPR) of the tests "score > threshold" over all thresholds, from (0, 0) to (1, 1); ties stay together.
    >>> print(*roc_vertices(np.array([0.0, 1.0]), np.array([0.75, 0.25]), np.array([0.5, 0.5])))
    [0.   0.25 1.  ] [0.  0.5 1. ]
    """
    levels, index = np.unique(-np.round(score, 10), return_inverse=True)
    masses = (np.bincount(index.ravel(), world, len(levels)) for world in (out, inside))
    fpr, tpr = (np.concatenate([[0.0], np.cumsum(mass)]) for mass in masses)
    return fpr, tpr


def best_deterministic_power(out: Array, inside: Array, alpha: Array) -> tuple[Array, Array]:
    """For each alpha the most powerful set of outputs with P_out <= alpha, over all subsets, and its power.
    `out`: probabilities of the m outputs when the target is out, shape (m,), m <= 20; `inside`: the same when it is in;
    `alpha`: levels, shape (k,). Returns (power of shape (k,), chosen outputs of shape (k, m)).

    >>> power, chosen = best_deterministic_power(np.array([0.1, 0.6, 0.3]), np.array([0.2, 0.6, 0.2]), np.array([0.6]))
    >>> print(power.round(3), chosen)
    [0.6] [[False  True False]]
    """
    m = len(out)
    if 2**m > LARGEST:
        raise ValueError(f"there are {m} outputs; at most {int(np.log2(LARGEST))} can be searched")
    size, power = subset_sums(out), subset_sums(inside)
    levels = np.atleast_1d(alpha)
    best = np.array([int(np.argmax(np.where(size <= level + 1e-12, power, -1.0))) for level in levels])
    return power[best], ((best[:, None] >> np.arange(m)) & 1).astype(bool)


def subset_sums(probability: np.ndarray) -> np.ndarray:
    """The sums over all 2^m subsets of m numbers; bit j of a subset's place says whether number j is in it.
    >>> subset_sums(np.array([0.25, 0.5])).tolist()
    [0.0, 0.25, 0.5, 0.75]
    """
    sums = np.zeros(1)
    for item in probability:
        sums = np.concatenate([sums, sums + item])
    return sums


def best_randomised_power(out: np.ndarray, inside: np.ndarray, alpha: float) -> float:
    """The largest power of any test of size <= alpha: the upper hull of all sets of outputs.
    >>> best_randomised_power(np.array([0.5, 0.5]), np.array([0.2, 0.8]), 0.25)
    0.4
    """
    sizes, powers = subset_sums(out), subset_sums(inside)
    order = np.lexsort((-powers, sizes))
    record = powers[order] > np.maximum.accumulate(np.append(-1.0, powers[order][:-1]))
    hull: list[tuple[float, float]] = []
    for x, y in zip(sizes[order][record].tolist(), powers[order][record].tolist(), strict=True):
        # A corner on or below the chord of its neighbours goes.
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2:]
            if (y1 - y0) * (x - x0) > (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return float(np.interp(alpha, *np.array(hull).T))


Test = Callable[[np.ndarray, np.ndarray], np.ndarray]


def random_target_advantage(p: np.ndarray, n: int, test: Test) -> float:
    """P(test = 1 | in) - P(test = 1 | out) of the random-target game, enumerating data sets, rows and fresh targets.
    `p`: Bernoulli parameters, shape (d,); `n`: records; `test`: (target of shape (d,), outputs of shape (m, d)) ->
    probabilities of guessing "in", shape (m,).

    >>> round(random_target_advantage(np.array([0.5]), 2, lambda z, o: (z == (o[:, 0] > 0.5)).astype(float)), 6)
    0.25
    """
    sets, probability = bernoulli_data_sets(p, n)
    outputs = sets.mean(axis=1)
    inside = outside = 0.0
    points = ((np.arange(2 ** sets.shape[2])[:, None] >> np.arange(sets.shape[2])) & 1).astype(float)
    for z in points:
        guess = test(z, outputs)
        outside += float(np.where(z == 1, p, 1 - p).prod() * (probability @ guess))
        matches = (sets == z).all(axis=2).mean(axis=1)  # the share of rows that are this point
        inside += float(probability @ (matches * guess))
    return inside - outside
