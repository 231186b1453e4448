"""The notion itself: theorem 4.1 (stochastic composition) and theorem 4.2 (f-DP implies f-MIP)."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from mipsim.tradeoff import (
    AbstractTradeOff,
    ApproxDPTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    PiecewiseLinearTradeOff,
    SampledTradeOff,
    stochastic_composition,
)
from mipsim.tradeoff.points import polygon
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import judge_identity

EXACT = 1e-9
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


def split_regime(name: str, floor: float = 0.0) -> Regime:
    """How far the composed curve is from convex, non-increasing, at most 1 - alpha and continuous at 0."""
    parameters = {"curves": name, "weights": list(FAMILIES[name][1])}

    def judge(_: Budget) -> RegimeResult:
        curves, weights = FAMILIES[name]
        composed = stochastic_composition(curves, weights)
        beta = np.maximum(composed.beta(ALPHA), floor * (1 - ALPHA**2))
        slopes = np.diff(beta) / np.diff(ALPHA)
        faults = {
            "rises": float(np.diff(beta).max()),
            "bends down": float((-np.diff(slopes) * np.diff(ALPHA)[1:]).max()),
            "above 1 - alpha": float((beta - (1 - ALPHA)).max()),
        }
        faults["jumps just above 0"] = float(beta[0] - composed.beta(LEAST))
        start = float(sum(w * c.beta(0.0) for c, w in zip(curves, weights, strict=True)))
        # The optimum of a finite family over all splits is at most the split that gives each curve the same rate,
        # and by convexity at least what the steepest curve gains: both meet at rate zero.
        faults["jumps at 0"] = float(abs(beta[0] - start))
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


VALUES, ROWS, OUTPUTS = 3, 2, 4


def random_laws(kind: str, seed: int) -> np.ndarray:
    """Output laws of a mechanism for every ordered data set of ROWS values, shape (VALUES,) * ROWS + (OUTPUTS,)."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.3, size=(*(VALUES,) * ROWS, OUTPUTS))
    if kind == "sparse":
        weights *= rng.random(weights.shape) < 0.6
    laws = (weights + 1e-12) / (weights + 1e-12).sum(axis=-1, keepdims=True)
    return laws if kind != "little exposure" else 0.1 * laws + 0.9 * laws.mean(axis=(0, 1))


def response_laws(values: int, epsilon: float) -> np.ndarray:
    """Randomised response to the one record: e^epsilon times likelier to be told truly than as any other value."""
    weights = np.ones((values, values)) + np.expm1(epsilon) * np.eye(values)
    return weights / weights.sum(axis=1, keepdims=True)


def finite_curve(out: np.ndarray, inside: np.ndarray) -> SampledTradeOff:
    """The exact trade-off function of two finite laws."""
    likeliest = np.argsort(-inside / out)
    alpha, _, beta, tpr = polygon(out[likeliest], inside[likeliest], 0.0, 0.0)
    return SampledTradeOff(alpha, beta, tpr)


def implication_regime(kind: str, mechanisms: int, prior: tuple[float, ...]) -> Regime:
    """Random mechanisms on three values and two rows: the MIP curve against the least curve of neighbouring data sets."""
    parameters = {
        "mechanisms": f"{mechanisms} random finite ones, {kind}",
        "data law": list(prior),
        "rows": ROWS,
    }

    def judge(_: Budget) -> RegimeResult:
        found = [random_laws(kind, seed) for seed in range(mechanisms)]
        gaps = [violation(laws, laws, np.array(prior)) for laws in found]
        worst = int(np.argmax(gaps))
        return _judged(gaps[worst], parameters, f"largest at mechanism {worst}")

    return Regime(f"{kind}, data law {prior}", parameters, judge, random=False)


def response_regime(values: int, epsilon: float, promised: float = 1.0) -> Regime:
    """Randomised response among many values, where MIP is nearly as strong as DP; `promised` times epsilon is claimed."""
    parameters = {
        "mechanism": "randomised response",
        "values": values,
        "epsilon": epsilon,
        "data law": "uniform",
        "rows": 1,
    }

    def judge(_: Budget) -> RegimeResult:
        laws, promise = response_laws(values, epsilon), response_laws(values, promised * epsilon)
        gap = violation(laws, promise, np.full(values, 1 / values))
        return _judged(gap, parameters, "nearly tight: all other values together look like a stranger")

    return Regime(
        f"randomised response, {values} values, epsilon = {epsilon:g}", parameters, judge, random=False
    )


def _judged(gap: float, parameters: dict[str, object], detail: str) -> RegimeResult:
    return judge_identity(
        gap,
        EXACT,
        parameters,
        unit="FNR promised less FNR",
        route="enumeration",
        detail=detail,
        reading="neighbouring data sets differ by one replaced record: the algorithm is a map from D^n, n fixed",
        one_sided=True,
    )


def violation(laws: np.ndarray, promise: np.ndarray, prior: np.ndarray) -> float:
    """How far the MIP curve of `laws` falls below the DP curve of `promise`, at its largest over alpha."""
    values, rows = laws.shape[0], laws.ndim - 1
    alpha = np.linspace(0.0, 1.0, 401)
    pairs = [
        (place, rest, value, other)
        for place in range(rows)
        for rest in product(range(values), repeat=rows - 1)
        for value, other in product(range(values), repeat=2)
        if value != other
    ]
    least = np.min(
        [
            finite_curve(
                promise[(*rest[:place], value, *rest[place:])], promise[(*rest[:place], other, *rest[place:])]
            ).beta(alpha)
            for place, rest, value, other in pairs
        ],
        axis=0,
    )
    # f is the largest trade-off function below all of them: the lower convex hull of their minimum.
    f = _lower_hull(alpha, least)

    def averaged(law: np.ndarray) -> np.ndarray:
        while law.ndim > 1:
            law = np.tensordot(prior, law, axes=1)
        return law

    out = averaged(laws)
    curves = [finite_curve(out, averaged(laws[target])) for target in range(values)]
    found = stochastic_composition(curves, prior).beta(alpha)
    return float((f - found).max())


def _lower_hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kept: list[int] = []
    for i in range(x.size):
        while len(kept) > 1 and (y[kept[-1]] - y[kept[-2]]) * (x[i] - x[kept[-2]]) >= (y[i] - y[kept[-2]]) * (
            x[kept[-1]] - x[kept[-2]]
        ):
            kept.pop()
        kept.append(i)
    return np.interp(x, x[kept], y[kept])


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
        partial(split_regime, "Gaussian", 0.9),
    ),
    Claim(
        "leemann-thm-4.2",
        "leemann",
        "An f-DP algorithm is f-MIP.",
        Kind.BOUND,
        EXACT,
        "FNR",
        {
            "algorithm": OneOf(
                ("random finite mechanisms, dense, sparse or of little exposure", "randomised response"),
                "any",
            ),
            "data law": OneOf(("uniform", "skewed", "one value almost surely"), "any"),
            "adjacency": OneOf(
                ("replace one",),
                "n is fixed as printed, A: D^n -> R^d; for adding or removing a record the statement is false (a finite "
                "counterexample is among the tests)",
            ),
        },
        (
            *(
                implication_regime(kind, 20, prior)
                for kind in ("dense", "sparse", "little exposure")
                for prior in ((1 / 3, 1 / 3, 1 / 3), (0.8, 0.15, 0.05), (0.998, 0.001, 0.001))
            ),
            *(response_regime(values, epsilon) for values in (2, 12, 40) for epsilon in (0.1, 1.0, 4.0)),
        ),
        partial(response_regime, 40, 1.0, 0.9),
    ),
)
