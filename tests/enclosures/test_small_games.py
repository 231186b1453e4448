"""Exact curves of random small games inside their bounds, against enumeration of every outcome in rational arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import mpmath
import numpy as np
import pytest

import mipsim as mi
from mipsim.exact.atoms import AtomsLaw
from mipsim.tradeoff.score_law import AbstractScoreLaw
from tests.enumeration import (
    UNIT,
    ZERO,
    Masses,
    Tests,
    Weighted,
    as_fraction,
    best_tests,
    coin,
    fnr_between,
    linear,
    masses_of,
    threshold_tests,
)

MEAN = mi.EmpiricalMean()
MOST_OUTCOMES = 1500


class Game(NamedTuple):
    """A game, its attack, and what the enumeration needs."""

    game: mi.FixedTarget
    attack: mi.AbstractAttack
    record: list[Masses]
    target: list[Fraction]
    n: int
    score: Callable[[list[Fraction]], Fraction] | None
    words: str


def masses(made: Game) -> dict[Any, list[Fraction]]:
    return masses_of(made.record, made.n, made.target, made.score)


def enumerated(made: Game) -> Tests:
    return threshold_tests(masses(made))


def above_its_hull(tests: Tests) -> Fraction:
    """The largest FNR between a curve and the greatest convex curve below it; 0 where the curve is convex."""
    hull: Tests = []
    for point in tests:  # by rising FPR, then TPR; the ROC curve of the hull turns to the right
        while len(hull) > 1 and turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    corners = best_tests(hull)
    return max(fnr_between(tests, fpr) - fnr_between(corners, fpr) for fpr, _ in tests)


def turn(
    p: tuple[Fraction, Fraction], q: tuple[Fraction, Fraction], r: tuple[Fraction, Fraction]
) -> Fraction:
    return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])


def maxima(tests: Tests, epsilon: float) -> int:
    """How many thresholds have a larger TPR - e^epsilon FPR than both of their neighbours."""
    factor = as_fraction(np.exp(epsilon))
    gains = [tpr - factor * fpr for fpr, tpr in tests]
    runs = [gain for k, gain in enumerate(gains) if k == 0 or gain != gains[k - 1]]
    return sum(
        (k == 0 or runs[k - 1] < gain) and (k == len(runs) - 1 or runs[k + 1] < gain)
        for k, gain in enumerate(runs)
    )


@mpmath.workdps(400)  # digits for 1 - TPR where it is 1e-45, and smaller
def truths(tests: Tests) -> dict[str, Any]:
    """Numbers of the attack, over all its threshold tests."""
    exp = {epsilon: mpmath.exp(epsilon) for epsilon in (0.5, 3.0)}
    pairs = [tuple(mpmath.mpf(x.numerator) / x.denominator for x in pair) for pair in tests]
    delta = {e: max(mpmath.mpf(0), *(tpr - exp[e] * fpr for fpr, tpr in pairs)) for e in exp}
    losses = [
        mpmath.log((tpr - 0.1) / fpr) if fpr else mpmath.inf for fpr, tpr in pairs if tpr > mpmath.mpf(0.1)
    ]
    prior = mpmath.mpf(0.3)
    return {
        "advantage": max(tpr - fpr for fpr, tpr in tests),
        "delta(0.5)": delta[0.5],
        "delta(3)": delta[3.0],
        "epsilon(0.1)": max([mpmath.mpf(0), *losses]),
        "bayes_risk(0.3)": min(prior * (1 - tpr) + (1 - prior) * fpr for fpr, tpr in pairs),
    }


def bounds_of(curve: mi.AbstractTradeOff) -> dict[str, tuple[float, float]]:
    return {
        "advantage": curve.advantage_bounds(),
        "delta(0.5)": curve.delta_bounds(0.5),
        "delta(3)": curve.delta_bounds(3.0),
        "epsilon(0.1)": curve.epsilon_bounds(0.1),
        "bayes_risk(0.3)": curve.bayes_risk_bounds(0.3),
    }


def random_game(rng: np.random.Generator) -> Game | None:
    """Bernoulli or Discrete records, n from 2 to 5, d from 1 to 3; None where there are too many outcomes."""
    n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    extreme = rng.random() < 0.3
    bernoulli = rng.random() < 0.5
    if bernoulli:
        sample = (
            rng.choice([1e-12, 1e-9, 1e-4, 0.5, 0.9, 1 - 1e-6, 1 - 1e-9], d)
            if extreme
            else rng.uniform(0.02, 0.98, d)
        )
        p = np.full(d, sample[0]) if rng.random() < 0.2 else sample
        data: Any = mi.Bernoulli(p)
        record = [coin(float(x)) for x in p]
        support = np.array([0.0, 1.0])
    else:
        size = int(rng.integers(2, 4))
        support = np.sort(rng.choice(np.arange(-3.0, 5.0), size, replace=False))
        mass = rng.dirichlet(np.ones(size))
        if extreme:
            mass = np.concatenate([[1.0 - 1e-9 * (size - 1)], np.full(size - 1, 1e-9)])
        data = mi.Discrete(support, mass, d=d)
        parts = [as_fraction(x) for x in np.atleast_2d(data.probabilities)[0]]
        law = {as_fraction(v): q / sum(parts) for v, q in zip(support, parts, strict=True)}
        record = [law] * d
    if np.prod([float(n + 1 if bernoulli else (n + 1) ** (len(support) - 1)) ** d]) > MOST_OUTCOMES:
        return None
    kinds = ["covariance", "scalar product", "own", "own function"]
    kind = str(rng.choice([*kinds, "likelihood ratio"] if bernoulli else kinds))
    anywhere = kind != "likelihood ratio" and rng.random() < 0.3
    target = rng.choice([-0.5, 0.25, 0.5, 1.5, 2.0], d) if anywhere else rng.choice(support, d)
    goal = [as_fraction(x) for x in target]
    attack: Any
    w = rng.choice([-1.0, 1.0, 2.0, 0.5, 3.0, 0.0], d) if rng.random() < 0.5 else rng.normal(size=d)
    if kind == "covariance":
        attack = mi.CovarianceScore(data, n=n)
        means = [sum(v * q for v, q in law.items()) for law in record]
        variances = [
            sum((v - m) ** 2 * q for v, q in law.items()) for law, m in zip(record, means, strict=True)
        ]
        weights = [(z - m) / v for z, m, v in zip(goal, means, variances, strict=True)]
    elif kind == "scalar product":
        attack = mi.ScalarProduct(target - w)
        weights = [as_fraction(z - x) for z, x in zip(target, target - w, strict=True)]
    elif kind == "likelihood ratio":
        attack, weights = mi.LikelihoodRatio(MEAN, data, n), None
    else:
        attack = Weighted(w, 0.25) if kind == "own" else mi.FunctionAttack(lambda t, o: (w * o).sum() + 0.5)
        weights = [as_fraction(x) for x in w]
    if weights is not None and not any(weights):
        return None

    score = None if weights is None else linear(weights)
    game = mi.FixedTarget(MEAN, data, n, target)
    words = f"{data!r}, n = {n}, target {target.tolist()}, {kind}, weights {None if weights is None else [float(a) for a in weights]}"
    return Game(game, attack, record, goal, n, score, words)


def check(made: Game, rng: np.random.Generator, width: float = 1e-9) -> bool:
    """Whether the curve is not convex; raises where a bound does not hold."""
    tests = enumerated(made)
    curve = made.game.exact(made.attack)
    at = np.concatenate([rng.uniform(size=4), [1e-6, 0.1, 0.5], rng.choice([float(f) for f, _ in tests], 2)])
    low, high = curve.beta_bounds(np.clip(at, 0.0, 1.0))
    best = best_tests(tests)
    for alpha, least, most in zip(at, low, high, strict=True):
        alpha = as_fraction(min(max(alpha, 0.0), 1.0))
        assert as_fraction(least) <= fnr_between(best, alpha), (
            f"lower end of beta({float(alpha)}): {made.words}"
        )
        assert fnr_between(tests, alpha) <= as_fraction(most), (
            f"upper end of beta({float(alpha)}): {made.words}"
        )
    known: Any = truths(tests)
    result = bounds_of(curve)
    for name, (least, most) in result.items():
        truth = known[name]
        exact = truth if isinstance(truth, Fraction) else None
        inside = least <= truth <= most if exact is None else as_fraction(least) <= exact <= as_fraction(most)
        assert inside, f"{name} is {float(truth)!r}, not in [{least!r}, {most!r}]: {made.words}"
        assert most - least <= width or (np.isinf(most) and least == most), (
            f"{name} is known to {most - least:.2g}: {made.words}"
        )
    return above_its_hull(tests) > 0


def play(games: int, seed: int) -> tuple[int, int]:
    """(Games, those with a curve that is not convex)."""
    rng = np.random.default_rng(seed)
    seen = bent = 0
    while seen < games:
        built = random_game(rng)
        if built is not None:
            bent += check(built, rng)
            seen += 1
    return seen, bent


@pytest.mark.evidence
def test_bounds_hold_in_small_games() -> None:
    seen, bent = play(120, seed=1)
    assert seen == 120
    assert bent >= 10


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_bounds_hold_in_ten_thousand_small_games(seed: int) -> None:
    seen, bent = play(1000, seed=100 + seed)
    assert seen == 1000
    assert bent >= 50


def tie_on_paper(made: Game) -> bool:
    """Whether scores are apart by no more than rounding: three times 20/3 and five times 4 are a single score to float64, and two here.

    `tests/exact/test_numbers_hold.py` is about those.
    """
    if made.score is None:
        return False
    scores = sorted(masses(made))
    least = Fraction(1, 10**12) * max(map(abs, scores))
    return any(above - below < least for below, above in pairwise(scores))


def games_far_from_convex(count: int, seed: int) -> Iterator[tuple[Game, Tests]]:
    """Random games whose enumerated curve lies more than 0.001 above its convex hull somewhere."""
    rng = np.random.default_rng(seed)
    while count:
        built = random_game(rng)
        if built is None or tie_on_paper(built):
            continue
        if above_its_hull(tests := enumerated(built)) > Fraction(1, 1000):
            count -= 1
            yield built, tests


def off(bounds: tuple[float, float], truth: Any) -> float:
    """How far the farther end is from the truth; infinite where the truth is outside."""
    low, high = bounds
    if isinstance(truth, Fraction):
        inside, ends = (
            as_fraction(low) <= truth <= as_fraction(high),
            [abs(as_fraction(e) - truth) for e in bounds],
        )
    else:
        inside, ends = low <= truth <= high, [abs(e - truth) if e != truth else 0 for e in bounds]
    return float(max(ends)) if inside else np.inf


@pytest.mark.evidence
@pytest.mark.parametrize("count", [25, pytest.param(500, marks=pytest.mark.slow)])
def test_numbers_of_curves_that_are_not_convex(count: int) -> None:
    """Advantage, delta, epsilon and Bayes risk are right to 1e-9; the control is a curve that is 3% nearer to blind guessing."""
    worst: dict[str, float] = {}
    controls: dict[str, int] = {}
    seen = several = 0
    for built, tests in games_far_from_convex(count, seed=7):
        seen += 1
        several += maxima(tests, 0.0) > 1 or maxima(tests, 0.5) > 1
        curve = built.game.exact(built.attack)
        known: Any = truths(tests)
        for name, bounds in bounds_of(curve).items():
            worst[name] = max(worst.get(name, 0.0), error := off(bounds, known[name]))
            assert error <= 1e-9, f"{name} is {float(known[name])!r}, known as {bounds}: {built.words}"
        for name, bounds in bounds_of(mi.MixtureTradeOff(curve, 0.97)).items():
            # The control is a case where 3% of the number are more than the width.
            if 1e-6 < abs(float(known[name]) - (0.3 if name == "bayes_risk(0.3)" else 0.0)) < np.inf:
                controls[name] = controls.get(name, 0) + 1
                assert off(bounds, known[name]) > 1e-9, f"{name} of a curve 3% off passes: {built.words}"
    print(
        f"{seen} curves that are not convex, {several} with several maxima; worst errors {worst}, controls {controls}"
    )
    assert seen == count
    assert several >= count // 5  # a search that assumes a single maximum may fail there
    assert (
        set(worst)
        == set(controls)
        == {"advantage", "delta(0.5)", "delta(3)", "epsilon(0.1)", "bayes_risk(0.3)"}
    )
    assert controls["advantage"] >= count // 2


def weighted(
    p: list[float], n: int, weights: list[Fraction], attack: mi.AbstractAttack | None = None
) -> Game:
    """A game of Bernoulli records with all of the target 1, by default with these weights in float64."""
    record = [coin(float(x)) for x in p]
    game = mi.FixedTarget(MEAN, mi.Bernoulli(p), n, np.ones(len(p)))
    w = np.array([float(x) for x in weights])
    words = f"p = {p}, n = {n}, weights {w.tolist()}"
    return Game(game, attack or Weighted(w, 0.25), record, [UNIT] * len(p), n, linear(weights), words)


@pytest.mark.parametrize(
    ("p", "n"), [([0.5, 1e-12, 1.0 - 1e-6], 5), ([1e-12, 0.5, 1e-12, 1.0 - 1e-6], 3), ([1e-9, 0.4, 1e-12], 4)]
)
def test_a_large_common_term_does_not_hide_the_order_of_scores(p: list[float], n: int) -> None:
    """Weights near 2, 1e12 and 1.000001: scores near 1e12 that differ by 2e-6 are apart, though float64 hardly tells them so."""
    attack = mi.CovarianceScore(mi.Bernoulli(p), n=n)
    check(weighted(p, n, [1 / as_fraction(x) for x in p], attack), np.random.default_rng(0))


def test_an_offset_does_not_hide_the_order_of_scores() -> None:
    weights = [Fraction(1), Fraction(257, 256), Fraction(65, 64)]
    attack = Weighted([float(w) for w in weights], 1e15)
    check(weighted([0.5, 0.4, 0.3], 3, weights, attack), np.random.default_rng(0))


def test_scores_of_unknown_order_widen_the_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """1e12 + 1 + (0 or 0.001) against 1e12 + (1 or 1.001): equal in pairs, but the error of the large weights hides which."""
    weights = [Fraction(10**12), Fraction(10**12 + 1), Fraction(1), Fraction(0.001)]
    built = weighted([0.5, 0.4, 0.3, 0.6], 2, weights)
    check(built, np.random.default_rng(0), width=np.inf)
    # The control: taken as a single score, they give bounds that do not hold.
    monkeypatch.setattr(AbstractScoreLaw, "unordered", lambda law, x: np.zeros(np.shape(x), bool))
    monkeypatch.setattr(AtomsLaw, "unordered", AbstractScoreLaw.unordered)
    with pytest.raises(AssertionError, match="weights"):
        check(built, np.random.default_rng(0), width=np.inf)


def test_a_wrong_law_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: the enumeration of a target that is off by a millionth of a record's probability contradicts the bounds."""
    data = mi.Bernoulli([0.3, 0.6])
    game = mi.FixedTarget(MEAN, data, 3, [1.0, 0.0])
    off = [coin(p) for p in (Fraction(3, 10) + Fraction(1, 10**6), Fraction(6, 10))]
    built = Game(game, Weighted([1.0, -1.0], 0.25), off, [UNIT, ZERO], 3, linear([1, -1]), "off")
    with pytest.raises(AssertionError, match="off"):
        check(built, np.random.default_rng(0))
