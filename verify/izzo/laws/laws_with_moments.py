"""Centred laws with a given absolute moment, and the probabilities of their tails."""

from math import gamma, pi, sqrt

import numpy as np
import scipy

CENTRED = {
    "normal": (lambda: scipy.stats.norm, lambda q: 2 ** (q / 2) * gamma((q + 1) / 2) / sqrt(pi)),
    "Laplace": (lambda: scipy.stats.laplace, lambda q: gamma(q + 1)),
    "uniform": (lambda: scipy.stats.uniform(-1, 2), lambda q: 1 / (q + 1)),
    "Student t, 9 df": (
        lambda: scipy.stats.t(9),
        lambda q: 3**q * gamma((q + 1) / 2) * gamma((9 - q) / 2) / (sqrt(pi) * gamma(4.5)),
    ),
}
"""Name -> (what gives a centred law, E|X|^q)."""
WORST = "the worst of all laws on a grid"


def largest_tail(bound: float, exponent: float, threshold: float) -> float:
    """The largest P(|X| > threshold) of all centred laws with E|X|^exponent <= bound, by a linear program on a grid.

    The grid holds the points just above the threshold. The solver's result is made symmetric and scaled down to a law that keeps every
    constraint, so that the number is that of a law.
    """
    grid = np.concatenate([[0.0], np.geomspace(0.1, 0.999, 12), [1 + 1e-9], np.geomspace(1.01, 10.0, 30)])
    x = np.concatenate([-grid[:0:-1], grid])  # in units of the threshold
    cost = np.abs(x / x[-1]) ** exponent
    most = min(1.0, bound / (threshold * x[-1]) ** exponent)
    result = scipy.optimize.linprog(
        -(np.abs(x) > 1.0).astype(float),
        A_ub=cost[None, :],
        b_ub=[most],
        A_eq=np.vstack([np.ones_like(x), x]),
        b_eq=[1.0, 0.0],
        bounds=(0.0, 1.0),
        method="highs",
    )
    p = np.maximum(result.x, 0.0)
    p = 0.5 * (p + p[::-1]) * (x != 0.0)  # the rest of the mass lies at 0
    return float(p[np.abs(x) > 1.0].sum() * min(1.0, 1.0 / p.sum(), most / (cost @ p))) if p.any() else 0.0


def tail(law: str, exponent: float, bound: float, threshold: float) -> float:
    """P(|X| > threshold) of a named law with E|X|^exponent = bound, or the largest of all laws."""
    if law == WORST:
        return largest_tail(bound, exponent, threshold)
    kind, moment = CENTRED[law]
    return 2.0 * float(kind().sf(threshold * (moment(exponent) / bound) ** (1 / exponent)))
