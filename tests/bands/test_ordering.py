import math

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import binom

from mipsim.bands import EmpiricalTradeOff, compare_curves

T = np.linspace(-2.0, 4.0, 129)


def curve(mu: float, games: int = 10**6, t: np.ndarray = T) -> EmpiricalTradeOff:
    x, y = np.round(games * ndtr(-t)), np.round(games * ndtr(t - mu))
    return EmpiricalTradeOff.from_counts(t, x, games, y, games)


def test_a_true_order_is_confirmed_and_its_converse_refuted() -> None:
    found = compare_curves(curve(1.5), curve(1.0))
    assert found.verdict == "CONFIRMED"
    assert found.gap == pytest.approx(0.5, abs=0.1)
    assert found.alpha_range[0] < 0.01
    assert found.alpha_range[1] > 0.9
    assert found.games_to_confirm() is None
    converse = compare_curves(curve(1.0), curve(1.5))
    assert converse.verdict == "REFUTED"
    assert "REFUTED" in str(converse)


def test_equal_curves_are_not_refuted() -> None:
    many = curve(1.0, 10**8)
    assert compare_curves(many, many, tolerance=0.3).verdict == "CONFIRMED"
    assert compare_curves(curve(1.0), curve(1.0), tolerance=0.001).verdict == "INCONCLUSIVE"


def test_curves_that_cross_are_refuted_both_ways() -> None:
    """A score of larger spread in the "in" world wins at low FPR and loses at high FPR."""
    games = 10**6
    x = np.round(games * ndtr(-T))
    wide = EmpiricalTradeOff.from_counts(T, x, games, np.round(games * ndtr((T - 1.0) / 1.5)), games)
    assert compare_curves(wide, curve(1.0)).verdict == "REFUTED"
    assert compare_curves(curve(1.0), wide).verdict == "REFUTED"


def test_few_games_are_inconclusive() -> None:
    found = compare_curves(curve(1.5, 10), curve(1.0, 10))
    assert found.verdict == "INCONCLUSIVE"
    assert math.isnan(found.gap)
    assert found.detectable_gap == math.inf


def test_false_refutations_stay_below_the_failure_probability(draw_counts) -> None:
    """Equal curves, independent games: refutations stay below the 1e-9 quantile of the nominal."""
    replicates, games, risk = 500, 2000, 0.05
    t = np.linspace(-1.5, 2.5, 16)
    rng = np.random.default_rng(8)
    draws = [draw_counts(rng, r, games, replicates) for r in (ndtr(-t), ndtr(t - 1.0)) * 2]
    refuted = 0
    for x, y, v, w in zip(*draws, strict=True):
        first = EmpiricalTradeOff.from_counts(t, x, games, y, games)
        second = EmpiricalTradeOff.from_counts(t, v, games, w, games)
        refuted += compare_curves(first, second, failure_probability=risk).verdict == "REFUTED"
    assert refuted <= binom.isf(1e-9, replicates, risk)


@pytest.mark.parametrize("name", ["failure_probability", "tolerance"])
def test_bad_input(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} is 0.0"):
        compare_curves(curve(1.0), curve(1.0), **{name: 0.0})


def test_a_curve_is_compared_with_that_of_another_attack() -> None:
    strong, weak = curve(1.5), curve(1.0)
    assert strong.compare(weak, 0.3).verdict == "CONFIRMED"
    assert weak.compare(strong, 0.3).verdict == "REFUTED"
    assert weak.compare(strong, 0.3, kind="upper_bound_on_power").verdict == "CONFIRMED"
    assert strong.compare(weak, 0.3, kind="upper_bound_on_power").verdict == "REFUTED"
    said = str(weak.compare(strong, 0.3, kind="upper_bound_on_power"))
    assert said.startswith("CONFIRMED: the other curve has at most the FNR of this at every FPR")
    assert str(weak.compare(strong, 0.3)).startswith(
        "REFUTED: this curve has at most the FNR of the other at every FPR"
    )
    with pytest.raises(ValueError, match=r"least_rate is 0\.1, but claim is a played curve"):
        strong.compare(weak, least_rate=0.1)  # pyright: ignore[reportArgumentType]
    with pytest.raises(
        ValueError, match=r"kind is 'equality'; it must be one of ordering, upper_bound_on_power"
    ):
        strong.compare(weak, kind="equality")  # pyright: ignore[reportCallIssue]
