import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from mipsim.bands import CountedRates, EmpiricalTradeOff, compare_curves, ordering

T = np.linspace(-2.0, 4.0, 33)


def curve(mu: float, games: int = 10**6, t: np.ndarray = T) -> EmpiricalTradeOff:
    x, y = np.round(games * ndtr(-t)), np.round(games * ndtr(t - mu))
    return EmpiricalTradeOff(t, x, games, y, games)


FINE = np.linspace(-3.0, 4.0, 257)
ORDER, BOUND, EQUAL = "ordering", "upper_bound_on_power", "equality"
MANY = partial(curve, games=10**8)


def crossing(games: int = 10**6) -> EmpiricalTradeOff:
    """A score of larger spread in the "in" world wins at low FPR and loses at high FPR."""
    x = np.round(games * ndtr(-T))
    return EmpiricalTradeOff(T, x, games, np.round(games * ndtr((T - 1.0) / 1.5)), games)


def apart(t: list[float]) -> tuple[Any, Any]:
    """Points of a curve at different rates: the chords differ, but steps allow for any curve through the points."""
    return tuple(partial(MANY, 1.0, t=np.array(t) + off) for off in (0.0, 0.4))  # type: ignore[return-value]


def pair(first: float, second: float, off: float = 0.004) -> tuple[Any, Any]:
    """Curves of many games and thresholds, those of the second moved."""
    return partial(MANY, first, t=FINE), partial(MANY, second, t=FINE + off)


PLAIN, STRONG = partial(curve, 1.0), partial(curve, 1.5)
VERDICTS: dict[str, tuple[tuple[Any, Any], float | None, dict[str, str]]] = {
    "stronger": ((STRONG, PLAIN), None, {ORDER: "CONFIRMED"}),
    "weaker": ((PLAIN, STRONG), None, {ORDER: "REFUTED"}),
    "stronger, to a tolerance": ((STRONG, PLAIN), 0.3, {ORDER: "CONFIRMED", BOUND: "REFUTED"}),
    "weaker, to a tolerance": ((PLAIN, STRONG), 0.3, {ORDER: "REFUTED", BOUND: "CONFIRMED"}),
    "equal, too few games": ((PLAIN, PLAIN), None, {EQUAL: "INCONCLUSIVE"}),
    "equal, a small tolerance": ((PLAIN, PLAIN), 0.001, {ORDER: "INCONCLUSIVE"}),
    "equal": (pair(1.0, 1.0, 0.0), None, dict.fromkeys((ORDER, BOUND, EQUAL), "CONFIRMED")),
    "equal at other thresholds": (pair(1.0, 1.0), None, {EQUAL: "CONFIRMED"}),
    "5% weaker": (pair(1.0, 1.05), None, {EQUAL: "REFUTED", BOUND: "CONFIRMED", ORDER: "REFUTED"}),
    "5% stronger": (pair(1.05, 1.0), None, {EQUAL: "REFUTED", BOUND: "REFUTED", ORDER: "CONFIRMED"}),
    "a single threshold": (apart([0.5]), None, {EQUAL: "INCONCLUSIVE"}),
    "two thresholds": (apart([-1.0, 2.0]), None, dict.fromkeys((EQUAL, ORDER), "INCONCLUSIVE")),
    "three thresholds": (apart([0.0, 1.0, 2.0]), None, dict.fromkeys((EQUAL, ORDER, BOUND), "INCONCLUSIVE")),
    "crossing": ((crossing, PLAIN), None, {ORDER: "REFUTED", BOUND: "REFUTED"}),
    "crossed": ((PLAIN, crossing), None, {ORDER: "REFUTED", BOUND: "REFUTED"}),
}


@pytest.mark.evidence
@pytest.mark.parametrize("name", VERDICTS)
def test_the_verdict_on_two_played_curves(name: str) -> None:
    (first, second), tolerance, verdicts = VERDICTS[name]
    for kind, verdict in verdicts.items():
        result = first().compare(second(), tolerance, kind=kind)
        assert (kind, str(result.verdict)) == (kind, verdict)
        if name == "equal":  # with its meaning in words
            words = {ORDER: "is weaker than", BOUND: "is stronger than", EQUAL: "differs from"}[kind]
            means = rf"means .*at every FPR from 0.0\d+ to 0.\d+, the first attack {words} the second by at most 0.02 probits"
            assert re.search(means, str(result))
        elif verdict == "INCONCLUSIVE":
            assert "means" not in str(result)


def test_few_games_are_inconclusive() -> None:
    few = compare_curves(STRONG(games=10), PLAIN(games=10))
    assert (few.verdict, few.detectable_gap) == ("INCONCLUSIVE", math.inf)
    assert math.isnan(few.gap)


N = 10**5
WRONG = np.array([1.0, 1.0, -1.0, -1.0])
"""How the rates (FPR, FNR) of two curves are off where the first looks weaker, and the second stronger, than it is."""


def ends_at_a_threshold(counts: np.ndarray, risk: float, *, independent: bool, refuting: bool) -> np.ndarray:
    """Ends of the gap of many pairs of curves of a single threshold each, from their (x, y, x', y'), as `compare_curves` has them.

    Args:
        counts: shape (4, pairs).
        risk: failure probability.
        independent: whether the two curves are.
        refuting: whether lower ends of a tested threshold are wanted, else upper ones of the curves.
    """
    curves = [ordering._Points(CountedRates(x, N), CountedRates(y, N)) for x, y in (counts[:2], counts[2:])]
    levels = ordering._levels(risk, ordering._angle(*curves) if independent else None)
    unit = ordering._ASIDE * risk / (40.0 if refuting else 20.0)
    first, second = (
        points.ends(level, unit, lower=lower)
        for points, level, lower in zip(curves, levels, (refuting, not refuting), strict=True)
    )
    return (first - second).min(axis=0) if refuting else (first - second).max(axis=0)


def check_ends(
    rates: list[float],
    risk: float,
    compared: Callable[[np.ndarray], float],
    *,
    independent: bool,
    refuting: bool,
) -> None:
    """By importance sampling, ends are wrong at most as often as stated and a fifth as often at least, by five standard errors; and as narrow as a test.

    With a third of the width they are wrong too often, which is the control. The ends are those of `compared` in three draws.

    Args:
        rates: (FPR, FNR) of two curves of a single threshold each.
        risk: stated.
        compared: the end that `compare_curves` finds, from the four counts.
        independent: whether the games of the two curves are; else the second has those of the first, mirrored, so that errors add up.
        refuting: whether the end is that of a refutation.
    """
    truth, sign = np.array(rates), -WRONG if refuting else WRONG

    def ends_of(counts: np.ndarray) -> np.ndarray:
        return ends_at_a_threshold(counts, risk, independent=independent, refuting=refuting)

    gap = float(WRONG @ -ndtri(truth))
    variance = truth * (1.0 - truth) / N / np.exp(-(ndtri(truth) ** 2)) * 2.0 * np.pi
    draws = 1500 if risk == 1e-3 else 600  # what five standard errors need
    known, total = (4, variance.sum()) if independent else (2, 2.0 * variance.sum())
    far = float(ends_of(np.round(N * truth)[:, None])[0]) - gap
    # Half of the draws are wrong: the mean error of the estimate is the width, shared as the variances are.
    shift = abs(far) * sign * variance / (total if independent else 0.5 * total)
    computed, own = ndtr(ndtri(truth) + shift)[:known], truth[:known]
    x = np.random.default_rng(21).binomial(N, computed, (draws, known))
    weights = np.exp(x @ np.log(own / computed) + (N - x) @ np.log((1.0 - own) / (1.0 - computed)))
    counts = np.concatenate([x, N - x], axis=1)[:, :4].T
    ends = np.concatenate([ends_of(part) for part in np.split(counts, 10, axis=1)])
    for k in range(3):
        assert compared(counts[:, k]) == pytest.approx(ends[k], abs=1e-12)
    estimate = WRONG @ -ndtri(counts / N)
    (rate, error), (narrow, wide) = (
        (float(terms.mean()), float(terms.std() / np.sqrt(terms.size)))
        for terms in (weights * (far * (e - gap) < 0.0) for e in (ends, estimate + (ends - estimate) / 3.0))
    )
    # An end of the very gap at a single threshold is as wide as a normal test's at so many games, and no valid end is much narrower.
    normal = abs(far) / np.sqrt(total) / -ndtri(risk if independent else 0.5 * risk)
    assert normal <= 1.3
    print(f"{rate:.3g} +- {error:.2g} for a stated {risk:g}; a third of the width: {narrow:.2g}")
    print(f"{normal:.3f} times the width of a normal test at the threshold")
    assert risk / 5.0 <= rate - 5.0 * error
    assert rate + 5.0 * error <= risk < narrow - 5.0 * wide


@pytest.mark.evidence
@pytest.mark.parametrize(
    "risk", [0.2, 0.001, *(pytest.param(r, marks=pytest.mark.slow) for r in (0.05, 0.01))]
)
@pytest.mark.parametrize("independent", [True, False])
def test_ends_at_a_single_threshold_miss_at_most_as_stated_and_at_least_a_fifth_as_often(
    independent: bool, risk: float
) -> None:
    """mu = 0.15 against -0.15, where the bounds of all FPRs are those of the threshold."""

    def end(counts: np.ndarray) -> float:
        first, two = (EmpiricalTradeOff([0.0], [x], N, [y], N) for x, y in (counts[:2], counts[2:]))
        return compare_curves(first, two, failure_probability=risk, independent=independent).interval[1]

    rates = [0.5, float(ndtr(-0.15)), 0.5, float(ndtr(0.15))]
    check_ends(rates, risk, end, independent=independent, refuting=False)


@pytest.mark.evidence
def test_refutations_at_a_thousandth_are_at_most_as_frequent_as_stated_and_at_least_a_fifth() -> None:
    """The first curve stands at the corner that the steps of the second allow."""

    def low(counts: np.ndarray) -> float:
        x, y, v, w = (np.array([k]) for k in counts)
        first = EmpiricalTradeOff([0.0], x, N, y, N)
        two = EmpiricalTradeOff([0.0, 1.0], np.append(2 * v, v), N, np.append(w, w + N // 5), N)
        result = compare_curves(
            first, two, kind="upper_bound_on_power", failure_probability=1e-3, independent=True
        )
        end = float(result.low[result.tested].max())
        assert (result.verdict == "REFUTED") == (end > 1e-9)
        return end

    check_ends([0.3, 0.4, 0.3, 0.4], 1e-3, low, independent=True, refuting=True)


def test_chords_of_an_attack_that_is_worse_than_guessing() -> None:
    """Its curve lies above the diagonal, and few thresholds leave chords that are below the curve of the same mu."""
    n, z = 10**8, np.array([-2.5, 2.5])
    worse = EmpiricalTradeOff(z, np.round(n * ndtr(-z)), n, np.round(n * ndtr(z + 1.0)), n)
    result = compare_curves(worse, curve(0.0, n), kind="upper_bound_on_power", tolerance=2.0)
    middle = int(np.argmin(np.abs(result.alpha - 0.5) + result.tested))
    beta = float(np.interp(result.alpha[middle], ndtr(-z)[::-1], ndtr(z + 1.0)[::-1]))
    assert (
        result.low[middle] <= -float(ndtri(result.alpha[middle])) - float(ndtri(beta)) <= result.high[middle]
    )


@pytest.mark.evidence
def test_what_is_printed_holds_with_the_failure_probability() -> None:
    """A symmetrical interval for an equality and a single end for an order: two ends, each with the whole probability, would not hold jointly."""
    item, other = curve(1.0), curve(1.01)
    equal, stronger, weaker = (
        item.compare(other, kind=kind) for kind in ("equality", "upper_bound_on_power", "ordering")
    )
    low, high = equal.interval
    widest = max(-low, high)
    assert equal.deciding_interval == (-widest, widest)
    assert equal.smallest_tolerance == widest
    assert f"all gaps within [{-widest:+.4g}, {widest:+.4g}] probits" in str(equal)
    assert stronger.deciding_interval == (-math.inf, high)
    assert weaker.deciding_interval == (low, math.inf)
    refuted = curve(2.0).compare(item, kind="upper_bound_on_power")
    assert refuted.deciding_interval[0] > 0.75
    assert refuted.deciding_interval[1] == math.inf
    assert "range over FPR" not in str(refuted)
    assert "</b>: this curve has" in refuted._repr_html_()  # no words of a claimed curve
