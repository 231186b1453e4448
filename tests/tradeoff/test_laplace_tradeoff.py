"""The Laplace curves against integrals of the densities, and their inverses."""

import numpy as np
import pytest
from scipy.stats import laplace

from mipsim.tradeoff import FoldedLaplaceTradeOff, InverseFoldedLaplaceTradeOff, LaplaceTradeOff

ALPHA = np.concatenate([np.geomspace(1e-12, 0.01, 30), np.linspace(0.01, 0.99, 99)])


@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_the_shift_is_the_threshold_test(mu: float) -> None:
    threshold = laplace.isf(ALPHA)  # reject above: the likelihood ratio rises with the output
    curve = LaplaceTradeOff(mu)
    assert np.allclose(curve.beta(ALPHA), laplace.cdf(threshold - mu), rtol=1e-12, atol=0)
    assert np.allclose(curve.tpr_at(ALPHA), laplace.sf(threshold - mu), rtol=1e-12, atol=0)


@pytest.mark.parametrize("mu", [0.1, 1.0, 5.0])
def test_the_fold_is_the_two_sided_test(mu: float) -> None:
    threshold = laplace.isf(0.5 * ALPHA)
    power = laplace.sf(threshold - mu) + laplace.cdf(-threshold - mu)
    assert np.allclose(FoldedLaplaceTradeOff(mu).tpr_at(ALPHA), power, rtol=1e-11, atol=0)
    # The other null rejects where the magnitude is small: FNR of that test at FPR P_mu(|x| <= t) is P_0(|x| > t).
    t = np.geomspace(1e-6, 30.0, 60)
    fpr = np.clip(laplace.cdf(t - mu) - laplace.cdf(-t - mu), 0.0, 1.0)
    got = InverseFoldedLaplaceTradeOff(mu).beta(fpr)
    assert np.allclose(got, np.exp(-t), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_no_other_set_of_magnitudes_does_better(mu: float) -> None:
    # Neyman and Pearson on a fine partition of the magnitude: sort cells by their likelihood ratio.
    t = np.concatenate([np.linspace(0, 40, 400_001), [np.inf]])
    out = np.diff(1.0 - np.exp(-t))
    shifted = np.diff(np.append(laplace.cdf(t[:-1] - mu) - laplace.cdf(-t[:-1] - mu), 1.0))
    order = np.argsort(-shifted / np.maximum(out, 1e-300), kind="stable")
    alpha, tpr = np.cumsum(out[order]), np.cumsum(shifted[order])
    inside = (alpha > 1e-4) & (alpha < 1 - 1e-4)
    assert np.allclose(FoldedLaplaceTradeOff(mu).tpr_at(alpha[inside]), tpr[inside], atol=2e-4)


def test_the_advantage_is_the_total_variation() -> None:
    assert LaplaceTradeOff(1.0).advantage() == pytest.approx(1.0 - np.exp(-0.5), abs=1e-12)
    assert float(LaplaceTradeOff(2.0).delta(2.0)) == pytest.approx(0.0, abs=1e-15)
    # Of a single Laplace release: delta(eps) = 1 - e^((eps - mu) / 2), Balle, Barthe and Gaboardi (2020), theorem 3.
    assert float(LaplaceTradeOff(2.0).delta(0.5)) == pytest.approx(1.0 - np.exp(-0.75), abs=1e-12)


@pytest.mark.parametrize("curve", [LaplaceTradeOff, FoldedLaplaceTradeOff, InverseFoldedLaplaceTradeOff])
@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_mu(curve: type, bad: float) -> None:
    with pytest.raises(ValueError, match="mu is"):
        curve(bad)
