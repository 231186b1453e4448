import math
import re
from collections.abc import Callable

import numpy as np
import pytest
from scipy.special import ndtr, ndtri

from mipsim.bands import CountedRates, EmpiricalTradeOff, compare_curves, ordering

T = np.linspace(-2.0, 4.0, 33)


def curve(mu: float, games: int = 10**6, t: np.ndarray = T) -> EmpiricalTradeOff:
    x, y = np.round(games * ndtr(-t)), np.round(games * ndtr(t - mu))
    return EmpiricalTradeOff.from_counts(t, x, games, y, games)


@pytest.mark.evidence
def test_a_true_order_is_confirmed_and_its_converse_refuted() -> None:
    result = compare_curves(curve(1.5), curve(1.0))
    assert result.verdict == "CONFIRMED"
    assert result.gap == pytest.approx(0.5, abs=0.1)
    assert result.alpha_range[0] < 0.011
    assert 0.75 < result.alpha_range[1] < 0.8  # the FNR of the first is 0.01 there
    assert (result.games_to_confirm() or 0) > 10**7  # for a tolerance of 0.02
    converse = compare_curves(curve(1.0), curve(1.5))
    assert converse.verdict == "REFUTED"
    assert "REFUTED" in str(converse)


@pytest.mark.evidence
def test_equal_curves_are_confirmed_once_there_are_games_enough() -> None:
    fine = np.linspace(-3.0, 4.0, 257)
    many, few = curve(1.0, 10**8, fine), curve(1.0)
    assert few.compare(few, kind="equality").verdict == "INCONCLUSIVE"
    assert (unsure := few.compare(few, 0.001)).verdict == "INCONCLUSIVE"
    assert "means" not in str(unsure)
    for kind, words in (
        ("ordering", "is weaker than"),
        ("upper_bound_on_power", "is stronger than"),
        ("equality", "differs from"),
    ):
        result = many.compare(many, kind=kind)
        assert result.verdict == "CONFIRMED"
        means = rf"means .*at every FPR from 0.0\d+ to 0.\d+, the first attack {words} the second by at most 0.02 probits"
        assert re.search(means, str(result))
    other = curve(1.0, 10**8, fine + 0.004)  # other thresholds
    assert many.compare(other, kind="equality").verdict == "CONFIRMED"


@pytest.mark.evidence
def test_curves_five_per_cent_apart_are_refuted_as_equal_and_confirmed_as_ordered() -> None:
    fine = np.linspace(-3.0, 4.0, 257)
    weak, strong = curve(1.0, 10**8, fine), curve(1.05, 10**8, fine + 0.004)
    assert (
        weak.compare(strong, kind="equality").verdict
        == strong.compare(weak, kind="equality").verdict
        == "REFUTED"
    )
    assert (
        strong.compare(weak).verdict
        == weak.compare(strong, kind="upper_bound_on_power").verdict
        == "CONFIRMED"
    )
    assert (
        weak.compare(strong).verdict == strong.compare(weak, kind="upper_bound_on_power").verdict == "REFUTED"
    )


@pytest.mark.evidence
def test_few_thresholds_refute_nothing_of_equal_attacks() -> None:
    """Points of a curve at different rates: the chords differ, but steps allow for any curve through the points."""
    for t in ([0.5], [-1.0, 2.0], [0.0, 1.0, 2.0]):
        item, other = curve(1.0, 10**8, np.array(t)), curve(1.0, 10**8, np.array(t) + 0.4)
        for kind in ("equality", "ordering", "upper_bound_on_power")[: len(t)]:
            assert item.compare(other, kind=kind).verdict == "INCONCLUSIVE"


@pytest.mark.evidence
def test_curves_that_cross_are_refuted_both_ways() -> None:
    """A score of larger spread in the "in" world wins at low FPR and loses at high FPR."""
    games = 10**6
    x = np.round(games * ndtr(-T))
    wide = EmpiricalTradeOff.from_counts(T, x, games, np.round(games * ndtr((T - 1.0) / 1.5)), games)
    assert compare_curves(wide, curve(1.0)).verdict == "REFUTED"
    assert compare_curves(curve(1.0), wide).verdict == "REFUTED"


def test_few_games_are_inconclusive() -> None:
    result = compare_curves(curve(1.5, 10), curve(1.0, 10))
    assert result.verdict == "INCONCLUSIVE"
    assert math.isnan(result.gap)
    assert result.detectable_gap == math.inf


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
        first, two = (
            EmpiricalTradeOff.from_counts([0.0], [x], N, [y], N) for x, y in (counts[:2], counts[2:])
        )
        return compare_curves(first, two, failure_probability=risk, independent=independent).interval[1]

    rates = [0.5, float(ndtr(-0.15)), 0.5, float(ndtr(0.15))]
    check_ends(rates, risk, end, independent=independent, refuting=False)


@pytest.mark.evidence
def test_refutations_at_a_thousandth_are_at_most_as_frequent_as_stated_and_at_least_a_fifth() -> None:
    """The first curve stands at the corner that the steps of the second allow."""

    def low(counts: np.ndarray) -> float:
        x, y, v, w = (np.array([k]) for k in counts)
        first = EmpiricalTradeOff.from_counts([0.0], x, N, y, N)
        two = EmpiricalTradeOff.from_counts([0.0, 1.0], np.append(2 * v, v), N, np.append(w, w + N // 5), N)
        result = compare_curves(
            first, two, kind="upper_bound_on_power", failure_probability=1e-3, independent=True
        )
        end = float(result.low[result.tested].max())
        assert (result.verdict == "REFUTED") == (end > 1e-9)
        return end

    check_ends([0.3, 0.4, 0.3, 0.4], 1e-3, low, independent=True, refuting=True)


def test_an_equality_is_not_read_from_the_comparison_of_an_order() -> None:
    few = curve(1.0, t=T[::8])
    order = compare_curves(few, few)
    with pytest.raises(ValueError, match="kind is 'equality', but this comparison is of 'ordering'"):
        order.verdict_for("equality")
    assert compare_curves(few, few, kind="equality").verdict_for("ordering") == order.verdict


def test_chords_of_an_attack_that_is_worse_than_guessing() -> None:
    """Its curve lies above the diagonal, and few thresholds leave chords that are below the curve of the same mu."""
    n, z = 10**8, np.array([-2.5, 2.5])
    worse = EmpiricalTradeOff.from_counts(z, np.round(n * ndtr(-z)), n, np.round(n * ndtr(z + 1.0)), n)
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


def test_thresholds_or_games_that_what_was_seen_chose_are_refused() -> None:
    free = EmpiricalTradeOff.from_scores(out_scores=[0.0, 1.0, 2.0], in_scores=[1.0, 2.0, 3.0])
    ended = EmpiricalTradeOff.from_counts([0.0], [5], 10, [5], 10, earlier_counts=np.zeros((4, 1)))
    for wrong, words in (
        (free, "thresholds were chosen after the scores"),
        (ended, "ended by what they showed"),
    ):
        for pair in ((wrong, curve(1.0)), (curve(1.0), wrong)):
            with pytest.raises(ValueError, match=words):
                compare_curves(*pair)


@pytest.mark.evidence
def test_independent_runs_need_fewer_games() -> None:
    item, other = (compare_curves(curve(1.0), curve(1.0), independent=text) for text in (True, False))
    assert item.interval[1] < 0.85 * other.interval[1]
    assert "independent, as stated" in str(item)
    assert "may depend on each other" in str(other)
    with pytest.raises(ValueError, match="independent is 1; it must be True or False"):
        compare_curves(curve(1.0), curve(1.0), independent=1)  # pyright: ignore[reportArgumentType]


@pytest.mark.evidence
def test_a_curve_is_compared_with_that_of_another_attack() -> None:
    strong, weak = curve(1.5), curve(1.0)
    assert strong.compare(weak, 0.3).verdict == "CONFIRMED"
    assert weak.compare(strong, 0.3).verdict == "REFUTED"
    assert weak.compare(strong, 0.3, kind="upper_bound_on_power").verdict == "CONFIRMED"
    assert strong.compare(weak, 0.3, kind="upper_bound_on_power").verdict == "REFUTED"
    text = str(weak.compare(strong, 0.3, kind="upper_bound_on_power"))
    assert text.startswith("CONFIRMED: this curve has at least the FNR of the other at every FPR")
    assert str(weak.compare(strong, 0.3)).startswith(
        "REFUTED: this curve has at most the FNR of the other at every FPR"
    )
    assert strong.compare(weak, 0.3, least_rate=0.2).alpha_range[0] > 0.2
    with pytest.raises(ValueError, match="finite_size is given, but claim is a played curve"):
        strong.compare(weak, finite_size=0.1)  # pyright: ignore[reportCallIssue, reportArgumentType]
    with pytest.raises(
        ValueError, match=r"kind is 'limit'; allowed: ordering, upper_bound_on_power, equality"
    ):
        strong.compare(weak, kind="limit")
