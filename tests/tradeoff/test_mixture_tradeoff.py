import numpy as np
import pytest
from scipy.special import ndtr

from mipsim.tradeoff import GaussianTradeOff, MixtureTradeOff
from mipsim.tradeoff.sampled import sample


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
