"""The exact law of an additive score of Bernoulli sums, by tables of its terms."""

from weakref import WeakKeyDictionary

import jax.numpy as jnp
import numpy as np

from mipsim._budget import check_memory
from mipsim.attacks.base import AbstractAdditiveAttack
from mipsim.distributions.bernoulli import Bernoulli
from mipsim.exact.atoms import beside, convolve, rounding
from mipsim.exact.binomial import (
    binomial_error,
    binomial_probabilities,
    binomial_relative_error,
    one_trial_less,
    outside,
    window,
)
from mipsim.exact.derived_laws import linked, mixed_with_out
from mipsim.exact.rounding import EPS
from mipsim.forms.problem import FixedProblem
from mipsim.forms.score import terms_at
from mipsim.tradeoff.score_law import AbstractScoreLaw

_WORK = 2**22  # outcomes that are multiplied out
_CELL = 160  # bytes that a count of a coordinate takes while the tables are built and read, measured

Tables = tuple[np.ndarray, np.ndarray, np.ndarray]
"""What `count_tables` returns."""

# two routes of the same problem read the same tables
_KNOWN: WeakKeyDictionary[FixedProblem, Tables | None] = WeakKeyDictionary()


def table_law(problem: FixedProblem) -> AbstractScoreLaw | None:
    """A sum of a single term per coordinate of a mean of Bernoulli rows without noise, such as the likelihood ratio, where its outcomes are few.
    Raises ValueError if the attack's contributions are NaN or +inf at a count that can occur.
    """
    result = count_tables(problem)
    if result is None:
        return None
    attack, inclusion = problem.attack, problem.mean.inclusion
    assert isinstance(attack, AbstractAdditiveAttack)
    terms, probability, each = result
    assert isinstance(problem.data, Bernoulli)
    law = _few(terms, probability, each, binomial_relative_error(problem.mean.rows, problem.data.p))
    target = jnp.asarray(problem.target)
    return law and linked(mixed_with_out(law, inclusion), lambda total: attack.link(target, total))


def count_tables(problem: FixedProblem) -> Tables | None:
    """The terms of every coordinate at the counts of ones that can occur; None where the score is no sum of such terms.
    Returns Terms and probabilities, both of shape (2, d, K): entry k of world "out" is at the count first_j + k of all
    rows, of "in" at first_j + k of the others, beside the target. Then bounds on the
    error of each coordinate's probabilities in total variation, twice over, shape (d,). Raises ValueError if a term is
    NaN or +inf at a count that can occur, or the tables would be too large.
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


def _few(
    terms: np.ndarray, probability: np.ndarray, lost: np.ndarray, known: list[tuple[float, float]]
) -> AbstractScoreLaw | None:
    d, size = terms.shape[1:]
    if (d + (d > 1)) * np.log(size) > np.log(_WORK):
        return None
    # A logarithm near 0 has lost the digits of a number near 1. What carries no mass has no say in the unit of the others.
    likely = np.where(np.isfinite(terms) & (probability >= EPS), np.abs(terms), 0.0)
    near = rounding(np.abs(terms) + np.minimum(likely.max(axis=(0, 2)), 1.0)[:, None])
    tables = [
        beside(
            (terms[0, j], probability[0, j], near[0, j]),
            (terms[1, j], probability[1, j], near[1, j]),
            float(lost[j]),
            *known[j],
        )
        for j in range(d)
    ]
    return convolve(tables)
