"""The subset game by enumeration: every half of a small data set, and the exact advantage of the best attack."""

from functools import lru_cache
from itertools import combinations, product
from math import comb

import numpy as np

from mipsim._validation import finite_matrix

LARGEST = 200_000
"""The most subsets that are enumerated: C(20, 10) = 184,756 of them fit."""


def half(n: int) -> int:
    """Return k = n/2, or say that n records have no half.
    >>> half(6)
    3
    """
    if n < 2 or n % 2:
        raise ValueError(f"n is {n}; it must be even, since D_train is half of the n records")
    return n // 2


def subsets(n: int, k: int) -> np.ndarray:
    """Every k-subset of n records as a row of flags, bool (C(n, k), n), read-only, in lexicographic order of the indices.
    `n`: records, >= 1; `k`: size of a subset, 0 <= k <= n. Raises ValueError if k exceeds n or there are more than
    200,000 subsets.

    >>> subsets(3, 2).astype(int).tolist()
    [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
    """
    if k > n:
        raise ValueError(f"k is {k}; it must be at most n = {n}")
    if comb(n, k) > LARGEST:
        raise ValueError(
            f"n is {n}; its {comb(n, k)} subsets are more than the {LARGEST} that are enumerated"
        )
    return _flags(n, k)


def half_subsets(n: int) -> np.ndarray:
    """Every half of n records, n even: the C(n, n/2) equally likely training sets; bool, shape (C(n, n/2), n).

    Source: Izzo, Yoon, Arik, Zou (2024), definition 1.

    >>> half_subsets(4).shape
    (6, 4)
    """
    return subsets(n, half(n))


def finite_eta(law: object, n: int) -> np.ndarray:
    """Sum over outputs of max(P(in, A), P(out, A)), less 1/2, for each target: the least eta of a finite algorithm.
    `law`: P(A(D) = output), shape (C(n, n/2), m), a row for each half in the order of `half_subsets`; `n`: records.
    Returns eta of each of the n targets, shape (n,); the algorithm is eta-MIP with the largest. A finite sum: right to
    (C(n, n/2) + m) 2^-52 for the law as it is given, whose rows may miss 1 by 1e-9.

    Source: Izzo et al. (2024), proposition 2.

    >>> print(finite_eta([[0.75, 0.25], [0.25, 0.75]], 2))  # randomised response with epsilon = log 3
    [0.25 0.25]
    """
    flags = half_subsets(n)
    table = finite_matrix("law", law)
    if len(table) != len(flags):
        raise ValueError(f"law has {len(table)} rows; it must have one for each of the {len(flags)} halves")
    if (table < -1e-12).any() or (np.abs(table.sum(axis=1) - 1.0) > 1e-9).any():
        raise ValueError("law holds a row that is no probability vector; each row must sum to 1")
    inside = flags.T.astype(float) @ table / len(flags)
    out = (~flags).T.astype(float) @ table / len(flags)
    return np.maximum(inside, out).sum(axis=1) - 0.5


def worlds(law: np.ndarray, n: int, target: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the output probabilities when the target is out and when it is in, each of shape (m,).
    `law`: as for `finite_eta`, a float array; `n`: records; `target`: which of them.

    >>> print(*worlds(np.array([[0.75, 0.25], [0.25, 0.75]]), 2, 0))
    [0.25 0.75] [0.75 0.25]
    """
    flags = half_subsets(n)[:, target]
    return law[~flags].mean(axis=0), law[flags].mean(axis=0)


def best_of_all_attacks(law: np.ndarray, n: int, target: int) -> tuple[float, float]:
    """Return the largest accuracy and the largest TPR - FPR over all 2^m deterministic attacks, in turn.

    The accuracy is counted literally, training set by training set; randomised attacks are averages of these.

    `law`: as for `finite_eta`, a float array with few columns; `n`: records; `target`: which of them.

    >>> best_of_all_attacks(np.array([[0.75, 0.25], [0.25, 0.75]]), 2, 0)
    (0.75, 0.5)
    """
    flags = half_subsets(n)[:, target]
    guesses = np.array(list(product((0.0, 1.0), repeat=law.shape[1])))
    says_in = law @ guesses.T  # P(attack says "in" | D), shape (sets, attacks)
    correct = np.where(flags[:, None], says_in, 1.0 - says_in).mean(axis=0)
    gap = says_in[flags].mean(axis=0) - says_in[~flags].mean(axis=0)
    return float(correct.max()), float(gap.max())


@lru_cache(maxsize=64)
def _flags(n: int, k: int) -> np.ndarray:
    chosen = np.array(list(combinations(range(n), k)), dtype=np.int64).reshape(comb(n, k), k)
    flags = np.zeros((comb(n, k), n), dtype=bool)
    flags[np.arange(len(flags))[:, None], chosen] = True
    flags.flags.writeable = False  # every caller gets the same array
    return flags
