"""Theorem 4.1: the stochastic composition of trade-off functions is one."""

from __future__ import annotations

from functools import partial, reduce

import numpy as np

from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    PiecewiseLinearTradeOff,
    stochastic_composition,
)
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.limits import judge_identity

UNBOUNDED = float("inf")

FAMILIES: dict[str, tuple[tuple[AbstractTradeOff, ...], tuple[float, ...]]] = {
    "Gaussian": ((GaussianTradeOff(0.0), GaussianTradeOff(1.0), GaussianTradeOff(6.0)), (0.5, 0.4, 0.1)),
    "(epsilon, delta)": ((ApproxDPTradeOff(1.0, 0.0), ApproxDPTradeOff(3.0, 0.1)), (0.3, 0.7)),
    "disclosed at once": ((ApproxDPTradeOff(0.0, 1.0), GaussianTradeOff(0.5)), (0.2, 0.8)),
    "Laplace": ((LaplaceTradeOff(0.2), LaplaceTradeOff(4.0)), (0.99, 0.01)),
    "rare and steep": (
        tuple(PiecewiseLinearTradeOff([0.0, 10.0**-k, 1.0], [1.0, 0.0, 0.0]) for k in range(1, 9)),
        tuple(np.full(8, 1 / 8)),
    ),
    "asymmetric": (
        (PiecewiseLinearTradeOff([0.0, 0.1, 1.0], [0.9, 0.3, 0.0]), GaussianTradeOff(2.0)),
        (0.5, 0.5),
    ),
}

ALPHA = np.unique(np.concatenate([[0.0, 1.0], np.geomspace(1e-12, 0.1, 400), np.linspace(0, 1, 801)]))
LEAST = 1e-30
"""Continuity at 0 is judged between 0 and this FPR, at which no curve of the families has fallen by 1e-7."""


def split_regime(name: str, line: float = 1.0) -> Regime:
    """How far the composed curve is from convex, non-increasing, at most line x (1 - alpha) and continuous at 0."""
    parameters = {"curves": name, "weights": list(FAMILIES[name][1])}

    def judge(_: Budget) -> RegimeResult:
        curves, weights = FAMILIES[name]
        composed = stochastic_composition(curves, weights)
        beta = composed.beta(ALPHA)
        slopes = np.diff(beta) / np.diff(ALPHA)
        # The optimum over all splits is at most that of the split that gives each curve the same rate.
        start = float(sum(w * c.beta(0.0) for c, w in zip(curves, weights, strict=True)))
        faults = {
            "rises": float(np.diff(beta).max()),
            "bends down": float((-np.diff(slopes) * np.diff(ALPHA)[1:]).max()),
            "above 1 - alpha": float((beta - line * (1 - ALPHA)).max()),
            "jumps just above 0": float(beta[0] - composed.beta(LEAST)),
            "jumps at 0": float(abs(beta[0] - start)),
        }
        worst = max(faults, key=lambda fault: faults[fault])
        return judge_identity(
            max(faults[worst], 0.0),
            1e-7,
            parameters,
            unit="FNR",
            route="exact optimum over all splits of alpha",
            detail=f"the largest fault: {worst}",
            second_route=lambda: "linear program over splits on a grid, in the tests",
        )

    return Regime(name, parameters, judge, random=False)


def polygons_regime(corners: np.ndarray) -> Regime:
    """Equally likely targets with convex polygons in whole numbers: the optimum over all splits, by min-plus convolution.

    Whole numbers of rates and heights, so that the definition itself is computed, without convexity and without rounding:
    at a total of j grid steps the least sum over all splits of j. Between grid totals the optimum is the chord.

    Args:
        corners: FNRs x grid^2 at the FPRs 0, 1/grid, ..., 1 of each target, shape (targets, grid + 1), whole numbers.
    """
    targets, grid = corners.shape[0], corners.shape[1] - 1
    parameters = {"targets": targets, "grid": grid, "polygons": "random, convex, whole numbers"}

    def judge(_: Budget) -> RegimeResult:
        least = reduce(_min_plus, corners)
        line = targets * grid**2 - grid * np.arange(targets * grid + 1)  # 1 - alpha, in the same units
        faults = {
            "rises": int(np.diff(least).max()),
            "bends down": int(-np.diff(least, 2).min()),
            "above 1 - alpha": int((least - line).max()),
            "jumps at 0": int(abs(least[0] - corners[:, 0].sum())),
        }
        worst = max(faults, key=lambda fault: faults[fault])
        return judge_identity(
            max(faults[worst], 0) / (targets * grid**2),
            0.0,
            parameters,
            unit="FNR",
            route="min-plus convolution in whole numbers",
            detail=f"the largest fault: {worst}",
        )

    return Regime("polygons in whole numbers", parameters, judge, random=False)


def _min_plus(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    total = np.full(first.size + second.size - 1, np.iinfo(np.int64).max)
    for i, value in enumerate(second):
        total[i : i + first.size] = np.minimum(total[i : i + first.size], first + value)
    return total


def random_polygons(rng: np.random.Generator, count: int) -> list[Regime]:
    """Two to five targets with random convex polygons, some of them with a jump at 0 or reaching 0 early."""
    found = []
    for _ in range(count):
        grid, targets = int(rng.integers(3, 30)), int(rng.integers(2, 6))
        curves = []
        for _ in range(targets):
            # Falls of at least what keeps the curve below 1 - alpha: sorted, with a sum of at most grid^2.
            falls = np.sort(rng.multinomial(grid**2, rng.dirichlet(np.full(grid + 1, 0.5))))[::-1]
            heights = grid**2 - np.cumsum(np.concatenate([[falls[0] * rng.integers(0, 2)], falls[:grid]]))
            line = grid**2 - grid * np.arange(grid + 1)
            curves.append(_convex_below(np.minimum(np.maximum(heights, 0), line)))
        found.append(polygons_regime(np.array(curves)))
    return found


def _convex_below(heights: np.ndarray) -> np.ndarray:
    """The largest convex whole-number curve below these heights that does not rise: by its falls, made to decrease."""
    falls = -np.diff(heights)
    ordered = np.sort(falls)[::-1]  # the same ends, every sum of the first falls at least as large: below
    return np.concatenate([[heights[0]], heights[0] - np.cumsum(ordered)])


CLAIMS = (
    Claim(
        "leemann-thm-4.1",
        "leemann",
        "The stochastic composition min { E[h(x)(abar(x))] : E[abar(x)] = alpha } of trade-off functions is convex, "
        "non-increasing, at most 1 - alpha, and continuous at 0.",
        Kind.EXACT,
        1e-7,
        "FNR",
        {
            "curves": OneOf(
                tuple(FAMILIES), "any trade-off functions, symmetric or not, with f(0) < 1 or not"
            ),
            "weights": Between(0, 1, "any law of the target; finite ones are judged"),
            "alpha": Between(0, 1, "0, and from 1e-30"),
        },
        tuple(split_regime(name) for name in FAMILIES),
        Control(partial(split_regime, "Gaussian"), shift=-0.03),
        derivation=(
            "Convex: mixing two splits mixes their FPRs, and h(x) is convex. Non-increasing: a split of mean alpha plus a share of what is "
            "left to 1 has a larger mean and no larger FNR. At most 1 - alpha: the constant split. Continuous at 0: for splits of mean 2^-k "
            "the sum of the means is finite, so that they tend to 0 almost surely, h(x) of them to h(x)(0), and the expectation with it "
            "(dominated convergence); the curve is monotone, so that no other sequence does better. The splits are taken to be measurable "
            "and an infimum where the minimum does not exist."
        ),
        quote=quotes.THEOREM_4_1,
        restricted_by=(quotes.MINIMUM_EXISTS,),
        sampled=random_polygons,
    ),
)
