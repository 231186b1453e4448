import numpy as np
import pytest
from scipy.special import ndtr

from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff, PiecewiseLinearTradeOff
from mipsim.tradeoff.sampled import sample

ALPHA = np.concatenate([np.geomspace(1e-12, 0.1, 20), np.linspace(0.1, 1, 20)])


def test_it_is_the_curve_of_a_mixture_of_worlds() -> None:
    """Out N(0, 1); in N(2, 1) with probability rho, else N(0, 1): the ratio rises with the score."""
    rho, t = 0.3, np.linspace(-8, 8, 101)
    tpr = rho * ndtr(2 - t) + (1 - rho) * ndtr(-t)
    mixture = MixtureTradeOff(GaussianTradeOff(2.0), rho)
    assert np.allclose(mixture.tpr_at(ndtr(-t)), tpr, rtol=1e-9)
    assert np.allclose(mixture.beta(ndtr(-t)), 1 - tpr, atol=1e-14)


def test_the_ends_of_rho() -> None:
    inner = GaussianTradeOff(2.0)
    assert np.array_equal(MixtureTradeOff(inner, 1.0).beta(ALPHA), inner.beta(ALPHA))
    low, high = MixtureTradeOff(inner, 0.0).beta_bounds(ALPHA)
    assert (low <= 1 - ALPHA).all()
    assert (high >= 1 - ALPHA).all()
    assert (high - low < 1e-14).all()
    assert MixtureTradeOff(inner, 0.0).advantage() < 1e-14


def test_mixtures_compose() -> None:
    inner = GaussianTradeOff(2.0)
    twice = MixtureTradeOff(MixtureTradeOff(inner, 0.5), 0.4)
    assert np.allclose(twice.tpr_at(ALPHA), MixtureTradeOff(inner, 0.2).tpr_at(ALPHA), rtol=1e-13)


def test_the_inverse_where_the_inner_curve_ends_at_zero_early() -> None:
    """f is 0 from the FPR 1/2 on: there the mixture is the line (1 - rho)(1 - alpha), and its inverse 1 - x / (1 - rho)."""
    turned = MixtureTradeOff(PiecewiseLinearTradeOff([0.0, 0.5, 1.0], [0.8, 0.0, 0.0]), 0.3).inverse()
    x = np.array([0.0, 1e-9, 0.1, 0.35])  # the mixture is 0.35 at 1/2
    assert np.allclose(turned.beta(x), 1 - x / 0.7, rtol=1e-12)
    assert np.allclose(turned.tpr_at(x), x / 0.7, rtol=1e-12)
    assert np.allclose(turned.beta(0.3 * 0.4 + 0.7 * 0.75), 0.25)  # the mixture's FNR at 1/4


def test_samples_of_a_mixture_whose_inner_curve_falls_to_zero_in_float64() -> None:
    """At a shift of 50 no FNR is left at FPRs above 1e-300: the mixture is the line (1 - rho)(1 - alpha)."""
    chords = sample(MixtureTradeOff(GaussianTradeOff(50.0), 0.3), 64)
    assert np.allclose(chords.beta([0.1, 0.5, 1.0]), [0.63, 0.35, 0.0], atol=1e-15)


@pytest.mark.parametrize("mu", [1.0, 36.0, 37.3, 38.0, 50.0])
@pytest.mark.parametrize("rho", [0.01, 0.5])
def test_the_inverse_of_a_mixture_of_a_large_shift(mu: float, rho: float) -> None:
    """Phi(w) is the TNR of the FPR that is sought: its FNR of Phi(w - mu) may be less than float64 holds."""
    w = np.array([-30.0, -5.0, -0.3, 0.0, 0.5, 2.0])
    x = rho * ndtr(w - mu) + (1.0 - rho) * ndtr(w)
    turned = MixtureTradeOff(GaussianTradeOff(mu), rho).inverse()
    assert np.allclose(turned.tpr_at(x), ndtr(w), rtol=1e-11, atol=0.0)
    assert np.allclose(turned.beta(x), ndtr(-w), rtol=1e-9, atol=0.0)
