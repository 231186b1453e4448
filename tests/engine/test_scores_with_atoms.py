"""Scores that take few values: thresholds lie between them, and the verdict is about them."""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim.bands.curve_band import CurveBand, just_below
from mipsim.engine.pilot import pilot_edges

DATA = mi.Gaussian(np.zeros(2), np.ones(2))
MEAN = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=5, target=np.ones(2))


@pytest.mark.evidence
def test_runs_of_two_seeds_add_up():
    for attack in (lambda target, output: output[0], lambda target, output: output[0] > 0.3):
        first, second = (mi.play(MEAN, attack, 300, seed, progress=False) for seed in (0, 1))
        assert (first + second).games == 600
        assert not np.array_equal(first.out, second.out)
    other = mi.play(MEAN, lambda target, output: output[0] > 0.3, 300, 1, edges=[0.0], progress=False)
    with pytest.raises(ValueError, match=r"play the second with edges=first\.edges"):
        _ = first + other


def test_what_a_score_of_two_values_prints_is_narrow_and_says_why_the_rest_is_wide():
    """Its advantage is known to .1 from 20,000 games a world at 1 - 1e-9; between thresholds that a user gave nothing is known of other attacks' orders."""
    counts = mi.play(
        MEAN, lambda target, output: 0.3 * (output[0] > 0.3), 20_000, edges=[0.1], progress=False
    )
    curve = counts.tradeoff(confidence=1 - 1e-9)
    (low, high), _ = curve.curve_band.intervals_of_ties()
    truth = 1.0 - ndtr(-0.3 * 5**0.5) - ndtr((0.3 - 0.2) * 5 / 2)
    assert low <= truth <= high
    assert high - low < 0.1 < curve.advantage_interval()[1] - high
    assert f"if tied           advantage [{low:.4g}, {high:.4g}], AUC [" in str(curve)
    smooth = np.random.default_rng(0).normal([[0.0], [0.9]], size=(2, 20_000))
    edges = pilot_edges(smooth[:, :4096])
    out, inside = (np.bincount(np.searchsorted(edges, own), minlength=edges.size + 1) for own in smooth)
    assert "if tied" not in str(mi.Histogram(edges, out, inside).tradeoff())


def test_the_area_of_ties_is_between_the_polygons_of_the_ends():
    """Three points by hand: 1 - [.5 (0 + .2) + .3 (.2 + .6) + .2 (.6 + 1)]/2, and ties count half."""
    exact = np.array([0.5, 0.2]), np.array([0.2, 0.6])
    band = CurveBand(exact[0], exact[0], exact[1], exact[1])
    advantage, area = band.intervals_of_ties()
    assert advantage == pytest.approx((0.3, 0.3))
    assert area == pytest.approx((0.67, 0.67))


def steps(values: tuple[float, ...]) -> Callable[..., Any]:
    """The attack that maps the first coordinate of the mean to few values, by cuts from 0 to 0.6."""
    cuts = np.linspace(0.0, 0.6, len(values) + 1)[1:-1]
    return lambda target, output: jnp.asarray(values)[jnp.searchsorted(jnp.asarray(cuts), output[0])]


FEW = [
    (-np.inf, np.inf), (0.0, 1.0), (-0.0, 0.3), (-1.7, np.inf), (np.float32(0.1), np.float32(0.7)), (-0.3, 0.1, 0.7), tuple(np.log([2.0, 3.0, 5.0])),
]  # fmt: skip


@pytest.mark.evidence
@pytest.mark.parametrize("values", [tuple(np.arange(10) / 10), *FEW])
def test_scores_of_few_values_have_the_intervals_of_ties(values: tuple[float, ...]) -> None:
    """20,000 games at 0.999 against the known curve: FPR and TPR at each cut are normal tails; the control plays the same games on other edges."""
    cuts = np.linspace(0.0, 0.6, len(values) + 1)[1:-1]
    fpr, tpr = ndtr(-cuts * 5**0.5), ndtr((0.2 - cuts) * 5 / 2)
    truth, x, y = (tpr - fpr).max(), np.array([1.0, *fpr, 0.0]), np.array([1.0, *tpr, 0.0])
    counts = mi.play(MEAN, steps(values), 20_000, progress=False)
    curve = counts.tradeoff()
    least, most = curve.advantage_interval()
    assert least <= truth <= most < least + 0.065
    low, high = curve.auc_interval()
    assert low <= -np.trapezoid(y, x) <= high < low + 0.04
    at = fpr + 0.015
    below, above = curve.tpr_interval(at)
    by_lot = np.interp(at, x[::-1], y[::-1])
    assert (below <= by_lot).all()
    assert (by_lot <= above).all()
    # An error of the FPR moves the TPR by lot, times the steeper chord's slope.
    slope = np.diff(y) / np.diff(x)
    assert (above < below + 0.035 * (1 + np.maximum(slope[:-1], slope[1:]))).all()
    assert "if tied" not in str(curve)
    wide = mi.play(MEAN, steps(values), 20_000, edges=np.clip(values, -5.0, 5.0)[:-1] + 0.01, progress=False)
    assert wide.tradeoff().advantage_interval()[1] > most + 0.1


def test_what_lies_beside_the_two_values_widens_the_interval() -> None:
    """A tenth of the games with a third value, wherever between both: the interval must allow for the best threshold among them."""
    edges = np.sort(np.concatenate([just_below(np.array([0.0, 1.0])), [0.0, 0.5, 1.0]]))
    plain, third = (
        mi.Histogram(
            edges, np.array([0, 5_000, 0, k, 5_000 - k, 0]), np.array([0, 2_000, 0, k, 8_000 - k, 0])
        )
        for k in (0, 1_000)
    )
    assert plain.tradeoff().advantage_interval()[1] < 0.34
    assert third.tradeoff().advantage_interval()[1] > 0.4  # as if the attack had 1 - .4 - .2
