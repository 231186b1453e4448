"""The worst algorithms of the subset game: the largest advantage that differential privacy allows, over ALL algorithms.

An attack is a set of outputs, and asking whether the output lies in it is post-processing. So the worst
(epsilon, delta)-DP algorithm is a number q(D) = P(A(D) in the set) for each training set D, and the search
over all algorithms is a linear program over these numbers.
"""

import numpy as np
import scipy

from mipsim._validation import number, whole
from verify.izzo.laws.subset_enumeration import half, subsets


def adjacent_pairs(flags: np.ndarray) -> np.ndarray:
    """Pairs (i, j), i < j, of the sets that differ by a replaced record: int, shape (pairs, 2).
    `flags`: sets of the same size as membership flags, shape (m, n), as from `subsets`.

    >>> from verify.izzo.laws.subset_enumeration import subsets
    >>> len(adjacent_pairs(subsets(4, 2)))  # each of the 6 sets has 4 neighbours
    12
    """
    member = flags.astype(np.int32)
    common = member @ member.T
    return np.argwhere(np.triu(common == member[0].sum() - 1, 1))


def largest_dp_eta(n: int, epsilon: float, delta: float) -> tuple[float, float]:
    """Return proven bounds on the largest eta of any (epsilon, delta)-DP algorithm on n records, by linear programming.

    Maximise mean q over the sets with the target minus mean q over those without it, halved, subject to
    q(D) <= e^epsilon q(D') + delta and 1 - q(D) <= e^epsilon (1 - q(D')) + delta for all adjacent D, D'.

    The solver works to a tolerance. Its solution is moved towards q = 1/2 until every constraint holds, which gives an algorithm; its
    prices y >= 0 give, right or not, the bound b'y + sum max(0, gain - A'y) of weak duality.

    `n`: records, even; C(n, n/2) unknowns; `epsilon`: from 0 to 15: beyond, the solver takes e^-epsilon for 0; `delta`:
    in [0, 1]. Returns (low, high), usually within 1e-12: eta of an algorithm, and what no algorithm exceeds, to rounding.

    >>> low, high = largest_dp_eta(4, np.log(3.0), 0.0)
    >>> round(low, 9), round(high, 9)
    (0.25, 0.25)
    """
    flags = subsets(n, half(n))
    slope, slack = np.exp(number("epsilon", epsilon, 0.0, 15.0)), number("delta", delta, 0.0, 1.0)
    first, second = _incidence(flags)
    matrix = scipy.sparse.vstack([first - slope * second, slope * second - first]).tocsr()
    bound = np.repeat([slack, slack + slope - 1.0], first.nnz)
    gain = np.where(flags[:, 0], 1.0, -1.0) / flags[:, 0].sum()
    result = scipy.optimize.linprog(-gain, A_ub=matrix, b_ub=bound, bounds=(0.0, 1.0), method="highs")
    price = np.maximum(-result.ineqlin.marginals, 0.0)
    high = float(bound @ price + np.maximum(gain - matrix.T @ price, 0.0).sum())
    q = np.clip(result.x, 0.0, 1.0)
    room, over = slack + 0.5 * (slope - 1.0), float((matrix @ q - bound).max())
    share = over / (over + room) if over > 0.0 else 0.0
    return 0.5 * float(gain @ (q + share * (0.5 - q))), 0.5 * high


def largest_posterior_odds(n: int, k: int, epsilon: float) -> tuple[float, float]:
    """Return proven bounds on the largest P(x out | output) / P(x in | output) of any (epsilon, 0)-DP algorithm and output.

    A linear program: a number q(D) = P(output | D) for each set, scaled so that its sum over the sets with the target is 1. The
    solver's solution and prices are repaired as in `largest_dp_eta`: the solution by adding a constant, the prices by a factor.

    `n`: records; `k`: size of the training set, 1 <= k < n; `epsilon`: from 0 to 15: beyond, the solver takes e^-epsilon
    for 0. Returns (low, high) of the posterior odds; the prior ones are (n - k)/k.

    >>> low, high = largest_posterior_odds(4, 2, np.log(3.0))
    >>> round(low, 9), round(high, 9)
    (3.0, 3.0)
    """
    k = whole("k", k, 1)
    flags = subsets(n, k)
    if k == n:
        raise ValueError(f"k is {k}; it must be below n, so that the target can be out")
    slope = np.exp(number("epsilon", epsilon, 0.0, 15.0))
    first, second = _incidence(flags)
    matrix, member = (first - slope * second).tocsr(), flags[:, 0]
    program = {
        "A_ub": matrix,
        "b_ub": np.zeros(first.nnz),
        "A_eq": scipy.sparse.csr_array(member.astype(float)[None, :]),
        "b_eq": [1.0],
        "bounds": (0.0, None),
    }
    gain = np.where(member, 0.0, -1.0)
    result = scipy.optimize.linprog(gain, method="highs", **program)
    if result.x is None:  # the simplex method seldom gives up
        result = scipy.optimize.linprog(gain, method="highs-ipm", **program)
    # What the prices pay for each set must be at least 1 where the target is out; then -min over the others bounds the odds.
    paid = matrix.T @ np.maximum(-result.ineqlin.marginals, 0.0)
    least = float(paid[~member].min())
    high = float(-paid[member].min() / least) if least > 0.0 else float("inf")
    q = np.maximum(result.x, 0.0)
    # The constant that makes the worst q(D) - slope q(D') at most 0; for slope 1 it is the constant q alone that is sure to do.
    over = float((matrix @ q).max())
    q = q if over <= 0.0 else q + over / (slope - 1.0) if slope > 1.0 else np.ones(len(q))
    return float(q[~member].sum() / q[member].sum()), high


def matching_size(n: int, k: int) -> tuple[int, int]:
    """How many k-sets without the target can be matched to different adjacent sets with it, and how many there are.
    `n`: records; `k`: size of the sets, 1 <= k <= n. Returns (size of a maximum matching, number of sets without the
    target); equal where an injection exists.

    Source: Izzo et al. (2024), lemma 12; Hopcroft and Karp (1973) for the matching.

    >>> matching_size(4, 2), matching_size(4, 1)
    ((3, 3), (1, 3))
    """
    flags = subsets(n, whole("k", k, 1)).astype(np.int32)
    inside, out = flags[flags[:, 0] == 1], flags[flags[:, 0] == 0]
    if len(out) == 0:
        return 0, 0
    graph = scipy.sparse.csr_array(out @ inside.T == k - 1)
    return int((scipy.sparse.csgraph.maximum_bipartite_matching(graph, perm_type="column") >= 0).sum()), len(
        out
    )


def bracket_injection(n: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """An explicit injection from the k-sets without the target (record 0) to adjacent k-sets with it, k >= n/2.

    Read the other n - 1 records as brackets, "(" for a member and ")" for a record left out, and match them. As
    k > n - 1 - k, some "(" stays unmatched; the first such record is replaced by the target. The matching stays the
    same, with the replaced record as the last unmatched ")", so the step can be undone.

    `n`: records; `k`: size of the sets, n/2 <= k <= n. Returns (sets without the target, their images), bool, both of
    shape (C(n - 1, k), n).

    Source: Greene and Kleitman (1976), symmetric chains by brackets.

    >>> before, after = bracket_injection(3, 2)
    >>> before.astype(int).tolist(), after.astype(int).tolist()
    ([[0, 1, 1]], [[1, 0, 1]])
    """
    if 2 * whole("k", k, 1) < whole("n", n, 2):
        raise ValueError(f"k is {k}; it must be at least n/2 = {n / 2:g}")
    every = subsets(n, k)
    before = every[~every[:, 0]]
    # Reading from the right, a "(" is unmatched when no ")" waits; the last is the first from the left.
    waiting, place = np.zeros(len(before), int), np.full(len(before), -1)
    for j in range(n - 1, 0, -1):
        opening = before[:, j]
        place[opening & (waiting == 0)] = j
        waiting = np.where(opening, np.maximum(waiting - 1, 0), waiting + 1)
    after = before.copy()
    after[np.arange(len(before)), place] = False
    after[:, 0] = True
    return before, after


def _incidence(flags: np.ndarray) -> tuple[scipy.sparse.csr_array, scipy.sparse.csr_array]:
    """Matrices that pick the first and the second set of each adjacent pair, either way round."""
    pairs = adjacent_pairs(flags)
    pairs = np.concatenate([pairs, pairs[:, ::-1]])
    rows, ones, shape = np.arange(len(pairs)), np.ones(len(pairs)), (len(pairs), len(flags))
    return tuple(scipy.sparse.csr_array((ones, (rows, pairs[:, c])), shape=shape) for c in (0, 1))  # pyright: ignore
