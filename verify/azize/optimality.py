"""Theorem 2.1, by enumeration of every output."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linprog

from mipsim.exact.enumeration import best_deterministic_power, mean_game, roc_vertices
from verify.claim import Between, Budget, Claim, Kind, OneOf, Regime, RegimeResult
from verify.limits import judge_identity

FLOOR = 1e-9
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
    reading = "Pow_n as printed: thresholds only, no randomisation at ties"

    def judge(_: Budget) -> RegimeResult:
        fpr, tpr = roc_vertices(_ratio(out, inside), out, inside)
        levels = np.unique(np.concatenate([np.linspace(0.01, 0.99, 197), fpr]))
        best, chosen = best_deterministic_power(out, inside, levels)
        gaps = best - np.array([tpr[fpr <= alpha + 1e-12].max() for alpha in levels])
        worst = int(np.argmax(gaps))
        alpha = float(levels[worst])
        return judge_identity(
            float(gaps[worst]),
            FLOOR,
            parameters | {"alpha": round(alpha, 4)},
            unit="power",
            route="enumeration",
            reading=reading,
            one_sided=True,
            detail="the best set of outputs is not an upper level set of the ratio"
            if gaps[worst] > FLOOR
            else "",
            second_route=partial(by_literal_records, name, chosen[worst], alpha),
        )

    return Regime(f"{name}, deterministic", parameters, judge, reading, random=False)


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


def randomised_regime(name: str, factor: float = 1.0) -> Regime:
    """Randomised tests: the best of all tests (a linear programme) against the ratio's randomised thresholds."""
    parameters, (out, inside) = WORLDS[name]
    reading = "randomised at the threshold (section 2.2 allows randomised adversaries)"

    def judge(_: Budget) -> RegimeResult:
        fpr, tpr = roc_vertices(_ratio(out, inside), out, inside)
        gaps = []
        for alpha in np.linspace(0.01, 0.99, 33):
            best = linprog(-inside, A_ub=out[None], b_ub=[alpha], bounds=(0, 1), method="highs")
            gaps.append(-best.fun - factor * float(np.interp(alpha, fpr, tpr)))
        gap = float(max(gaps))
        return judge_identity(
            gap,
            FLOOR,
            parameters,
            unit="power",
            route="enumeration and linear programme",
            reading=reading,
            one_sided=True,
        )

    return Regime(f"{name}, randomised", parameters, judge, reading, random=False)


def advantage_regime(name: str, shift: float = 0.0) -> Regime:
    """The advantage of 1{l > shift} against the best over all subsets of outputs."""
    parameters, (out, inside) = WORLDS[name]

    def judge(_: Budget) -> RegimeResult:
        chosen = _ratio(out, inside) > shift
        best = float(np.max(_subset_advantages(out, inside)))
        gap = best - float(inside[chosen].sum() - out[chosen].sum())
        return judge_identity(gap, FLOOR, parameters, unit="advantage", route="enumeration", one_sided=True)

    return Regime(name, parameters, judge, random=False)


def _subset_advantages(out: np.ndarray, inside: np.ndarray) -> np.ndarray:
    advantages = np.zeros(1)
    for difference in inside - out:
        advantages = np.concatenate([advantages, advantages + difference])
    return advantages


def total_variation_regime(name: str, factor: float = 1.0) -> Regime:
    """The advantage of the Bayes attack against half the L1 distance."""
    parameters, (out, inside) = WORLDS[name]

    def judge(_: Budget) -> RegimeResult:
        chosen = _ratio(out, inside) > 0
        gap = float(inside[chosen].sum() - out[chosen].sum()) - factor * 0.5 * float(
            np.abs(inside - out).sum()
        )
        return judge_identity(gap, FLOOR, parameters, unit="advantage", route="enumeration")

    return Regime(name, parameters, judge, random=False)


DOMAIN = {
    "mechanism": OneOf(
        ("empirical mean", "sub-sampled mean", "randomised response", "random finite laws"), "every mechanism"
    ),
    "target": OneOf(("easiest", "hardest", "off the support"), "every z*"),
    "alpha": Between(0, 1, "judged at 197 levels and at every level that the ratio attains"),
}
CLAIMS = (
    Claim(
        "azize-thm-2.1a",
        "azize",
        "For every alpha, target and score s: Pow_n(l_n, alpha, z*) >= Pow_n(s, alpha, z*), with Pow_n(s, alpha) the largest "
        "1 - beta over the thresholds whose type-I error is at most alpha.",
        Kind.BOUND,
        FLOOR,
        "power",
        DOMAIN,
        (*(deterministic_regime(n) for n in WORLDS), *(randomised_regime(n) for n in WORLDS)),
        partial(randomised_regime, "mean, d = 2", 0.97),
        corrected_by="azize-thm-2.1a-corrected",
    ),
    Claim(
        "azize-thm-2.1a-corrected",
        "azize",
        "For every alpha and target, no test of size alpha, randomised or not, has more power than the likelihood-ratio test "
        "randomised at its threshold.",
        Kind.BOUND,
        FLOOR,
        "power",
        DOMAIN,
        tuple(randomised_regime(n) for n in WORLDS),
        partial(randomised_regime, "mean, d = 2", 0.97),
        corrects="azize-thm-2.1a",
        derivation=(
            "Neyman and Pearson: with phi* = 1{L > c} + q 1{L = c} of size exactly alpha, any test phi of size <= alpha has "
            "E_in(phi* - phi) >= c E_out(phi* - phi) >= 0. Without randomisation the ratio's thresholds skip sizes, and between two "
            "of them another set of outputs can use the size that is left over: with discrete outputs the printed form fails."
        ),
    ),
    Claim(
        "azize-thm-2.1b",
        "azize",
        "The attack 1{l_n > 0} has the largest advantage of all attacks, for every target.",
        Kind.BOUND,
        FLOOR,
        "advantage",
        DOMAIN,
        tuple(advantage_regime(n) for n in WORLDS),
        partial(advantage_regime, "random law 0", 0.4),
    ),
    Claim(
        "azize-thm-2.1c",
        "azize",
        "The advantage of 1{l_n > 0} is the total variation TV(p_out, p_in).",
        Kind.EXACT,
        FLOOR,
        "advantage",
        DOMAIN,
        tuple(total_variation_regime(n) for n in WORLDS),
        partial(total_variation_regime, "mean, d = 2", 1.03),
    ),
)
"""Theorem 2.1."""
