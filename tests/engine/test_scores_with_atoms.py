"""Scores that take few values: thresholds lie between them, and the verdict is about them."""

import json
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

import mipsim as mi
from mipsim.bands.curve_band import CurveBand, just_below
from mipsim.engine.checkpoint import read_counts, write_counts
from mipsim.engine.describe import array_digest

DATA = mi.Gaussian(np.zeros(2), np.ones(2))
MEAN = mi.FixedTarget(mi.EmpiricalMean(), DATA, n=5, target=np.ones(2))


def code(target, output):
    return output


def randomised_response(epsilon: float, delta: float, games: int, seed: int = 0) -> mi.Histogram:
    """Its codes rise with the likelihood ratio: the optimal attack is the code itself."""
    point = np.ones(2)
    game = mi.FixedTarget(mi.RandomizedResponse(point, epsilon, delta), DATA, n=2, target=point)
    return mi.play(game, code, games, seed, progress=False)


@pytest.mark.evidence
@pytest.mark.parametrize("delta", [0.0, 0.1])
def test_randomised_response_is_confirmed_against_its_exact_curve_and_no_other(delta):
    """At 1e5 games an interval of the gap reaches 0.05 probits above its estimate, whose error is 0.012: a red test has
    probability 1e-5 at a tolerance of 0.1. Five per cent off in epsilon is 0.04 probits below, with an error of 0.005."""
    curve = randomised_response(1.0, delta, 100_000).tradeoff()
    assert curve.compare(mi.ApproxDPTradeOff(1.0, delta), tolerance=0.1).verdict == "CONFIRMED"
    assert curve.compare(mi.ApproxDPTradeOff(1.05, delta), tolerance=0.1).verdict == "REFUTED"
    low, high = curve.advantage_interval()
    assert low < mi.ApproxDPTradeOff(1.0, delta).advantage() < high < 0.8
    assert curve.auc_interval()[0] > 0.5
    needed = curve.compare(mi.ApproxDPTradeOff(1.0, delta)).games_to_confirm()
    assert needed is not None
    assert needed < 10**7


def test_a_yes_or_no_attack_has_a_curve():
    """P(mean > 0.3) is known: Phi of (0.3 - its mean) / its deviation; bands at 1 - 1e-9."""
    counts = mi.play(MEAN, lambda target, output: 0.3 * (output[0] > 0.3), 20_000, progress=False)
    curve = counts.tradeoff(confidence=1 - 1e-9)
    fpr, fnr = ndtr(-0.3 * 5**0.5), ndtr((0.3 - 0.2) * 5 / 2)
    assert 0.0 < curve.band(fpr - 0.03)[0] <= fnr <= curve.band(fpr + 0.03)[1] < 1.0
    assert 0.0 < curve.advantage_interval()[0] <= 1.0 - fpr - fnr


@pytest.mark.evidence
def test_runs_of_two_seeds_add_up():
    for attack in (lambda target, output: output[0], lambda target, output: output[0] > 0.3):
        first, second = (mi.play(MEAN, attack, 300, seed, progress=False) for seed in (0, 1))
        assert (first + second).games == 600
        assert not np.array_equal(first.out, second.out)
    other = mi.play(MEAN, lambda target, output: output[0] > 0.3, 300, 1, edges=[0.0], progress=False)
    with pytest.raises(ValueError, match=r"play the second with edges=first\.edges"):
        _ = first + other


def test_counts_on_thresholds_of_an_older_rule_are_resumed_on_them(tmp_path):
    """A checkpoint whose pilot used the run's own seed, and said nothing of its rule."""
    path, edges = tmp_path / "run.npz", np.linspace(-1.0, 1.0, 7)
    settings: dict[str, Any] = {"fidelity": "literal", "progress": False}
    attack = mi.ScalarProduct(np.zeros(2))
    mi.play(MEAN, attack, 300, 5, edges=edges, checkpoint=path, **settings)
    stored = read_counts(path)
    manifest = json.loads(json.dumps(stored["manifest"]))
    manifest["edges"] = {**array_digest(edges), "source": "pilot"}
    write_counts(path, edges, stored["out"], stored["inside"], manifest)
    resumed = mi.play(MEAN, attack, 700, 5, checkpoint=path, **settings)
    whole = mi.play(MEAN, attack, 700, 5, edges=edges, **settings)
    assert np.array_equal(resumed.out, whole.out)
    assert np.array_equal(resumed.inside, whole.inside)
    assert "rule" not in resumed.manifest["edges"]
    assert mi.play(MEAN, attack, 10, 5, **settings).manifest["edges"]["rule"] == 3


def test_what_a_score_of_two_values_prints_is_narrow_and_says_why_the_rest_is_wide():
    """They are not whole, so that rounding may differ. Its advantage is known to .1 from 20,000 games a world at 1 - 1e-9; between its thresholds nothing is known of other attacks' orders."""
    counts = mi.play(MEAN, lambda target, output: 0.3 * (output[0] > 0.3), 20_000, progress=False)
    curve = counts.tradeoff(confidence=1 - 1e-9)
    (low, high), _ = curve.curve_band.intervals_of_ties()
    truth = 1.0 - ndtr(-0.3 * 5**0.5) - ndtr((0.3 - 0.2) * 5 / 2)
    assert low <= truth <= high
    assert high - low < 0.1 < curve.advantage_interval()[1] - high
    assert f"if tied    advantage [{low:.4g}, {high:.4g}], AUC [" in str(curve)
    smooth = mi.play(MEAN, lambda target, output: output[0], 20_000, progress=False)
    assert "if tied" not in str(smooth.tradeoff())


def test_the_area_of_ties_is_between_the_polygons_of_the_ends():
    """Three points by hand: 1 - [.5 (0 + .2) + .3 (.2 + .6) + .2 (.6 + 1)]/2, and ties count half."""
    exact = np.array([0.5, 0.2]), np.array([0.2, 0.6])
    band = CurveBand(exact[0], exact[0], exact[1], exact[1])
    advantage, area = band.intervals_of_ties()
    assert advantage == pytest.approx((0.3, 0.3))
    assert area == pytest.approx((0.67, 0.67))


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 1.0), (3.0, 700.0)])
def test_of_a_yes_or_no_attack_equal_scores_are_known_to_be_equal(low: float, high: float) -> None:
    """Its thresholds include the float just below each value, fixed by the pilot, so that the cell in between holds one number."""
    truth = 1.0 - ndtr(-0.3 * 5**0.5) - ndtr((0.3 - 0.2) * 5 / 2)
    counts = mi.play(
        MEAN, lambda target, output: jnp.where(output[0] > 0.3, high, low), 20_000, progress=False
    )
    assert counts.edges[[1, 2, 4]].tolist() == [low, (low + high) / 2, high]
    curve = counts.tradeoff()
    least, most = curve.advantage_interval()
    assert least <= truth <= most
    assert most - least < 0.06
    middle, area = 0.5 + 0.5 * truth, curve.auc_interval()
    assert area[0] <= middle <= area[1]
    assert area[1] - area[0] < 0.04
    assert "if tied" not in str(curve)
    few = counts.tradeoff(thresholds=1)  # between two other thresholds nothing is known of the order
    assert few.advantage_interval()[1] > most + 0.1
    widened = mi.play(
        MEAN,
        lambda target, output: jnp.where(output[0] > 0.3, high, low),
        20_000,
        edges=counts.edges[[0, 2]],
        progress=False,
    )
    assert widened.tradeoff().advantage_interval()[1] > most + 0.1  # the control: the same games, other edges


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
