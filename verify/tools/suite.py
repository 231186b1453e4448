"""The public suite: mechanisms with known violations, by exact law and by games, beside other tools' published figures."""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass

import numpy as np

import mipsim as mi
from mipsim.bands.clopper_pearson import clopper_pearson
from verify.stored import place_for, store
from verify.tools.broken_mechanisms import SUITE, Mechanism, patterns

FLOOR = 0.01
"""DP-Sniper looks at events of at least this probability: "above .01" is what it could find at best."""

ROUNDING = 1e-12
"""The laws' probabilities are right to some 1e-14, relative: a larger excess over e^epsilon is none of rounding."""

GAMES = 1_000_000
"""Games in each world, half to choose an event and half to judge it: some 10 s a mechanism."""


@dataclass(frozen=True)
class Published:
    """Lower bounds on epsilon that other tools report for the mechanism, at 90% confidence each."""

    dp_sniper: tuple[float, float]  # with logistic regression and with a small neural network
    # in two runs, verified by fresh samples; None where a bound is published
    statdp: tuple[float, float] | tuple[float]
    seconds: float  # of DP-Sniper with logistic regression


PUBLISHED: dict[str, Published] = {
    "SVT1": Published((0.086, 0.086), (0.030, 0.030), 118),
    "SVT2": Published((0.086, 0.085), (0.032, 0.041), 148),
    "SVT3": Published((0.172, 0.182), (0.023, 0.179), 150),
    "SVT4": Published((0.169, 0.170), (0.171, 0.172), 123),
    "SVT5": Published((1.761, 1.761), (14.3, 14.3), 56),
    "SVT6": Published((0.272, 0.270), (0.322, 0.320), 91),
    "noisy max 1": Published((0.092, 0.093), (0.092,), 59),
    "noisy max 2": Published((0.098, 0.098), (0.100,), 56),
    "noisy max 3": Published((0.248, 0.249), (0.199,), 59),
    "noisy max 4": Published((0.346, 0.353), (0.196,), 60),
    "histogram 2": Published((4.60, 4.60), (9.717, 10.002), 38),
    "prefix sum": Published((0.504, 0.577), (0.352,), 92),
}
"""Bichsel, Steffen, Bogunovic, Vechev (2021), reference results of the published code."""


@dataclass(frozen=True)
class Row:
    """The result for a mechanism."""

    mechanism: str  # its name
    claimed: float  # the epsilon that its authors claim
    truth: float  # the largest log ratio of an outcome's probabilities over the input pairs, by exact law; may be inf
    pair: str  # at which pair, and in which order
    above_floor: float  # what of it events of probability at least .01 show
    by_games: float  # a lower bound on epsilon at `confidence`, by fresh games at the pair that shows most above .01
    confidence: float  # of `by_games`
    # REFUTED where the law passes the claim, else CONFIRMED: at these input pairs, and only at these
    verdict: str
    seconds: float


def largest_ratio(p: np.ndarray, q: np.ndarray) -> float:
    """The largest log(p / q) of an outcome: the least epsilon for which p <= e^epsilon q everywhere; inf where q alone is 0.
    >>> largest_ratio(np.array([0.5, 0.5]), np.array([0.25, 0.75])) == math.log(2.0)
    True
    """
    with np.errstate(divide="ignore"):
        return float(np.max(np.log(p[p > 0.0]) - np.log(q[p > 0.0])))


def ratio_above(p: np.ndarray, q: np.ndarray, floor: float) -> float:
    """The largest log(p(S) / max(q(S), floor)) over randomised events S: Neyman and Pearson's at q(S) = floor.
    >>> round(ratio_above(np.array([0.5, 0.5]), np.array([0.25, 0.75]), 0.01), 6)
    0.693147
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(p > 0.0, p / q, 0.0), kind="stable")
    fpr, tpr = (np.concatenate([[0.0], np.cumsum(x[order])]) for x in (q, p))
    best = max(float(np.max(np.log(tpr[1:] / np.maximum(fpr[1:], floor)))), 0.0)
    return max(best, math.log(max(float(np.interp(floor, fpr, tpr)) / floor, 1.0)))


def by_games(
    mechanism: Mechanism, first: np.ndarray, second: np.ndarray, games: int, confidence: float, seed: int
) -> float:
    """A lower bound on epsilon, from games alone: half of them choose the event, the other half judge it.
    `mechanism`: what is played; `first`: the input under which the event is likely, shape (q,); `second`: its neighbour,
    shape (q,); `games`: in each world, >= 2; `confidence`: of the bound: both Clopper and Pearson intervals share 1 -
    confidence.
    """
    outcomes = mechanism.law(first).size
    game = mi.TwoInputs(mechanism.release, second, first)
    attack = mi.FunctionAttack(lambda target, output: mechanism.outcome(output))
    edges = np.arange(outcomes - 1) + 0.5
    half = games // 2
    chosen, judged = (
        mi.play(game, attack, numbers, seed, edges=edges, precision="float64", progress=False)
        for numbers in (range(half), range(half, games))
    )
    # Rare outcomes come last whatever their ratio: 1 is added to every count.
    order = np.argsort(-(chosen.inside + 1.0) / (chosen.out + 1.0), kind="stable")
    risk = 1.0 - confidence

    def bound(inside: np.ndarray, out: np.ndarray, total: int) -> np.ndarray:
        low, _ = clopper_pearson(inside, total, risk)
        _, high = clopper_pearson(out, total, risk)
        with np.errstate(divide="ignore"):
            return np.log(low) - np.log(high)

    sums = [np.cumsum(counts[order]) for counts in (chosen.inside, chosen.out)]
    size = int(np.argmax(bound(sums[0], sums[1], half))) + 1
    event = order[:size]
    result = bound(
        judged.inside[event].sum(keepdims=True), judged.out[event].sum(keepdims=True), games - half
    )
    return max(0.0, float(result[0]))


@dataclass(frozen=True)
class Shown:
    """What the exact law shows of a mechanism at the input pairs of `patterns`, in both orders."""

    # truth, pair: the largest log ratio of an outcome's probabilities, and where
    truth: float
    pair: str
    # above_floor, clearest: what events of probability at least .01 show of it, and where they show most
    above_floor: float
    clearest: tuple[np.ndarray, np.ndarray]
    verdict: str  # see `Row`


def by_law(mechanism: Mechanism) -> Shown:
    """Judge a mechanism by its exact law."""
    pairs = {
        f"{name}, {order}": pair
        for name, (a, b) in patterns(mechanism.queries, mechanism.single_change).items()
        for order, pair in (("a", (a, b)), ("b", (b, a)))
    }
    laws = {name: (mechanism.law(a), mechanism.law(b)) for name, (a, b) in pairs.items()}
    truths = {name: largest_ratio(*law) for name, law in laws.items()}
    shown = {name: ratio_above(*law, FLOOR) for name, law in laws.items()}
    worst, clearest = max(truths, key=truths.__getitem__), max(shown, key=shown.__getitem__)
    passed = truths[worst] > mechanism.claimed * (1.0 + ROUNDING) + ROUNDING
    verdict = "REFUTED" if passed else "CONFIRMED"
    return Shown(truths[worst], worst, shown[clearest], pairs[clearest], verdict)


def judge(mechanism: Mechanism, games: int, confidence: float = 0.999, seed: int = 0) -> Row:
    """Judge a mechanism by exact law, and by games at the pair that shows most above 0.01."""
    started = time.perf_counter()
    law = by_law(mechanism)
    result = by_games(mechanism, *law.clearest, games, confidence, seed)
    name, claimed, seconds = mechanism.name, mechanism.claimed, time.perf_counter() - started
    return Row(name, claimed, law.truth, law.pair, law.above_floor, result, confidence, law.verdict, seconds)


def show(out: str | None = None, seed: int = 0) -> list[Row]:
    """Judge the suite and print its table row by row; its rows go as JSON to a file, or for "-" to standard output.
    Raises ValueError if the folder of the file cannot be written; before anything is judged.
    """
    table = place_for(out)
    columns = ("mechanism", "claimed", "truth", "above .01", "by games", "DP-Sniper", "StatDP", "verdict", "s", "their s")  # fmt: skip
    print("{:<20}{:>8}{:>8}{:>10}{:>9}{:>16}{:>17}  {:<10}{:>5}{:>8}".format(*columns), file=table)
    rows = []
    for mechanism in SUITE:
        row = judge(mechanism, GAMES, seed=seed)
        rows.append(row)
        other = PUBLISHED.get(mechanism.name)
        theirs = ("", "", "") if other is None else (_spell(other.dp_sniper), _spell(other.statdp), f"{other.seconds:.0f}")  # fmt: skip
        print(
            f"{row.mechanism:<20}{row.claimed:>8.4f}{row.truth:>8.4f}{row.above_floor:>10.4f}{row.by_games:>9.4f}"
            f"{theirs[0]:>16}{theirs[1]:>17}  {row.verdict:<10}{row.seconds:>5.1f}{theirs[2]:>8}",
            flush=True,
            file=table,
        )
    store(out, [asdict(row) for row in rows])
    return rows


def _spell(bounds: tuple[float, ...]) -> str:
    return " / ".join(f"{bound:.3f}" for bound in bounds)
