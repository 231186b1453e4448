"""The notion itself: theorem 4.2, f-DP implies f-MIP."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np

from mipsim.referee.exact_judges import ROUNDING
from mipsim.tradeoff import (
    ApproxDPTradeOff,
    GaussianTradeOff,
    SampledTradeOff,
    stochastic_composition,
)
from mipsim.tradeoff.points import polygon
from verify.claim import Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.control import Control
from verify.leemann import quotes
from verify.leemann.laws import noisy_sum_curve
from verify.limits import curve_gap, judge_bound

UNBOUNDED = float("inf")

VALUES, ROWS, OUTPUTS = 3, 2, 4
REPLACE, ADD = "neighbours replace one record (A: D^n -> R^d, n fixed)", "neighbours add or remove one record"


def random_laws(kind: str, seed: int) -> np.ndarray:
    """Output laws of a mechanism for every ordered data set of ROWS values, shape (VALUES,) * ROWS + (OUTPUTS,)."""
    rng = np.random.default_rng(seed)
    weights = rng.gamma(0.3, size=(*(VALUES,) * ROWS, OUTPUTS))
    if kind == "sparse":
        weights *= rng.random(weights.shape) < 0.6
    laws = (weights + 1e-12) / (weights + 1e-12).sum(axis=-1, keepdims=True)
    return laws if kind != "little exposure" else 0.1 * laws + 0.9 * laws.mean(axis=(0, 1))


def finite_curve(out: np.ndarray, inside: np.ndarray) -> SampledTradeOff:
    """The exact trade-off function of two finite laws."""
    likeliest = np.argsort(-inside / out)
    alpha, _, beta, tpr = polygon(out[likeliest], inside[likeliest], 0.0, 0.0)
    return SampledTradeOff(alpha, beta, tpr)


def implication_regime(kind: str, seeds: tuple[int, ...], prior: tuple[float, ...]) -> Regime:
    """Random mechanisms on three values and two rows: the MIP curve against the least curve of neighbouring data sets."""
    parameters = {
        "mechanisms": f"finite ones, {kind}",
        "seeds": list(seeds),
        "data law": list(prior),
        "rows": ROWS,
    }

    def judge(_: Budget) -> RegimeResult:
        gaps = [violation(laws, np.array(prior)) for laws in (random_laws(kind, seed) for seed in seeds)]
        worst = int(np.argmax(gaps))
        return judge_bound(
            gaps[worst],
            parameters,
            unit="FNR promised less FNR",
            route="enumeration",
            detail=f"largest for seed {seeds[worst]}",
        )

    shown = ", ".join(f"{p:.3g}" for p in prior)
    return Regime(f"{kind}, data law ({shown})", parameters, judge, reading=REPLACE, random=False)


def random_implications(rng: np.random.Generator, count: int) -> list[Regime]:
    """Random mechanisms and random data laws."""
    kinds = ("dense", "sparse", "little exposure")
    return [
        implication_regime(
            str(rng.choice(kinds)),
            (int(rng.integers(1 << 31)),),
            tuple(rng.dirichlet(np.ones(VALUES)).tolist()),
        )
        for _ in range(count)
    ]


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
        law = np.ones(values)
        law[0] = np.exp(epsilon)
        law /= law.sum()
        # All targets have the same curve, and all neighbours, since values can be renamed.
        found, claimed = (
            finite_curve(np.full(values, 1 / values), law),
            ApproxDPTradeOff(promised * epsilon, 0.0),
        )
        alpha = np.unique(np.concatenate([found.alpha, [0.0, 1.0, 1 / (1 + np.exp(promised * epsilon))]]))
        return judge_bound(
            float((claimed.beta(alpha) - found.beta(alpha)).max()),
            parameters,
            unit="FNR promised less FNR",
            route="enumeration",
            detail="nearly tight: all other values together look like a stranger",
        )

    return Regime(
        f"randomised response, {values} values, epsilon = {epsilon:g}",
        parameters,
        judge,
        reading=REPLACE,
        random=False,
    )


def noisy_sum_regime(
    n: int, mu: float, *, adjacency: str = REPLACE, own: float = 0.5, promise: float = 1.0, noise: float = 1.0
) -> Regime:
    """The noisy sum of n gradients +-C, with the noise that makes it mu-GDP: is it mu-GMIP?

    Args:
        n: rows.
        mu: of the DP guarantee.
        adjacency: which neighbours the noise is for: one gradient moves the sum by 2C where it is replaced, by C where it is
            added or removed.
        own: the probability of the target's value among the gradients.
        promise: times mu is claimed.
        noise: divides the noise (negative control).
    """
    parameters = {"n": n, "mu": mu, "gradients": "+-C", "probability of the target's value": own}

    def judge(_: Budget) -> RegimeResult:
        shift = noise * mu / (2.0 if adjacency == REPLACE else 1.0)
        found = curve_gap(
            noisy_sum_curve(n, shift, own), GaussianTradeOff(promise * mu), "the best test", resolution=1e-4
        )
        return judge_bound(
            found,
            parameters,
            reading=adjacency,
            second_route=partial(_summed, n, shift, own, promise * mu),
            detail=f"noise of standard deviation {1 / shift:.3g} C on the sum",
        )

    name = f"noisy sum, n = {n}, mu = {mu:g}, target's value {own:g}, {'replace' if adjacency == REPLACE else 'add'}"
    return Regime(name, parameters, judge, reading=adjacency, random=False)


def _summed(n: int, shift: float, own: float, mu: float) -> str:
    """The same by drawing the sums and the noise."""
    rng, games = np.random.default_rng(0), 1_000_000
    out = shift * (2.0 * rng.binomial(n, own, games) - n) + rng.standard_normal(games)
    inside = shift * (2.0 * rng.binomial(n - 1, own, games) - n + 2.0) + rng.standard_normal(games)
    cut = np.quantile(out, 0.2)
    promised = float(GaussianTradeOff(mu).beta(np.array([0.8]))[0])
    return f"NumPy, {games:,} sums in each world (seed 0): FNR {(inside < cut).mean():.5f} at FPR 0.8, where {promised:.5f} is promised"


def violation(laws: np.ndarray, prior: np.ndarray) -> float:
    """How far the MIP curve of `laws` falls below their DP curve, at its largest over alpha: at a corner of either."""
    values, rows = laws.shape[0], laws.ndim - 1
    neighbours = [
        finite_curve(laws[(*rest[:place], value, *rest[place:])], laws[(*rest[:place], other, *rest[place:])])
        for place in range(rows)
        for rest in product(range(values), repeat=rows - 1)
        for value, other in product(range(values), repeat=2)
        if value != other
    ]

    def averaged(law: np.ndarray) -> np.ndarray:
        while law.ndim > 1:
            law = np.tensordot(prior, law, axes=1)
        return law

    curves = [finite_curve(averaged(laws), averaged(laws[target])) for target in range(values)]
    found = stochastic_composition(curves, prior)
    corners = [c.alpha for c in (*neighbours, *curves)]
    splits = np.add.outer(
        np.add.outer(prior[0] * curves[0].alpha, prior[1] * curves[1].alpha), prior[2] * curves[2].alpha
    )
    alpha = np.unique(np.clip(np.concatenate([*corners, splits.ravel(), [0.0, 1.0]]), 0.0, 1.0))
    # f is the largest trade-off function below all neighbours: the lower convex hull of their minimum.
    least = np.min([curve.beta(alpha) for curve in neighbours], axis=0)
    return float((_lower_hull(alpha, least) - found.beta(alpha)).max())


def _lower_hull(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    kept: list[int] = []
    for i in range(x.size):
        while len(kept) > 1 and (y[kept[-1]] - y[kept[-2]]) * (x[i] - x[kept[-2]]) >= (y[i] - y[kept[-2]]) * (
            x[kept[-1]] - x[kept[-2]]
        ):
            kept.pop()
        kept.append(i)
    return np.interp(x, x[kept], y[kept])


_REPLACED = (
    *(
        implication_regime(kind, tuple(range(20)), prior)
        for kind in ("dense", "sparse", "little exposure")
        for prior in ((1 / 3, 1 / 3, 1 / 3), (0.8, 0.15, 0.05), (0.998, 0.001, 0.001))
    ),
    *(response_regime(values, epsilon) for values in (2, 12, 400) for epsilon in (0.1, 1.0, 4.0)),
    *(noisy_sum_regime(n, mu, own=own) for n, mu, own in ((1, 1.0, 0.5), (5, 1.0, 1e-3), (20, 4.0, 0.5))),
)
_ALGORITHMS = OneOf(
    ("random finite mechanisms, dense, sparse or of little exposure", "randomised response", "noisy sums"),
    "any",
)
_DATA = OneOf(("uniform", "skewed", "one value almost surely"), "any")

CLAIMS = (
    Claim(
        "leemann-thm-4.2",
        "leemann",
        "An f-DP algorithm is f-MIP.",
        Kind.BOUND,
        ROUNDING,
        "FNR promised less FNR",
        {
            "algorithm": _ALGORITHMS,
            "data law": _DATA,
            "adjacency": OneOf(
                (REPLACE, ADD),
                "n is fixed in the theorem; the example of table 1, S = {} and S' = {10^6}, adds a record",
            ),
        },
        (
            *_REPLACED,
            *(noisy_sum_regime(n, mu, adjacency=ADD) for n, mu in ((1, 1.0), (2, 1.0), (5, 2.0))),
        ),
        Control(partial(response_regime, 400, 1.0), shift=-0.03),
        corrected_by="leemann-thm-4.2-corrected",
        quote=quotes.THEOREM_4_2,
        restricted_by=(quotes.DIFFER_BY_ONE, quotes.ADDED_INSTANCE),
        sampled=random_implications,
    ),
    Claim(
        "leemann-thm-4.2-corrected",
        "leemann",
        "An algorithm that is f-DP for neighbours that differ by one replaced record is f-MIP. One that is f-DP both ways for an "
        "added or removed record is (f o (1 - f))-MIP, 2 mu-GMIP for f = G_mu.",
        Kind.BOUND,
        ROUNDING,
        "FNR promised less FNR",
        {
            "algorithm": _ALGORITHMS,
            "data law": _DATA,
            "adjacency": OneOf((REPLACE, ADD), "added or removed: twice the mu"),
        },
        (
            *_REPLACED,
            *(
                noisy_sum_regime(n, mu, adjacency=ADD, promise=2.0)
                for n, mu in ((1, 1.0), (2, 1.0), (5, 2.0))
            ),
        ),
        Control(partial(response_regime, 400, 1.0), shift=-0.03),
        corrects="leemann-thm-4.2",
        derivation=(
            "Fix the target x'. Out the output is a mixture over (X, x) of A(X + x), in it is the same mixture of A(X + x'): "
            "neighbours by one replaced record. A test with FPR a_i between the i-th pair has FNR at least f(a_i), so that between the "
            "mixtures its FNR is at least E f(a_i) >= f(E a_i), as f is convex (Jensen). Over the targets likewise: E f(abar(x')) >= "
            "f(alpha). For an added or removed record X lies between X + x and X + x': a test with FPR a under X + x has power "
            "at most 1 - f(a) under X, and so FNR at least f(1 - f(a)) under X + x', as f falls; this function is convex and below 1 - a, "
            "and the same argument applies (Dong, Roth and Su 2022, group privacy)."
        ),
        quote=quotes.THEOREM_4_2,
        same_formula=True,
        sampled=random_implications,
    ),
)
