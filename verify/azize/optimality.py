"""Theorem 2.1, by enumeration of every output."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from mipsim import referee as rf
from mipsim.exact.enumeration import best_deterministic_power, mean_game, roc_vertices

Worlds = tuple[np.ndarray, np.ndarray]

THRESHOLDS = "Pow_n as defined: thresholds only, no randomisation at ties"
RANDOMISED = "randomised at the threshold (section 2.2 allows randomised adversaries)"
CELLS = ("mechanism", "n", "kept", "p", "q", "z", "y")
MECHANISMS = ("mean", "mean of two columns", "mean of a sub-sample", "randomised response", "random laws")


def _cells(
    mechanism: str, n: int, kept: int, p: float, q: float, z: float, y: float
) -> tuple[np.ndarray, np.ndarray, int]:
    """(Bernoulli means, target, rows that are kept)."""
    d = 2 if mechanism == "mean of two columns" else 1
    return np.array([p, q][:d]), np.array([z, y][:d]), kept if mechanism == "mean of a sub-sample" else n


@lru_cache(maxsize=64)
def worlds(
    mechanism: str,
    n: int,
    kept: int,
    p: float,
    q: float,
    z: float,
    y: float,
    epsilon: float,
    outputs: int,
    spread: float,
    draw: int,
) -> Worlds:
    """The probabilities of each output, out and in."""
    if mechanism == "randomised response":
        keep = np.exp(epsilon) / (1 + np.exp(epsilon))
        return np.array([keep, 1 - keep]), np.array([1 - keep, keep])
    if mechanism == "random laws":
        rng = np.random.default_rng(draw)
        return rng.dirichlet(np.full(outputs, spread)), rng.dirichlet(np.full(outputs, spread))
    means, target, kept = _cells(mechanism, n, kept, p, q, z, y)
    _, out, inside = mean_game(means, n, target, kept)
    return out, inside


def ratio(out: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """log(in / out), +-1000 where one of them is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(inside > 0, np.where(out > 0, np.log(inside / out), 1e3), -1e3), -1e3, 1e3)


def _subset_sums(probability: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for one in probability:
        sums = np.concatenate([sums, sums + one])
    return sums


def best_randomised_power(out: np.ndarray, inside: np.ndarray, alpha: float) -> float:
    """The largest power of any test of size <= alpha: the upper hull of all sets of outputs."""
    sizes, powers = _subset_sums(out), _subset_sums(inside)
    order = np.lexsort((-powers, sizes))
    record = powers[order] > np.maximum.accumulate(np.append(-1.0, powers[order][:-1]))
    hull: list[tuple[float, float]] = []
    for x, y in zip(sizes[order][record].tolist(), powers[order][record].tolist(), strict=True):
        # A corner on or below the chord of its neighbours goes.
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (x - hull[-2][0]) <= (y - hull[-2][1]) * (
            hull[-1][0] - hull[-2][0]
        ):
            hull.pop()
        hull.append((x, y))
    return float(np.interp(alpha, *np.array(hull).T))


def by_thresholds(alpha: float, reading: str, **at: Any) -> float:
    """The power of the ratio's thresholds: the largest with FPR <= alpha, or randomised between two of them."""
    out, inside = worlds(**at)
    fpr, tpr = roc_vertices(ratio(out, inside), out, inside)
    return float(tpr[fpr <= alpha + 1e-12].max() if reading == THRESHOLDS else np.interp(alpha, fpr, tpr))


def by_all_tests(alpha: float, reading: str, **at: Any) -> rf.Number:
    """The best of all sets of outputs, or of all tests."""
    out, inside = worlds(**at)
    best = (
        best_deterministic_power(out, inside, np.array([alpha]))[0][0]
        if reading == THRESHOLDS
        else best_randomised_power(out, inside, alpha)
    )
    return rf.Number(float(best), route="enumeration of all subsets")


def by_literal_records(alpha: float, games: int = 200_000, **at: Any) -> str:
    """Draw records and outputs with NumPy and count how often the best set occurs in each world."""
    at.pop("reading")
    out, inside = worlds(**at)
    chosen = best_deterministic_power(out, inside, np.array([alpha]))[1][0]
    rng, mechanism, counts = np.random.default_rng(13), at["mechanism"], []
    for member in (False, True):
        if not mechanism.startswith("mean"):
            index = rng.choice(len(out), size=games, p=inside if member else out)
        else:
            n, (p, target, kept) = at["n"], _cells(*(at[name] for name in CELLS))
            outputs, _, _ = mean_game(p, n, target, kept)
            records = (rng.uniform(size=(games, n, len(p))) < p).astype(float)
            if member:
                records[np.arange(games), rng.integers(n, size=games)] = target
            order = rng.permuted(np.tile(np.arange(n), (games, 1)), axis=1)[:, :kept]
            means = np.take_along_axis(records, order[:, :, None], axis=1).mean(axis=1)
            index = np.argmin(np.abs(means[:, None] - outputs[None]).max(axis=2), axis=1)
        counts.append(float(chosen[index].mean()))
    fpr, tpr = roc_vertices(ratio(out, inside), out, inside)
    return (
        f"{games:,} literal games per world (NumPy, seed 13): the chosen set of outputs has FPR {counts[0]:.4f} (alpha = "
        f"{alpha:.4f}) and power {counts[1]:.4f} +- 0.005; the ratio's thresholds reach {tpr[fpr <= alpha + 1e-12].max():.4f}"
    )


def advantage_of_ratio(factor: float = 1.0, **at: Any) -> float:
    """The advantage of 1{l > 0}; `factor` spoils it for a control."""
    out, inside = worlds(**at)
    chosen = ratio(out, inside) > 0
    return factor * float(inside[chosen].sum() - out[chosen].sum())


def best_advantage(**at: Any) -> rf.Number:
    """The largest P_in - P_out of all sets of outputs."""
    out, inside = worlds(**at)
    return rf.Number(
        float((_subset_sums(inside) - _subset_sums(out)).max()), route="enumeration of all subsets"
    )


def total_variation(**at: Any) -> float:
    """Half the L1 distance."""
    out, inside = worlds(**at)
    return 0.5 * float(np.abs(inside - out).sum())


_WORLDS = {
    "mechanism": rf.Choice(*MECHANISMS),
    "n": rf.Whole(2, np.inf, hunt_to=10),
    "kept": rf.Whole(1, np.inf, hunt_to=9),
    "p": rf.Real(0.0, 1.0),
    "q": rf.Real(0.0, 1.0),
    "z": rf.Real(-np.inf, np.inf, hunt_to=2.0),
    "y": rf.Real(-np.inf, np.inf, hunt_to=2.0),
    "epsilon": rf.Real(0.0, np.inf, hunt_to=5.0),
    "outputs": rf.Whole(2, np.inf, hunt_to=12),
    "spread": rf.Real(0.1, 10.0, log=True),
    "draw": rf.Whole(0, 10**6),
}


def _few(mechanism: str, n: int, kept: int, z: float, y: float, outputs: int) -> bool:
    """So few data sets and outputs that all of their sets can be enumerated."""
    if not mechanism.startswith("mean"):
        return outputs <= 16
    if mechanism == "mean of two columns":
        return n <= (3 if z in (0.0, 1.0) and y in (0.0, 1.0) else 2)
    return kept < n <= 5 if mechanism == "mean of a sub-sample" else n <= (10 if z in (0.0, 1.0) else 6)


_PLAIN: dict[str, Any] = {
    "mechanism": "mean", "n": 10, "kept": 2, "p": 0.3, "q": 0.6, "z": 1.0, "y": 0.0, "epsilon": 1.0, "outputs": 12, "spread": 0.7, "draw": 0,
}  # fmt: skip
_CASES = {
    "mean, d = 1": (_PLAIN, 0.35),
    "mean, d = 2": (_PLAIN | {"mechanism": MECHANISMS[1], "n": 3}, 0.315),
    "mean, hardest": (
        _PLAIN | {"mechanism": MECHANISMS[1], "n": 3, "p": 0.1, "q": 0.8, "z": 0.0, "y": 1.0},
        0.775,
    ),
    "sub-sample": (_PLAIN | {"mechanism": MECHANISMS[2], "n": 4, "p": 0.4}, 0.48),
    "off support": (_PLAIN | {"n": 4, "p": 0.4, "z": 0.5}, 0.3),
    "randomised response": (_PLAIN | {"mechanism": MECHANISMS[3]}, 0.3),
    **{
        f"random laws {seed}": (_PLAIN | {"mechanism": MECHANISMS[4], "draw": seed}, 0.3) for seed in range(3)
    },
}
_POINTS = [rf.Point(at, name) for name, (at, _) in _CASES.items()]
_TWO = _CASES["mean, d = 2"][0]

POWER = rf.Statement(
    name="azize-thm-2.1a",
    says="For every alpha, target and score s: Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*), with Pow_n(s, alpha) the largest "
    "1 - beta over the thresholds whose type-I error is at most alpha.",
    source="Azize & Basu, theorem 2.1",
    kind=rf.Bound(unit="power"),
    domain=_WORLDS | {"alpha": rf.Real(0.0, 1.0), "reading": rf.Choice(THRESHOLDS, RANDOMISED)},
    where=_few,
    claimed=by_thresholds,
    truth=by_all_tests,
    points=[
        rf.Point(at | {"alpha": alpha, "reading": reading}, f"{name}, {'thresholds' if reading == THRESHOLDS else 'randomised'}")
        for reading in (THRESHOLDS, RANDOMISED)
        for name, (at, alpha) in _CASES.items()
    ],
    control=rf.Control(_TWO | {"alpha": 0.315, "reading": RANDOMISED}),
    quote=rf.Quote(
        "Optimal power: for all alpha in [0, 1], for all score s, for all target z*, Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*).",
        "theorem 2.1 (a); Pow_n(s, alpha, z*) = max over tau with alpha_n(A_{s, tau, z*}) <= alpha of 1 - beta_n (section 2.2)",
    ),
    restricted_by=(
        rf.Quote(
            "An adversary A_{z*} is a (possibly randomised) algorithm that takes as input o the output of the mechanism M, and generates a "
            "guess b ~ A_{z*}(o).",
            "section 2.2",
        ),
    ),
    second_route=by_literal_records,
)  # fmt: skip

STATEMENTS = (
    POWER,
    POWER.corrected(
        says="For every alpha and target, no test of size alpha, randomised or not, has more power than the likelihood-ratio test "
        "randomised at its threshold.",
        domain={"reading": rf.Fixed(RANDOMISED)},
        control=POWER.control,
        derivation=(
            "Neyman and Pearson: for 0 <= alpha <= 1 there are c in [0, inf] and q in [0, 1] such that phi* = 1{L > c} + q 1{L = c} has "
            "size exactly alpha, L = dP_in/dP_out, inf where P_out has no mass. If c < inf, (phi* - phi)(dP_in - c dP_out) >= 0 "
            "everywhere for any test phi, so one of size <= alpha has E_in(phi* - phi) >= c E_out(phi* - phi) >= 0; if c = inf, phi* is "
            "1 wherever P_out has no mass and the level is used up there. No condition on the laws is needed. Without randomisation the ratio's "
            "thresholds skip sizes, and between two of them another set of outputs can use the size that is left over: with "
            "discrete outputs the printed form fails."
        ),
    ),
    rf.Statement(
        name="azize-thm-2.1b",
        says="The attack 1{l_n > 0} has the largest advantage of all attacks, for every target.",
        source="Azize & Basu, theorem 2.1",
        kind=rf.Bound(unit="advantage"),
        domain=_WORLDS,
        where=_few,
        claimed=advantage_of_ratio,
        truth=best_advantage,
        points=_POINTS,
        control=rf.Control(_TWO),
        quote=rf.Quote(
            "Largest advantage: for all target z*, for all adversary A_{z*}, Adv_n(A_{Bayes, z*}) >= Adv_n(A_{z*}).",
            "theorem 2.1 (b)",
        ),
    ),
    rf.Statement(
        name="azize-thm-2.1c",
        says="The advantage of 1{l_n > 0} is the total variation TV(p_out, p_in).",
        source="Azize & Basu, theorem 2.1",
        kind=rf.Equality(1e-9, unit="advantage"),
        domain=_WORLDS,
        where=_few,
        claimed=total_variation,
        truth=lambda **at: advantage_of_ratio(**at),
        points=_POINTS,
        control=rf.Control(_TWO),
        quote=rf.Quote(
            "Optimal advantage as TV distance: Adv_n(A_{Bayes, z*}) = TV(p_n^out(. | z*) || p_n^in(. | z*)).",
            "theorem 2.1 (c), equation 2",
        ),
    ),
)
"""Theorem 2.1."""
