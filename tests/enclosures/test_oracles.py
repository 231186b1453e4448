"""The truths of the battery against each other, and a planted curve that is 1% off."""

# mpmath says little of its types.
# pyright: reportAttributeAccessIssue=false, reportArgumentType=false, reportReturnType=false, reportOperatorIssue=false
# pyright: reportIncompatibleMethodOverride=false, reportCallIssue=false, reportIncompatibleVariableOverride=false

import numpy as np
import pytest

import mipsim as mi

from .composed import (
    LaplaceSum,
    Transformed,
    gaussian,
    subsampled_gaussian,
    two_coins,
)
from .curves import Between, averaged
from .enclosed import Queries, misses
from .truth import Atoms, Gaussian, Laplace, Mixed, Truth, from_logit, mp, mpf, power_of_pair, rate, response

SLOPES = [-2.5, -0.1, 0.0, 0.4, 3.0]


@pytest.mark.parametrize(
    ("truth", "logits"),
    [
        (Gaussian(1), (-70, 2)),
        (Mixed(Gaussian(2), 0.3), (-3, 0)),
        pytest.param(Gaussian(7), (-70, -3, 0, 2, 40), marks=pytest.mark.slow),
        pytest.param(Mixed(Gaussian(1), 0.01).reversed, (-70, -3, 0, 2, 40), marks=pytest.mark.slow),
    ],
)
def test_transforms_and_curves_belong_together(truth: Truth, logits: tuple[int, ...]) -> None:
    for u in logits:
        fnr, tpr = truth.curve(from_logit(mpf(u)))
        again = Truth.curve(truth, from_logit(mpf(u)))
        assert abs(again[0] / fnr - 1) < 1e-20
        assert abs(again[1] / tpr - 1) < 1e-20


def test_a_mean_of_walks_keeps_a_jump_beyond_a_half() -> None:
    """At an FPR of 2 / 3, whose complement is rounded, the TPR of a curve jumps by 1 / 2; exact in thirds."""
    third = mpf(1) / 3
    jump = Atoms([(third, 0), (third, mpf(1) / 4), (0, mpf(1) / 2), (third, mpf(1) / 4)])
    other = Atoms([(mpf(1) / 7, mpf(1) / 2), (mpf(6) / 7, mpf(1) / 2)])
    result = averaged([jump, other], [0.75, 0.25])
    after = 0.75 * 0.75 + 0.25 * (mpf(1) / 2 + (2 * third - mpf(1) / 7) * 7 / 12)
    assert abs(result.hockey(mpf(0)) - (after - 2 * third)) < 1e-50
    assert abs(result.curve((2 * third, third), from_left=True)[1] - (after - 0.375)) < 1e-50


def test_a_mean_of_walks_keeps_steps_that_a_jump_dwarfs() -> None:
    """Of rare steps after a jump of 1 / 10 each keeps its in mass; that of 1e-85 would order it last of all."""
    rare = Atoms([(mpf("1e-85"), mpf("2e-85")), (1 - mpf("1e-85"), 1 - mpf("2e-85"))])
    result = averaged([rare, response(1, 0.1)], [0.75, 0.25])
    step = next(i / o for o, i in result.masses if 0 < o < 1e-80)
    assert abs(step - 0.75 * 2 - 0.25 * mp.e) < 1e-50
    assert abs(mp.fsum(i for _, i in result.masses) - 1) < 1e-50


def test_both_directions_of_a_hockey_stick() -> None:
    for truth in (Gaussian(1), Laplace(2), Mixed(Gaussian(3), 0.2), response(1, 0.1)):
        for s in map(mpf, SLOPES):
            assert abs(truth.put(s) - truth.hockey(s) - mp.expm1(s)) < 1e-40


def test_transforms_of_sums_against_closed_forms() -> None:
    """Gaussians compose in closed form, coins binomially, and a sub-sampled Gaussian that always takes part is Gaussian."""
    coins = power_of_pair(mpf(0.25), mpf(0.375), 40)
    pairs = [
        (Transformed([(gaussian(0.1), 100)]), Gaussian(1)),
        (Transformed([(subsampled_gaussian(0.5, 1.0), 4)]), Gaussian(1)),
        (Transformed([(two_coins(0.25, 0.375), 10), (two_coins(0.25, 0.375), 30)]), coins),
    ]
    for result, truth in pairs[:2]:
        for s in map(mpf, SLOPES):
            assert abs(result.hockey(s) / truth.hockey(s) - 1) < 1e-12
            assert abs(result.put(s) / truth.put(s) - 1) < 1e-12
    assert abs(pairs[0][0].hockey(mpf(30)) / Gaussian(1).hockey(mpf(30)) - 1) < 1e-12  # 5e-193


def test_a_sum_of_laplace_losses() -> None:
    item, two = LaplaceSum(mpf(0.5), 1), LaplaceSum(mpf(0.5), 2)
    for s in map(mpf, (-0.3, 0.0, 0.2, 0.7)):
        assert abs(item.hockey(s) - Laplace(mpf(0.5)).hockey(s)) < 1e-40

    # The second loss averages the first curve's transform: two atoms and a density e^(-(y + mu) / 2) / 4.
    m = mpf(0.5)
    for s in map(mpf, (0.1, 0.7)):
        density = lambda y, s=s: mp.exp(y) * mp.exp(-(y + m) / 2) / 4 * Laplace(m).hockey(s - y)  # noqa: E731
        expected = mp.exp(m) * mp.exp(-m) / 2 * Laplace(m).hockey(s - m) + mp.exp(-m) / 2 * Laplace(m).hockey(
            s + m
        )
        expected += mp.quad(density, sorted({-m, s - m, m}))
        assert abs(two.hockey(s) - expected) < 1e-20


def test_atoms_by_hand() -> None:
    walk = Atoms([(0.25, 0.0), (0.25, 0.75), (0.5, 0.25)])
    assert walk.curve(rate(0.25)) == (1, 0)
    assert walk.curve(rate(0.5)) == (0.25, 0.75)
    assert walk.hull().curve(rate(0.25)) == (0.625, 0.375)
    assert walk.reversed.curve(rate(0.25)) == (0.5, 0.5)
    assert walk.hockey(mpf(0)) == 0.25
    assert walk.auc() == mpf(0.25 * 0.375 + 0.5 * 0.875)
    assert walk.mixed(0.5).curve(rate(0.5)) == (0.375, 0.625)


@pytest.mark.parametrize("share", [0.99, 1.01])
def test_a_curve_that_is_1_per_cent_off_is_detected(share: float) -> None:
    """Control: each number by itself shows a shift of 1%, to either side; the right curve shows nothing."""
    rng = np.random.default_rng(0)
    queries = Queries.sampled(rng, 3, most_epsilon=8.0)
    truth = Gaussian(1)
    assert misses(mi.GaussianTradeOff(1.0), truth, queries) == []
    result = misses(mi.GaussianTradeOff(share), truth, queries)
    for name in (
        "log FNR",
        "log TPR",
        "beta",
        "tpr",
        "delta",
        "log delta",
        "epsilon",
        "epsilon of log delta",
        "Bayes risk",
        "advantage",
        "eta",
        "auc",
        "least_mu",
    ):
        assert any(line.startswith((f"{name}(", f"{name} at", f"{name}:")) for line in result), name


def test_a_band_that_ends_just_before_the_truth_is_caught() -> None:
    band = Between(mi.GaussianTradeOff(1.02), mi.GaussianTradeOff(1.0 + 1e-9))
    assert misses(band, Gaussian(1.01), Queries.at([0.5], [1e-3], [0.1])) == []
    assert len(misses(band, Gaussian(1), Queries.at([0.5], [1e-3], [0.1]))) >= 4
