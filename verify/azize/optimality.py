"""Theorem 2.1, by enumeration of every output."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.spatial import ConvexHull

from mipsim.exact.enumeration import best_deterministic_power, mean_game, roc_vertices
from mipsim.referee.exact_judges import ROUNDING
from verify.claim import Between, Budget, Claim, Kind, OneOf, Quote, Regime, RegimeResult
from verify.control import Control
from verify.limits import judge_bound, judge_identity

Worlds = tuple[np.ndarray, np.ndarray]


def _mean(p: tuple[float, ...], n: int, target: tuple[float, ...], kept: int | None = None) -> Worlds:
    _, out, inside = mean_game(np.array(p), n, np.array(target), kept)
    return out, inside


def _random(outputs: int, seed: int) -> Worlds:
    rng = np.random.default_rng(seed)
    out, inside = rng.dirichlet(np.full(outputs, 0.7)), rng.dirichlet(np.full(outputs, 0.7))
    return out, inside


def _response(epsilon: float) -> Worlds:
    keep = np.exp(epsilon) / (1 + np.exp(epsilon))
    return np.array([keep, 1 - keep]), np.array([1 - keep, keep])


WORLDS: dict[str, tuple[dict[str, Any], Worlds]] = {
    "mean, d = 1": ({"mechanism": "mean", "n": 10, "p": [0.3], "target": [1]}, _mean((0.3,), 10, (1.0,))),
    "mean, d = 2": (
        {"mechanism": "mean", "n": 3, "p": [0.3, 0.6], "target": [1, 0]},
        _mean((0.3, 0.6), 3, (1.0, 0.0)),
    ),
    "mean, hardest": (
        {"mechanism": "mean", "n": 3, "p": [0.1, 0.8], "target": [0, 1]},
        _mean((0.1, 0.8), 3, (0.0, 1.0)),
    ),
    "sub-sample": (
        {"mechanism": "mean of 2 of 4 rows", "n": 4, "p": [0.4], "target": [1]},
        _mean((0.4,), 4, (1.0,), 2),
    ),
    "off support": ({"mechanism": "mean", "n": 4, "p": [0.4], "target": [0.5]}, _mean((0.4,), 4, (0.5,))),
    "randomised response": ({"mechanism": "randomised response", "epsilon": 1.0}, _response(1.0)),
    **{
        f"random law {seed}": ({"mechanism": "random law on 12 outputs", "seed": seed}, _random(12, seed))
        for seed in range(5)
    },
}


def _ratio(out: np.ndarray, inside: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.clip(np.where(inside > 0, np.where(out > 0, np.log(inside / out), 1e3), -1e3), -1e3, 1e3)


def deterministic_regime(name: str) -> Regime:
    """The printed power: the largest over thresholds with FPR <= alpha, no randomisation, against the best set."""
    parameters, (out, inside) = WORLDS[name]

    def judge(_: Budget) -> RegimeResult:
        fpr, tpr = roc_vertices(_ratio(out, inside), out, inside)
        levels = np.unique(np.concatenate([np.linspace(0.01, 0.99, 197), fpr]))
        best, chosen = best_deterministic_power(out, inside, levels)
        gaps = best - np.array([tpr[fpr <= alpha + 1e-12].max() for alpha in levels])
        worst = int(np.argmax(gaps))
        alpha = float(levels[worst])
        return judge_bound(
            float(gaps[worst]),
            parameters | {"alpha": round(alpha, 4)},
            unit="power",
            route="enumeration",
            reading=THRESHOLDS,
            detail="The best set of outputs is not an upper level set of the ratio."
            if gaps[worst] > ROUNDING
            else "",
            second_route=partial(by_literal_records, name, chosen[worst], alpha),
        )

    return Regime(f"{name}, deterministic", parameters, judge, THRESHOLDS, random=False)


def by_literal_records(name: str, chosen: np.ndarray, alpha: float, games: int = 200_000) -> str:
    """Draw records and outputs with NumPy and count how often the chosen set occurs in each world."""
    parameters, (out, inside) = WORLDS[name]
    rng = np.random.default_rng(13)
    counts = []
    for member in (False, True):
        if "p" not in parameters:
            index = rng.choice(len(out), size=games, p=inside if member else out)
        else:
            n, p, target = parameters["n"], np.array(parameters["p"]), np.array(parameters["target"], float)
            kept = 2 if name == "sub-sample" else n
            outputs, _, _ = mean_game(p, n, target, kept)
            records = (rng.uniform(size=(games, n, len(p))) < p).astype(float)
            if member:
                records[np.arange(games), rng.integers(n, size=games)] = target
            order = rng.permuted(np.tile(np.arange(n), (games, 1)), axis=1)[:, :kept]
            means = np.take_along_axis(records, order[:, :, None], axis=1).mean(axis=1)
            distance = np.abs(means[:, None] - outputs[None]).max(axis=2)
            index = np.argmin(distance, axis=1)
        counts.append(float(chosen[index].mean()))
    fpr, tpr = roc_vertices(_ratio(out, inside), out, inside)
    return (
        f"{games:,} literal games per world (NumPy, seed 13): the chosen set of outputs has FPR {counts[0]:.4f} (alpha = "
        f"{alpha:.4f}) and power {counts[1]:.4f} +- 0.005; the ratio's thresholds reach {tpr[fpr <= alpha + 1e-12].max():.4f}"
    )


def randomised_regime(
    name: str, parameters: dict[str, Any], worlds: Worlds, factor: float = 1.0, *, open_wording: bool = True
) -> Regime:
    """The best of all tests, from all subsets of outputs and what lies between them, against the ratio's randomised thresholds."""
    out, inside = worlds
    reading = RANDOMISED if open_wording else ""

    def judge(_: Budget) -> RegimeResult:
        fpr, tpr = roc_vertices(_ratio(out, inside), out, inside)
        sizes, powers = _subset_sums(out), _subset_sums(inside)
        hull = ConvexHull(np.stack([sizes, powers], axis=1)).vertices
        alpha = np.clip(sizes[hull], 0.0, 1.0)
        # The upper boundary of all tests is a chain of subsets: the gap is largest at one of them.
        gap = float((powers[hull] - factor * np.interp(alpha, fpr, tpr)).max())
        return judge_bound(gap, parameters, unit="power", route="enumeration of all subsets", reading=reading)

    return Regime(f"{name}, randomised" if open_wording else name, parameters, judge, reading, random=False)


def advantage_regime(name: str, parameters: dict[str, Any], worlds: Worlds, factor: float = 1.0) -> Regime:
    """The advantage of 1{l > 0} against the best over all subsets of outputs; `factor` < 1 spoils the attack."""
    out, inside = worlds

    def judge(_: Budget) -> RegimeResult:
        chosen = _ratio(out, inside) > 0
        best = float((_subset_sums(inside) - _subset_sums(out)).max())
        gap = best - factor * float(inside[chosen].sum() - out[chosen].sum())
        return judge_bound(gap, parameters, unit="advantage", route="enumeration of all subsets")

    return Regime(name, parameters, judge, random=False)


def _subset_sums(probability: np.ndarray) -> np.ndarray:
    sums = np.zeros(1)
    for one in probability:
        sums = np.concatenate([sums, sums + one])
    return sums


def total_variation_regime(
    name: str, parameters: dict[str, Any], worlds: Worlds, factor: float = 1.0
) -> Regime:
    """The advantage of the Bayes attack against half the L1 distance."""
    out, inside = worlds

    def judge(_: Budget) -> RegimeResult:
        chosen = _ratio(out, inside) > 0
        distance = 0.5 * float(np.abs(inside - out).sum())
        gap = float(inside[chosen].sum() - out[chosen].sum()) - factor * distance
        return judge_identity(gap, ROUNDING, parameters, unit="advantage", route="enumeration")

    return Regime(name, parameters, judge, random=False)


def drawn_worlds(rng: np.random.Generator) -> tuple[dict[str, Any], Worlds]:
    """Two random laws on 2 to 12 outputs, or the mean of 2 to 11 Bernoulli rows with either target."""
    if rng.random() < 0.5:
        outputs, spread = int(rng.integers(2, 13)), float(np.exp(rng.uniform(-2.0, 2.0)))
        out, inside = (rng.dirichlet(np.full(outputs, spread)) for _ in range(2))
        return {"mechanism": f"random laws on {outputs} outputs", "spread": round(spread, 3)}, (out, inside)
    n, p, z = int(rng.integers(2, 12)), float(rng.uniform(0.01, 0.99)), float(rng.integers(2))
    return {"mechanism": "mean", "n": n, "p": [round(p, 4)], "target": [z]}, _mean((p,), n, (z,))


THRESHOLDS = "Pow_n as defined: thresholds only, no randomisation at ties"
RANDOMISED = "randomised at the threshold (section 2.2 allows randomised adversaries)"
DOMAIN = {
    "mechanism": OneOf(
        ("empirical mean", "sub-sampled mean", "randomised response", "random finite laws"), "every mechanism"
    ),
    "target": OneOf(("easiest", "hardest", "off the support"), "every z*"),
    "alpha": Between(
        0,
        1,
        "every corner of the optimal curve; without randomisation 197 levels and all that the ratio attains",
    ),
}
EVERY = tuple(WORLDS.items())
RANDOMISED_ALLOWED = Quote(
    "An adversary A_{z*} is a (possibly randomised) algorithm that takes as input o the output of the mechanism M, and generates a "
    "guess b ~ A_{z*}(o).",
    "section 2.2",
)
_POWER = Quote(
    "Optimal power: for all alpha in [0, 1], for all score s, for all target z*, Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*).",
    "theorem 2.1 (a); Pow_n(s, alpha, z*) = max over tau with alpha_n(A_{s, tau, z*}) <= alpha of 1 - beta_n (section 2.2)",
)
_MORE_POWER = Control(
    lambda factor: randomised_regime("mean, d = 2", *WORLDS["mean, d = 2"], 1 / factor), 0.03
)
CLAIMS = (
    Claim(
        "azize-thm-2.1a",
        "azize",
        "For every alpha, target and score s: Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*), with Pow_n(s, alpha) the largest "
        "1 - beta over the thresholds whose type-I error is at most alpha.",
        Kind.BOUND,
        0.0,
        "power",
        DOMAIN,
        (*(deterministic_regime(n) for n in WORLDS), *(randomised_regime(n, *world) for n, world in EVERY)),
        _MORE_POWER,
        corrected_by="azize-thm-2.1a-corrected",
        quote=_POWER,
        restricted_by=(RANDOMISED_ALLOWED,),
    ),
    Claim(
        "azize-thm-2.1a-corrected",
        "azize",
        "For every alpha and target, no test of size alpha, randomised or not, has more power than the likelihood-ratio test "
        "randomised at its threshold.",
        Kind.BOUND,
        0.0,
        "power",
        DOMAIN,
        tuple(randomised_regime(n, *world) for n, world in EVERY),
        _MORE_POWER,
        corrects="azize-thm-2.1a",
        quote=_POWER,
        same_formula=True,
        sampled=lambda rng, count: [
            randomised_regime("sampled", *drawn_worlds(rng), open_wording=False) for _ in range(count)
        ],
        derivation=(
            "Neyman and Pearson: for 0 <= alpha <= 1 there are c in [0, inf] and q in [0, 1] such that phi* = 1{L > c} + q 1{L = c} has "
            "size exactly alpha, L = dP_in/dP_out, inf where P_out has no mass. If c < inf, (phi* - phi)(dP_in - c dP_out) >= 0 "
            "everywhere for any test phi, so one of size <= alpha has E_in(phi* - phi) >= c E_out(phi* - phi) >= 0; if c = inf, phi* is "
            "1 wherever P_out has no mass and the level is used up there. No condition on the laws is needed. Without randomisation the ratio's "
            "thresholds skip sizes, and between two of them another set of outputs can use the size that is left over: with "
            "discrete outputs the printed form fails."
        ),
    ),
    Claim(
        "azize-thm-2.1b",
        "azize",
        "The attack 1{l_n > 0} has the largest advantage of all attacks, for every target.",
        Kind.BOUND,
        0.0,
        "advantage",
        DOMAIN,
        tuple(advantage_regime(n, *world) for n, world in EVERY),
        Control(lambda factor: advantage_regime("mean, d = 2", *WORLDS["mean, d = 2"], 1 / factor), 0.03),
        quote=Quote(
            "Largest advantage: for all target z*, for all adversary A_{z*}, Adv_n(A_{Bayes, z*}) >= Adv_n(A_{z*}).",
            "theorem 2.1 (b)",
        ),
        sampled=lambda rng, count: [advantage_regime("sampled", *drawn_worlds(rng)) for _ in range(count)],
    ),
    Claim(
        "azize-thm-2.1c",
        "azize",
        "The advantage of 1{l_n > 0} is the total variation TV(p_out, p_in).",
        Kind.EXACT,
        ROUNDING,
        "advantage",
        DOMAIN,
        tuple(total_variation_regime(n, *world) for n, world in EVERY),
        Control(lambda factor: total_variation_regime("mean, d = 2", *WORLDS["mean, d = 2"], factor), 0.03),
        quote=Quote(
            "Optimal advantage as TV distance: Adv_n(A_{Bayes, z*}) = TV(p_n^out(. | z*) || p_n^in(. | z*)).",
            "theorem 2.1 (c), equation 2",
        ),
        sampled=lambda rng, count: [
            total_variation_regime("sampled", *drawn_worlds(rng)) for _ in range(count)
        ],
    ),
)
"""Theorem 2.1."""
