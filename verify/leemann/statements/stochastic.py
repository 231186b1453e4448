"""Theorem 4.1: the stochastic composition of trade-off functions is a trade-off function."""

from functools import reduce

import numpy as np

from mipsim import referee as rf
from mipsim.tradeoff.stochastic import stochastic_composition
from verify.leemann.laws.problems import FAMILIES, min_plus, random_family, random_polygons
from verify.statement import Statement, where_in

RANDOM, WHOLE = "random", "polygons in whole numbers"

ALPHA = np.unique(np.concatenate([[0.0, 1.0], np.geomspace(1e-12, 0.1, 400), np.linspace(0, 1, 801)]))
LEAST = 1e-30
"""Continuity at 0 is judged between 0 and this FPR, at which no curve of the families has fallen by 1e-7."""


def fault(curves: str, targets: int, draw: int, line: float = 1.0) -> rf.Number:
    """How far the composed curve is from convex, non-increasing, at most line x (1 - alpha) and continuous at 0."""
    if curves == WHOLE:
        return whole_fault(random_polygons(targets, draw))
    members, weights = random_family(targets, draw) if curves == RANDOM else FAMILIES[curves]
    composed = stochastic_composition(members, weights)
    # The optimum over all splits is at most that of the split that gives each curve the same rate.
    start = float(sum(w * c.beta(0.0) for c, w in zip(members, weights, strict=True)))
    route = "exact optimum over all splits of alpha"
    beta = composed.beta(ALPHA)
    return largest(ALPHA, beta, line * (1 - ALPHA), start, float(composed.beta(LEAST)), 1.0, route)


def whole_fault(corners: np.ndarray) -> rf.Number:
    """The same for equally likely targets with polygons in whole numbers, by min-plus convolution.

    Whole numbers of rates and heights, so that the definition itself is computed, without convexity and without rounding:
    at a total of j grid steps the least sum over all splits of j. Between grid totals the optimum is the chord.

    Args:
        corners: FNRs x grid^2 at the FPRs 0, 1/grid, ..., 1 of each target, shape (targets, grid + 1), whole numbers.
    """
    targets, grid = corners.shape[0], corners.shape[1] - 1
    least, total = reduce(min_plus, corners), np.arange(targets * grid + 1)
    line, start = targets * grid**2 - grid * total, corners[:, 0].sum()  # 1 - alpha in the same units
    return largest(
        total, least, line, start, least[0], targets * grid**2, "min-plus convolution in whole numbers"
    )


def largest(
    alpha: np.ndarray, beta: np.ndarray, line: np.ndarray, start: float, after: float, unit: float, route: str
) -> rf.Number:
    """The largest fault; `start` and `after`: the curve at 0 by its definition, and just above 0."""
    faults = {
        "rises": float(np.diff(beta).max()),
        "bends down": float((-np.diff(np.diff(beta) / np.diff(alpha)) * np.diff(alpha)[1:]).max()),
        "above 1 - alpha": float((beta - line).max()),
        "jumps just above 0": float(beta[0] - after),
        "jumps at 0": float(abs(beta[0] - start)),
    }
    worst = max(faults, key=lambda fault: faults[fault])
    return rf.Number(max(faults[worst], 0.0) / unit, route=route, detail=f"The largest fault: {worst}.")


_NAMED = {"targets": 2, "draw": 0}

THEOREM_4_1 = Statement(
    name="leemann-thm-4.1",
    formula=r"\min\left\{ E[h(x)(\bar\alpha(x))] : E[\bar\alpha(x)] = \alpha \right\}",
    says="The stochastic composition min { E[h(x)(abar(x))] : E[abar(x)] = alpha } of trade-off functions is convex, "
    "non-increasing, at most 1 - alpha, and continuous at 0.",
    kind=rf.Equality(1e-7, unit="FNR"),
    domain={
        "curves": rf.Choice(RANDOM, WHOLE, *FAMILIES, meaning="trade-off functions that are composed"),
        "targets": rf.Whole(1, np.inf, hunt_to=8, meaning="targets, equally likely"),
        "draw": rf.Whole(0, 10**6, meaning="seed of all that is sampled"),
    },
    # The named families are what they are.
    where=lambda curves, targets, draw: curves in (RANDOM, WHOLE) or (targets, draw) == (2, 0),
    claimed=lambda: 0.0,
    truth=fault,
    points=[{"curves": name} | _NAMED for name in (*FAMILIES, RANDOM, WHOLE)],
    control=rf.Control(
        {"curves": "Gaussian"} | _NAMED, shift=-0.03, truth=lambda factor, **at: fault(**at, line=factor)
    ),
    quote=rf.Quote(
        "The stochastic composition of trade-off functions h(x) maintains the characteristics of a trade-off function, i.e., it "
        "is convex, non-increasing, (⊗ h(x))(r) <= 1 - r for all r in [0, 1], and it is continuous at zero.",
        "theorem 4.1",
    ),
    restricted_by=(
        rf.Quote(
            "For a global α ∈ [0, 1] the stochastic composition of these trade-functions is defined as (⊗ h(x))(α) = min {β_h(ᾱ)}, "
            "(supposing the minimum exists), the smallest global false negative rate possible at a global FPR of α.",
            "definition 4.1, below equation 6",
        ),
    ),
    derivation=(
        "Convex: mixing two splits mixes their FPRs, and h(x) is convex. Non-increasing: a split of mean alpha plus a share of what is "
        "left to 1 has a larger mean and no larger FNR. At most 1 - alpha: the constant split. Continuous at 0: for splits of mean 2^-k "
        "the sum of the means is finite, so that they tend to 0 almost surely, h(x) of them to h(x)(0), and the expectation with it "
        "(dominated convergence); the curve is monotone, so that no other sequence does better. The splits are taken to be measurable "
        "and an infimum where the minimum does not exist."
    ),
    matters_when=dict.fromkeys(("targets", "draw"), where_in("curves", RANDOM, WHOLE)),
)
STATEMENTS = (THEOREM_4_1,)
