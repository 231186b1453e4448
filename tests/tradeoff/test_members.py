"""Curves and operations on them: sizes in rational numbers, rare rates, hulls, duals, and inputs that once failed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from math import fsum

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim.exact.atoms import AtomsLaw
from mipsim.tradeoff.exact_tradeoff import ExactTradeOff
from mipsim.tradeoff.points import hull_corners
from mipsim.tradeoff.stochastic import stochastic_composition
from tests.enclosures.curves import Between


@pytest.mark.parametrize("seed", range(8))
def test_a_composition_holds_its_mu_in_rational_numbers(seed: int):
    """The sum of squares is exact: many small terms are not lost beside a large term, and the root is known to its rounding."""
    rng = np.random.default_rng(seed)
    mus = [1.0, *(1e-8 * rng.uniform(1.0, 2.0, 1000)).tolist()] if seed < 1 else rng.uniform(0, 3, 5).tolist()
    counts = [1] * len(mus) if seed < 1 else rng.integers(1, 1000, 5).tolist()
    square = sum(n * Fraction(mu) ** 2 for mu, n in zip(mus, counts, strict=True))
    curve = mi.compose(*map(mi.GaussianTradeOff, mus), copies=counts)
    nested = mi.compose(curve, mi.GaussianTradeOff(mus[1]))
    for item, true in ((curve, square), (nested, square + Fraction(mus[1]) ** 2)):
        low, high = item.least_mu_bounds()
        assert Fraction(low) ** 2 <= true <= Fraction(high) ** 2
        assert high - low < 1e-14 * high


@pytest.mark.parametrize(("noise", "steps"), [(3.0, 1), (0.1, 7), (1.7, 1000), (2.0, 16)])
@pytest.mark.parametrize("neighbours", ["remove", "replace"])
def test_the_mu_of_gaussian_steps_is_known_to_its_rounding(noise: float, steps: int, neighbours: str):
    sampling = "fixed_size" if neighbours == "replace" else "poisson"
    low, high = mi.dpsgd(noise, 1.0, steps, neighbours=neighbours, sampling=sampling).least_mu_bounds()
    true = steps * ((2 if neighbours == "replace" else 1) / Fraction(noise)) ** 2
    assert Fraction(low) ** 2 <= true <= Fraction(high) ** 2
    assert (low == high) is (noise == 2.0)


@pytest.mark.parametrize("mu", [1.0, 36.0, 37.3, 38.0, 50.0])
@pytest.mark.parametrize("rho", [0.01, 0.5])
def test_the_inverse_of_a_mixture_of_a_large_shift(mu: float, rho: float) -> None:
    """Phi(w) is the TNR of the FPR that is sought: its FNR of Phi(w - mu) may be less than float64 holds."""
    w = np.array([-30.0, -5.0, -0.3, 0.0, 0.5, 2.0])
    x = rho * ndtr(w - mu) + (1.0 - rho) * ndtr(w)
    turned = mi.MixtureTradeOff(mi.GaussianTradeOff(mu), rho).inverse()
    assert np.allclose(turned.tpr_at(x), ndtr(w), rtol=1e-11, atol=0.0)
    assert np.allclose(turned.beta(x), ndtr(-w), rtol=1e-9, atol=0.0)


@pytest.mark.parametrize("share", [-1e-14, -2e-15, 2e-15, 1e-14])
def test_a_corner_of_a_hull_does_not_depend_on_how_many_points_lie_within(share: float) -> None:
    """200,000 rises make a single edge; the next is as steep but for a few roundings, which the rounding of a plain sum hides."""
    rng = np.random.default_rng(0)
    out = rng.random(200_000) * 1e-6
    inside = out * np.linspace(1.0, 1.5, out.size) * (1.0 + 0.01 * rng.random(out.size))
    steep = 0.1 * fsum(inside) / fsum(out) * (1.0 + share)
    retained = hull_corners(np.append(out, 0.1), np.append(inside, steep))
    assert retained == ([0, out.size + 1] if share > 0.0 else [0, out.size, out.size + 1])


@pytest.mark.parametrize("last", [1.0 - 2e-16, 1.0 + 2e-16, 1.0 - 1e-13])
def test_a_last_corner_moved_by_rounding_is_1(last: float) -> None:
    """The sum of ten tenths is 1 - 1e-16."""
    curve = mi.PiecewiseLinearTradeOff([0.0, 0.5, last], [1.0, 0.25, 0.0])
    assert curve.alpha[-1] == 1.0
    assert curve.beta(0.75) == mi.PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, 0.0]).beta(0.75)
    with pytest.raises(ValueError, match="it must run from 0 to 1"):
        mi.PiecewiseLinearTradeOff([0.0, 0.5, 1.0 - 1e-9], [1.0, 0.25, 0.0])


def test_a_last_fnr_moved_by_rounding_is_0() -> None:
    """As 1 less a sum of powers is; operations look for the corner at 0."""
    moved, curve = (mi.PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [1.0, 0.25, last]) for last in (2e-16, 0.0))
    assert moved.corners[-1] == 0.0
    assert mi.compose(moved, copies=2).delta_bounds(0.1) == mi.compose(curve, copies=2).delta_bounds(0.1)
    assert moved.inverse().beta(0.25) == curve.inverse().beta(0.25)


class OneSided(mi.AbstractTradeOff):
    """An attack that rejects below the threshold, against N(0, 1) and N(0, 4): not its own best test."""

    def enclosure(self, log_fpr: np.ndarray) -> mi.CurveBounds:
        return mi.bounds_from_rates(lambda fpr: (ndtr(-ndtri(fpr) / 2.0), ndtr(ndtri(fpr) / 2.0)), log_fpr)


def test_an_attack_that_is_not_the_best_is_convexified() -> None:
    # Its ROC curve is concave up to 1/2 and convex after; the hull is a tangent from (1, 1).
    attack = OneSided()
    hull = attack.convexified()
    fine = np.linspace(1e-6, 0.5, 400_001)
    touch = fine[np.argmin((1 - attack.tpr_at(fine)) / (1 - fine))]
    alpha = np.linspace(0.0, 1.0, 101)
    line = (1 - alpha) * float(attack.beta(touch)) / (1 - touch)
    expected = np.where(alpha <= touch, attack.beta(alpha), line)
    low, high = hull.beta_bounds(alpha)
    assert (low <= expected + 1e-13).all()
    assert (high >= expected - 1e-9).all()  # of the touching point
    # A curve of which no convexity is known is known between two points to first order of their distance.
    assert (high - low < 2e-3).all()
    least, most = hull.advantage_bounds()
    largest = float((attack.tpr_at(fine) - fine).max())  # of the upper ends of the TPR
    assert least - 1e-9 <= largest <= most + 1e-12  # the grid misses the maximum by less than 1e-9
    assert most - least < 1e-4
    assert mi.GaussianTradeOff(1.0).convexified() == mi.GaussianTradeOff(1.0)


def test_the_samples_enclose_the_curve() -> None:
    claim, alpha = mi.GaussianTradeOff(1.0), np.linspace(0.05, 0.95, 19)
    chords = mi.SampledTradeOff(alpha, claim.beta(alpha))
    fine = np.linspace(0, 1, 1001)
    assert (chords.beta_bounds(fine)[1] >= claim.beta(fine) - 1e-15).all()
    assert (
        mi.PrivacyLossDistribution.below_polygon(chords).tradeoff().beta(fine) <= claim.beta(fine) + 1e-15
    ).all()
    with pytest.raises(ValueError, match="must be 1 - beta"):
        mi.SampledTradeOff([0.5], [0.2], [0.7])


@pytest.mark.parametrize("rate", [0.75, 1e-9])
def test_masses_below_the_least_normal_float_keep_their_logarithms(rate: float):
    """A product with 1e-320 has few digits in float64; bounds of its logarithm hold all the same."""
    delta = 1e-320
    mixture = mi.MixtureTradeOff(mi.ApproxDPTradeOff(2.0, delta), rate)
    hull = mi.convex_hull(mixture, mi.PiecewiseLinearTradeOff([0.0, 0.25, 1.0], [1.0, 0.5, 0.0]))
    with mpmath.workdps(40):
        truth = mpmath.log(mpmath.mpf(rate)) + mpmath.log(mpmath.mpf(delta))
    for curve in (mixture, mixture.convexified(), hull, hull.convexified()):
        bounds = curve.enclosure(np.array([-np.inf, -5000.0]))
        assert (bounds.log_tpr_low <= truth).all()
        assert (bounds.log_tpr_high >= truth).all()
        assert bounds.log_tpr_low[0] >= truth - 1e-9


class Undefined(mi.AbstractTradeOff):
    """A curve that has no value between 0.2 and 0.3."""

    def enclosure(self, log_fpr: np.ndarray) -> mi.CurveBounds:
        fpr = np.exp(log_fpr)
        hole = (fpr > 0.2) & (fpr < 0.3)
        return mi.CurveBounds.of_rates(np.where(hole, np.nan, 1.0 - fpr), np.where(hole, 1.0, fpr))


@pytest.mark.parametrize("kind", ["equality", "upper_bound_on_power", "ordering"])
def test_what_is_undefined_decides_nothing(kind: str) -> None:
    for curve, claim in (
        (Undefined(), mi.GaussianTradeOff(1.0)),
        (mi.GaussianTradeOff(1.0), Undefined()),
    ):
        result = curve.compare(claim, 0.1 if kind == "equality" else None, kind=kind)
        assert result.verdict == "INCONCLUSIVE"
        assert "undefined (NaN) at FPR" in result.detail
    with pytest.raises(ValueError, match=r"the curve Undefined is undefined \(NaN\) at FPR 0\.\d+"):
        Undefined().advantage()
    assert math.isnan(Undefined().beta(0.25))
    assert Undefined().beta(0.5) == pytest.approx(0.5)


def test_an_open_end_is_stated_as_a_bound() -> None:
    law = AtomsLaw(np.array([0.0, 1.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.zeros(2), 1e-12)
    result = ExactTradeOff(law).compare(mi.GaussianTradeOff(1.0), kind="upper_bound_on_power")
    assert result.verdict == "REFUTED"
    assert result.interval[1] == math.inf
    assert result._lines()[0][1].startswith("at least +")


@pytest.mark.evidence
@pytest.mark.parametrize("p", [0.15, 0.3, 0.6])
@pytest.mark.parametrize("mu", [0.025, 0.05, 0.1, 1.0])
def test_the_mu_of_a_sub_sampled_gaussian_is_finite(mu: float, p: float) -> None:
    """G_mu lies below the mixture, and the mixture nears it in the tail."""
    curve = mi.MixtureTradeOff(mi.GaussianTradeOff(mu), p)
    for each in (curve, curve.inverse(), curve.symmetrized()):
        low, high = each.least_mu_bounds()
        assert high <= mu
        assert low > 0.99 * mu


def test_a_single_target_is_its_own_curve_and_weights_are_a_distribution() -> None:
    item = mi.GaussianTradeOff(1.0)
    assert stochastic_composition([item]) is item
    assert stochastic_composition([item, mi.GaussianTradeOff(2.0)], [1.0, 0.0]) is item
    for weights, words in (([0.5, 0.4], r"weights sum to 0.9"), ([1.5, -0.5], r"weights holds -0.5")):
        with pytest.raises(ValueError, match=words):
            stochastic_composition([item, item], weights)
    with pytest.raises(ValueError, match="curves is empty"):
        stochastic_composition([])


def test_the_auc_of_many_corners() -> None:
    """Forty thousand random steps."""
    rng = np.random.default_rng(0)
    slopes = -np.sort(-rng.exponential(size=40_000))
    alpha = np.r_[0.0, np.sort(rng.uniform(size=39_999)), 1.0]
    beta = 1.0 - np.r_[0.0, np.cumsum(slopes * np.diff(alpha))] / (slopes * np.diff(alpha)).sum()
    low, high = mi.PiecewiseLinearTradeOff(alpha, np.maximum(beta, 0.0)).auc_bounds()
    assert low <= 1.0 - np.trapezoid(beta, alpha) <= high < low + 1e-9


def test_rare_rates_of_the_inverse_of_a_mixture() -> None:
    # Near alpha = 1 the mixture is (1 - rho)(1 - alpha) but for a term that is smaller by ten decades.
    turned = mi.MixtureTradeOff(mi.GaussianTradeOff(1.0), 0.25).inverse()
    assert float(turned.tpr_at(1e-200)) == pytest.approx(1e-200 / 0.75, rel=1e-9)


LOGS = np.array([-1e5, -900.0, -700.0, -50.0, -5.0, -1.2, -0.7, -0.3, -1e-3, -1e-9, -1e-30, -1e-200])


def test_the_bounds_exclude_what_is_a_little_off() -> None:
    """The control: a shift that is 1e-12 too large lies outside."""
    result, other = mi.GaussianTradeOff(1.0).enclosure(LOGS), mi.GaussianTradeOff(1.0 + 1e-12).enclosure(LOGS)
    assert (result.log_tpr_high < other.log_tpr_low)[(LOGS > -100.0) & (LOGS < -1.0)].all()


def test_rates_of_a_polygon_in_fractions() -> None:
    """Corners at dyadic rates, the truth on the edges known exactly."""
    curve = mi.SampledTradeOff(
        [2.0**-900, 2.0**-30, 0.5], [1.0, 1.0 - 2.0**-10, 0.125], [2.0**-600, 2.0**-10, 0.875]
    )
    between = 1.5 * 2.0**-901  # half-way to the second corner
    low, high = curve.tpr_bounds(between)
    assert low <= 0.75 * 2.0**-600 <= high
    assert high - low < 2e-11 * high


@pytest.mark.evidence
@pytest.mark.parametrize("kind", [Between, mi.BoundedTradeOff])
@pytest.mark.parametrize(("most", "least"), [(1.05, 0.95), (1.0 + 1e-9, 1.0 - 1e-9)])
@pytest.mark.filterwarnings("ignore:.*both bounds hold")
def test_both_ends_of_a_curve_are_composed(kind: Callable, most: float, least: float) -> None:
    curve = kind(mi.GaussianTradeOff(most), mi.GaussianTradeOff(least))
    alpha = np.array([1e-100, 1e-9, 0.1, 0.5, 0.999])
    for result, copies in ((stochastic_composition([curve, curve]), 1), (mi.compose(curve, copies=3), 3)):
        low, high = result.beta_bounds(alpha)
        for mu in (most, 1.0, least):
            least_end, most_end = mi.GaussianTradeOff(mu * copies**0.5).beta_bounds(alpha)
            assert (low <= most_end).all()
            assert (least_end <= high).all()
        # The width is that of the curve itself, but for what the samples add.
        own = mi.GaussianTradeOff(least * copies**0.5).beta(alpha) - mi.GaussianTradeOff(
            most * copies**0.5
        ).beta(alpha)
        assert (high - low <= 1.2 * own + 1e-3).all()
