"""The terms of an additive score of Bernoulli sums, in tables."""

from weakref import WeakKeyDictionary

import numpy as np

from mipsim._budget import check_memory
from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.exact.binomial import binomial_error, binomial_probabilities, one_trial_less, outside, window
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import terms_at

_CELL = 160  # bytes that a count of a coordinate takes while the tables are built and read, measured

Tables = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What `count_tables` returns."""

# two routes of the same problem read the same tables
_KNOWN: WeakKeyDictionary[FixedProblem, Tables | None] = WeakKeyDictionary()


def count_tables(problem: FixedProblem) -> Tables | None:
    """The terms of every coordinate at the counts of ones that can occur; None where the score is no sum of such terms.
    Returns Terms and probabilities, both of shape (2, d, K): entry k of world "out" is at the count first_j + k of all
    rows, of "in" at first_j + k of the others, beside the target. Then bounds on the error of each coordinate's
    probabilities in total variation, twice over, shape (d,). Raises ValueError if a term is NaN or +inf at a count that
    can occur, or the tables would be too large.
    """
    if problem not in _KNOWN:
        _KNOWN[problem] = _count_tables(problem)
    return _KNOWN[problem]


def _count_tables(problem: FixedProblem) -> Tables | None:
    attack, mean, data = problem.attack, problem.mean, problem.data
    if not isinstance(attack, AbstractAdditiveAttack) or not isinstance(data, Bernoulli):
        return None
    if mean.is_noisy or mean.rate < 1.0:
        return None
    low, high = window(mean.rows, data.p)
    counts = int((high - low).max()) + 1
    check_memory(
        _CELL * data.dimension * counts,
        f"the exact curve, by tables of {data.dimension:,} coordinates with {counts:,} likely counts each,",
        "play the game, or take fewer coordinates or records",
    )
    count = low[:, None] + np.arange(float(counts))
    beside = np.minimum(count, mean.rows - 1.0) + problem.row[:, None]
    outputs = np.stack([count, beside], axis=1) / mean.rows
    terms = np.ascontiguousarray(terms_at(attack, problem.target, outputs).swapaxes(0, 1))
    probability = np.empty(terms.shape)
    probability[0] = binomial_probabilities(mean.rows, data.p, low, count.shape[1])
    probability[1] = one_trial_less(probability[0], mean.rows, low)
    probability *= count <= high[:, None]
    bad = (probability > 0.0) & (np.isnan(terms) | (terms == np.inf))
    if bad.any():
        world, j, k = (int(i) for i in np.argwhere(bad)[0])
        raise ValueError(
            f"attack {type(attack).__name__} contributes {terms[world, j, k]} at coordinate {j} for the count "
            f"{count[j, k]:g}; contributions must be numbers or -inf"
        )
    return terms, probability, binomial_error(mean.rows, data.p) + outside(mean.rows, data.p)
