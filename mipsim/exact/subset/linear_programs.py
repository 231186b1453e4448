"""The worst algorithms of the subset game: the largest advantage that differential privacy allows, over ALL algorithms.

An attack is a set of outputs, and asking whether the output lies in it is post-processing. So the worst
(epsilon, delta)-DP algorithm is one number q(D) = P(A(D) in the set) for each training set D, and the search
over all algorithms is a linear program over these numbers.
"""

import numpy as np
from scipy import optimize, sparse
from scipy.sparse.csgraph import maximum_bipartite_matching

from mipsim._validation import number, whole
from mipsim.exact.subset.enumeration import half, subsets


def adjacent_pairs(flags: np.ndarray) -> np.ndarray:
    """Pairs (i, j), i < j, of the sets that differ by one replaced record.

    Args:
        flags: sets of one size as membership flags, shape (m, n), as from `subsets`.

    Returns:
        int, shape (pairs, 2).

    Examples:
        >>> from mipsim.exact.subset.enumeration import subsets
        >>> len(adjacent_pairs(subsets(4, 2)))  # each of the 6 sets has 4 neighbours
        12
    """
    member = flags.astype(np.int32)
    common = member @ member.T
    return np.argwhere(np.triu(common == member[0].sum() - 1, 1))


def largest_dp_eta(n: int, epsilon: float, delta: float) -> float:
    """The largest eta of any (epsilon, delta)-DP algorithm on n records, by linear programming.

    Maximise mean q over the sets with the target minus mean q over those without it, halved, subject to
    q(D) <= e^epsilon q(D') + delta and 1 - q(D) <= e^epsilon (1 - q(D')) + delta for all adjacent D, D'.

    Args:
        n: records, even; C(n, n/2) unknowns.
        epsilon: >= 0, at most 30.
        delta: in [0, 1].

    Returns:
        eta in [0, 1/2]. The solver works to a tolerance of 1e-7 of its constraints and usually reaches 1e-9: an estimate, not a bound.

    Examples:
        >>> round(largest_dp_eta(4, np.log(3.0), 0.0), 9)
        0.25
    """
    flags = subsets(n, half(n))
    slope, slack = np.exp(number("epsilon", epsilon, 0.0, 30.0)), number("delta", delta, 0.0, 1.0)
    both = _both_ways(adjacent_pairs(flags))
    first, second = _incidence(both, len(flags))
    matrix = sparse.vstack([first - slope * second, slope * second - first])
    bound = np.concatenate([np.full(len(both), slack), np.full(len(both), slack + slope - 1.0)])
    gain = np.where(flags[:, 0], 1.0, -1.0) / flags[:, 0].sum()
    return 0.5 * _solve(-gain, matrix, bound, (0.0, 1.0))


def largest_posterior_odds(n: int, k: int, epsilon: float) -> float:
    """The largest P(x out | output) / P(x in | output) of any (epsilon, 0)-DP algorithm and output, by linear programming.

    Args:
        n: records.
        k: size of the training set, 1 <= k < n.
        epsilon: >= 0, at most 30.

    Returns:
        The posterior odds; the prior ones are (n - k)/k. To the tolerance of the solver, usually 1e-9: an estimate, not a bound.

    Examples:
        >>> round(largest_posterior_odds(4, 2, np.log(3.0)), 9)
        3.0
    """
    k = whole("k", k, 1)
    flags = subsets(n, k)
    if k == n:
        raise ValueError(f"k is {k}; it must be below n, so that the target can be out")
    slope = np.exp(number("epsilon", epsilon, 0.0, 30.0))
    both = _both_ways(adjacent_pairs(flags))
    first, second = _incidence(both, len(flags))
    inside = sparse.csr_array(flags[:, 0].astype(float)[None, :])
    gain = np.where(flags[:, 0], 0.0, 1.0)
    result = optimize.linprog(
        -gain,
        A_ub=first - slope * second,
        b_ub=np.zeros(len(both)),
        A_eq=inside,
        b_eq=[1.0],
        bounds=(0.0, None),
        method="highs",
    )
    return -float(result.fun)


def matching_size(n: int, k: int) -> tuple[int, int]:
    """How many k-sets without the target can be matched to different adjacent sets with it, and how many there are.

    Args:
        n: records.
        k: size of the sets, 1 <= k <= n.

    Returns:
        (size of a maximum matching, number of sets without the target); equal where an injection exists.

    Source: Izzo et al. (2024), lemma 12; Hopcroft and Karp (1973) for the matching.

    Examples:
        >>> matching_size(4, 2), matching_size(4, 1)
        ((3, 3), (1, 3))
    """
    flags = subsets(n, whole("k", k, 1)).astype(np.int32)
    inside, out = flags[flags[:, 0] == 1], flags[flags[:, 0] == 0]
    if len(out) == 0:
        return 0, 0
    graph = sparse.csr_array(out @ inside.T == k - 1)
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum()), len(out)


def bracket_injection(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """An explicit injection from the k-sets without the target (record 0) to adjacent k-sets with it, k >= n/2.

    Read the other n - 1 records as brackets, "(" for a member and ")" for a record left out, and match them. As
    k > n - 1 - k, some "(" stays unmatched; the first such record is replaced by the target. The matching stays the
    same, with the replaced record as the last unmatched ")", so the step can be undone.

    Args:
        n: records.
        k: size of the sets, n/2 <= k <= n.

    Returns:
        (sets without the target, their images), bool, both of shape (C(n - 1, k), n).

    Source: Greene and Kleitman (1976), symmetric chains by brackets.

    Examples:
        >>> before, after = bracket_injection(3, 2)
        >>> before.astype(int).tolist(), after.astype(int).tolist()
        ([[0, 1, 1]], [[1, 0, 1]])
    """
    if 2 * whole("k", k, 1) < whole("n", n, 2):
        raise ValueError(f"k is {k}; it must be at least n/2 = {n / 2:g}")
    every = subsets(n, k)
    before = every[~every[:, 0]]
    # Reading from the right, a "(" is unmatched when no ")" waits; the last one found is the first from the left.
    waiting, place = np.zeros(len(before), int), np.full(len(before), -1)
    for j in range(n - 1, 0, -1):
        opening = before[:, j]
        place[opening & (waiting == 0)] = j
        waiting = np.where(opening, np.maximum(waiting - 1, 0), waiting + 1)
    after = before.copy()
    after[np.arange(len(before)), place] = False
    after[:, 0] = True
    return before, after


def _both_ways(pairs: np.ndarray) -> np.ndarray:
    return np.concatenate([pairs, pairs[:, ::-1]])


def _incidence(pairs: np.ndarray, sets: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Matrices that pick the first and the second set of each pair."""
    rows = np.arange(len(pairs))
    ones = np.ones(len(pairs))
    shape = (len(pairs), sets)
    return tuple(sparse.csr_array((ones, (rows, pairs[:, c])), shape=shape) for c in (0, 1))  # pyright: ignore


def _solve(cost: np.ndarray, matrix: object, bound: np.ndarray, box: tuple[float, float]) -> float:
    return -float(optimize.linprog(cost, A_ub=matrix, b_ub=bound, bounds=box, method="highs").fun)
