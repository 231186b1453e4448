"""Inverse, symmetrised, convexified, sub-sampled: against closed forms, duality, and by properties."""

import mpmath
import numpy as np
import pytest
from scipy.special import ndtr, ndtri

import mipsim as mi
from mipsim.tradeoff import (
    AbstractTradeOff,
    CurveBounds,
    FoldedLaplaceTradeOff,
    GaussianTradeOff,
    LaplaceTradeOff,
    MixtureTradeOff,
    PrivacyLossDistribution,
    SampledTradeOff,
    bounds_from_rates,
)


def test_rare_rates_of_the_inverse_of_a_mixture() -> None:
    # Near alpha = 1 the mixture is (1 - rho)(1 - alpha) but for a term that is smaller by ten decades.
    turned = MixtureTradeOff(GaussianTradeOff(1.0), 0.25).inverse()
    assert float(turned.tpr_at(1e-200)) == pytest.approx(1e-200 / 0.75, rel=1e-9)


@pytest.mark.evidence
@pytest.mark.parametrize(
    "curve",
    [
        FoldedLaplaceTradeOff(1.0),
        MixtureTradeOff(GaussianTradeOff(2.0), 0.1),
        MixtureTradeOff(LaplaceTradeOff(1.0), 0.5),
    ],
    ids=["folded", "gaussian", "laplace"],
)
def test_it_is_the_largest_by_duality(curve: AbstractTradeOff) -> None:
    """The largest convex function below f and f^-1 is the supremum over all slopes of the lower of both tangents.

    This route knows nothing of hulls: conjugates of both curves on a fine grid of slopes.
    """
    alpha = np.linspace(0.005, 0.995, 67)
    fine = ndtr(np.linspace(-8, 8, 20_001))
    slopes = np.exp(np.linspace(-6, 6, 4001))
    straight = (
        0.5 * np.exp([1.0, -1.0]) + 0.5
    )  # of the Laplace mixture; off the grid they would cost first order
    slopes = np.concatenate([slopes, straight, 1.0 / straight])
    lines = []
    for f in (curve, curve.inverse()):
        beta = f.beta(fine)
        lines.append(np.array([(beta + x * fine).min() for x in slopes]))
    lowest = np.minimum(*lines)
    dual = (lowest[:, None] - slopes[:, None] * alpha).max(axis=0)
    assert np.allclose(curve.symmetrized().beta(alpha), dual, atol=3e-6)  # slopes 0.3 % apart: second order


def test_sub_sampling_has_the_closed_form_of_dong_roth_and_su() -> None:
    # C_p(f) is f_p up to the point x of slope -1, a line of slope -1 to (f_p(x), x), and f_p^-1 after it.
    p, mu = 0.1, 1.0
    curve, inner = GaussianTradeOff(mu).subsampled(p), MixtureTradeOff(GaussianTradeOff(mu), p)
    x = ndtr(-mu / 2)  # where G_mu, and so f_p, has slope -1
    top = float(inner.beta(x))
    alpha = np.linspace(0.001, 0.999, 333)
    expected = np.where(
        alpha <= x, inner.beta(alpha), np.where(alpha <= top, x + top - alpha, inner.inverse().beta(alpha))
    )
    assert np.allclose(curve.beta(alpha), expected, atol=1e-9)
    # Sub-sampling amplifies: log(1 + p (e^eps - 1)) and p delta.
    eps = np.array([0.5, 1.0, 2.0])
    assert np.allclose(
        curve.delta(np.log1p(p * np.expm1(eps))), p * GaussianTradeOff(mu).delta(eps), atol=1e-12
    )


class OneSided(AbstractTradeOff):
    """An attack that rejects below the threshold, against N(0, 1) and N(0, 4): not its own best test."""

    def enclosure(self, log_fpr: np.ndarray) -> CurveBounds:
        return bounds_from_rates(lambda fpr: (ndtr(-ndtri(fpr) / 2.0), ndtr(ndtri(fpr) / 2.0)), log_fpr)


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
    assert GaussianTradeOff(1.0).convexified() == GaussianTradeOff(1.0)


def test_the_samples_enclose_the_curve() -> None:
    claim, alpha = GaussianTradeOff(1.0), np.linspace(0.05, 0.95, 19)
    chords = SampledTradeOff(alpha, claim.beta(alpha))
    fine = np.linspace(0, 1, 1001)
    assert (chords.beta_bounds(fine)[1] >= claim.beta(fine) - 1e-15).all()
    assert (
        PrivacyLossDistribution.below_polygon(chords).tradeoff().beta(fine) <= claim.beta(fine) + 1e-15
    ).all()
    with pytest.raises(ValueError, match="must be 1 - beta"):
        SampledTradeOff([0.5], [0.2], [0.7])


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
